"""Connections to a server: the tables are made once, what went wrong is said, and a lost server is survived."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from jupyter_memory import Interrupted, StoreClosed, StoreError, StoreLocked, StoreTooNew
from jupyter_memory.text import database_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from jupyter_memory.storage.postgres.connection.database import Database
from jupyter_memory.storage.postgres.connection.migrations import migrations


@pytest.fixture
def database(postgres_address):
    """Open the store on the server, with a short patience."""
    opened = []

    def open_one(**options):
        opened.append(Database(postgres_address, **{"busy_seconds": 2, **options}))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_the_tables_are_made_once_however_many_open_it_first(postgres_address):
    """Of several that open an empty database at once, one makes the tables; later ones find them."""
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: Database(postgres_address), range(4)))
    assert sorted(one.created for one in found) == [False, False, False, True]
    for one in found:
        one.close()


def test_a_newer_major_version_is_refused(database):
    """A store that a newer major version wrote is not touched; a newer minor one is used."""
    store, newest = database(), migrations()[-1].version
    store.change(lambda session: session.execute(f"insert into schema_version values ({newest + 1})"))
    database()
    store.change(lambda session: session.execute(f"insert into schema_version values ({newest + 1000})"))
    with pytest.raises(StoreTooNew, match="pip install --upgrade"):
        database()


def test_what_was_never_released_is_refused(database):
    """A store from before the first release is not touched, and the error says how to go on."""
    store = database()
    store.change(lambda session: session.execute("update schema_version set version = 1004"))
    with pytest.raises(
        StoreError, match=r"before 0\.1\.0.*export FOLDER.*drop schema jupyter_memory cascade.*import FOLDER"
    ):
        database()


def test_a_missing_database_or_server_is_said_without_the_servers_words(postgres_address):
    """The error names the address and what to check."""
    gone = replace(postgres_address, url=postgres_address.url.replace("/test_", "/none_"))
    for address in (gone, database_address("postgresql://127.0.0.1:1/team")):
        with pytest.raises(StoreError, match="does not answer, or has no such database"):
            Database(address)


def test_a_database_without_pgvector_says_what_to_run(postgres_address, postgres_server):
    """Whoever may not add the extension is told who can; one that is too old is named. Nothing is made before."""
    name = postgres_address.url.partition("?")[0].rpartition("/")[2]
    postgres_server.execute("drop role if exists owner_without_vectors; create role owner_without_vectors login")
    postgres_server.execute(f"alter database {name} owner to owner_without_vectors")
    theirs = database_address(postgres_address.url.replace("postgres@", "owner_without_vectors@"))
    with pytest.raises(
        StoreError, match=r"lacks the extension pgvector.* run in this database: create extension vector"
    ):
        Database(theirs)
    postgres_server.execute("create extension vector", name)
    postgres_server.execute("update pg_extension set extversion = '0.6.2' where extname = 'vector'", name)
    with pytest.raises(StoreError, match=r"has pgvector 0\.6\.2.* alter extension vector update"):
        Database(theirs)
    assert postgres_server.execute("select to_regnamespace('jupyter_memory')", name) == [(None,)]
    postgres_server.execute("update pg_extension set extversion = '0.10.1' where extname = 'vector'", name)
    Database(theirs).close()


def test_a_failed_change_leaves_nothing(database):
    """What a change wrote before it failed is undone."""
    store = database()

    def fail(session):
        session.execute("insert into done values ('', 'half')")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.change(fail)
    with store.read() as session:
        assert session.value("select count(*) from done") == 0


def test_a_connection_that_the_server_closed_is_replaced(database, postgres_server):
    """Reading and writing go on after the server ended every connection; a change that was cut says so."""
    store = database()
    with store.read() as session:
        name = session.value("select current_database()")
    cut = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
    postgres_server.execute(cut)
    with store.read() as session:
        assert session.value("select 1") == 1

    def interrupted(session):
        session.execute("insert into done values ('', 'half')")
        postgres_server.execute(cut)
        session.execute("select 1")

    with pytest.raises(StoreClosed, match="was not stored"):
        store.change(interrupted)
    assert store.change(lambda session: session.value("select count(*) from done")) == 0


def test_writers_that_wait_for_each_other_both_finish(database):
    """Two changes that take the same rows in opposite order deadlock; one is run again, and both are stored."""
    store, barrier = database(), threading.Barrier(2)
    store.change(lambda session: session.execute("insert into totals values ('', 1, 0, 0, 0), ('', 2, 0, 0, 0)"))
    met = threading.local()

    def add(order):
        def work(session):
            for place, number in enumerate(order):
                session.execute("update totals set words = words + 1 where number = %(number)s", {"number": number})
                if place == 0 and not getattr(met, "once", False):
                    met.once = True
                    barrier.wait(10)

        store.change(work)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add, [(1, 2), (2, 1)]))
    with store.read() as session:
        assert [row[0] for row in session.rows("select words from totals order by number")] == [2, 2]


def test_a_writer_that_waits_too_long_is_told(database):
    """Rows that another transaction holds make a change give up after its patience."""
    store = database()
    store.change(lambda session: session.execute("insert into totals values ('', 1, 0, 0, 0)"))

    def hold(session):
        session.execute("update totals set words = 1")
        with pytest.raises(StoreLocked, match="Others are writing"):
            store.change(lambda other: other.execute("update totals set words = 2"), patience=0.05)

    store.change(hold)


def test_a_running_statement_is_stopped_from_another_thread(database):
    """A thread that reads is stopped in the middle of a statement; the next read is not."""
    store, begun = database(), threading.Event()

    def stop(thread):
        begun.wait(10)
        return store.interrupts.stop(thread)

    with ThreadPoolExecutor(1) as threads:
        stopped = threads.submit(stop, threading.get_ident())
        with pytest.raises(Interrupted), store.read() as session:
            begun.set()
            session.execute("select pg_sleep(20)")
    assert stopped.result() and not store.interrupts.stop(threading.get_ident())
    with store.read() as session:
        assert session.value("select 1") == 1


def test_a_closed_store_says_how_to_open_it(database):
    """Whatever is asked of it."""
    store = database()
    store.close()
    with pytest.raises(StoreClosed, match="open_store"), store.read():
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_connections_of_its_own(database):
    """It reads, and the parent's connection still works afterwards."""
    store = database()
    with store.read() as session:
        own = session.value("select pg_backend_pid()")
    reading, writing = os.pipe()
    if not (child := os.fork()):
        with store.read() as session:
            os.write(writing, str(session.value("select pg_backend_pid()")).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(reading, 100)) != own
    with store.read() as session:
        assert session.value("select pg_backend_pid()") == own


@pytest.fixture
def asked_for_a_password(postgres_address, postgres_server, monkeypatch):
    """The address of the same database for a role that has to give a password."""
    for variable in ("PGPASSWORD", "PGPASSFILE", "PGSERVICE"):
        monkeypatch.delenv(variable, raising=False)
    rules = postgres_server.raw.pgdata / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all asked scram-sha-256\n{before}")
    postgres_server.execute("create role asked login superuser password 'right-λ'")
    postgres_server.execute("select pg_reload_conf()")
    yield replace(postgres_address, url=postgres_address.url.replace("postgres@", "asked@"))
    postgres_server.drop(postgres_address)
    postgres_server.execute("drop role asked")
    rules.write_text(before)
    postgres_server.execute("select pg_reload_conf()")


def test_a_password_that_is_missing_or_wrong_is_said(asked_for_a_password, monkeypatch):
    """The error says where it belongs, and repeats neither it nor the words of the server; the right one opens."""
    with pytest.raises(StoreError, match=r"asks for a password.*\.pgpass"):
        Database(asked_for_a_password)
    monkeypatch.setenv("PGPASSWORD", "wrong-λ")
    with pytest.raises(StoreError, match="may be wrong") as raised:
        Database(asked_for_a_password)
    assert "wrong-λ" not in str(raised.value) and "FATAL" not in str(raised.value)
    monkeypatch.setenv("PGPASSWORD", "right-λ")
    Database(asked_for_a_password).close()


def test_a_database_that_is_not_utf8_is_refused(postgres_address, postgres_server):
    """The error says which encoding it has and how to make one that can hold every text; no table is made."""
    postgres_server.execute("create database latin encoding 'LATIN1' locale 'C' template template0")
    name = postgres_address.url.rpartition("?")[0].rpartition("/")[2]
    address = replace(postgres_address, url=postgres_address.url.replace(f"/{name}?", "/latin?"))
    with pytest.raises(StoreError, match=r"LATIN1.*encoding 'UTF8'"):
        Database(address)
    assert postgres_server.execute("select 1 from pg_namespace where nspname = 'jupyter_memory'", "latin") == []
    postgres_server.drop(address)


def test_settings_of_a_role_or_of_the_environment_change_no_text(
    database, postgres_address, postgres_server, monkeypatch
):
    """Texts come back as they went, whatever the server, the role or a variable says of encodings and backslashes."""
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    name = postgres_address.url.rpartition("?")[0].rpartition("/")[2]
    for setting in ("standard_conforming_strings = off", "client_encoding = 'SQL_ASCII'"):
        postgres_server.execute(f"alter database {name} set {setting}")
    store, text = database(), "λ \\' \\n 日本"
    store.change(lambda session: session.execute("insert into done values ('', %(text)s)", {"text": text}))
    with store.read() as session:
        assert session.value("select what from done") == text
        assert session.value("show standard_conforming_strings") == "on"
        assert session.value("show client_encoding") == "UTF8"


def test_what_the_server_stops_is_no_search_that_was_stopped(database, postgres_address, postgres_server):
    """A statement that takes longer than the server allows says so, reading or writing; the store can still be used."""
    name = postgres_address.url.rpartition("?")[0].rpartition("/")[2]
    postgres_server.execute(f"alter database {name} set statement_timeout = '500ms'")
    store = database()
    with pytest.raises(StoreError, match="statement_timeout"), store.read() as session:
        session.execute("select pg_sleep(20)")
    with pytest.raises(StoreError, match=r"statement_timeout.*Nothing was changed"):
        store.change(lambda session: session.execute("select pg_sleep(20)"))
    assert store.change(lambda session: session.value("select 1")) == 1


def test_a_refused_statement_is_no_lost_connection(database):
    """What the server refuses for its limits has its code in the error; a full server says that it is full."""
    store = database()

    def refused(code):
        return lambda session: session.execute(f"do $$ begin raise exception using errcode = '{code}'; end $$")

    with pytest.raises(StoreError, match="SQLSTATE 54000"):
        store.change(refused("54000"))
    with pytest.raises(StoreLocked, match="no connection left"):
        store.change(refused("53300"))
    assert store.change(lambda session: session.value("select 1")) == 1


def test_a_role_without_a_connection_left_is_told(postgres_address, postgres_server):
    """The error names the limit among what to check."""
    postgres_server.execute("create role limited login connection limit 0")
    address = replace(postgres_address, url=postgres_address.url.replace("postgres@", "limited@"))
    with pytest.raises(StoreError, match="no connection left for this user"):
        Database(address)
    postgres_server.execute("drop role limited")
