"""Connections to a server: the tables are made once, what went wrong is said, and a lost server is survived."""

import os
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import parse_qs

import pytest
from hashing import Hashing
from postgres_server import as_role, name_of
from programs import in_fork

from jupyter_memory import Interrupted, MemoryStore, StoreClosed, StoreError, StoreLocked, StoreTooNew
from jupyter_memory.storage import open_storage
from jupyter_memory.text import database_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.fixture
def storage(postgres_address):
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(open_storage(postgres_address, busy_seconds=2)))


@pytest.fixture
def database(storage):
    return storage().database


def refused(address, match):
    with pytest.raises(StoreError, match=match) as raised:
        open_storage(address, busy_seconds=2)
    return str(raised.value)


def test_the_tables_are_made_once_however_many_open_it_first(storage):
    """Of several that open an empty database at once, one makes the tables; closed, each says how to open it again."""
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: storage(), range(4)))
    assert sorted(one.created for one in found) == [False, False, False, True]
    found[0].close()
    with pytest.raises(StoreClosed, match="open_store"), found[0].database.read():
        pass


def test_a_version_that_is_refused(storage, database, postgres_address):
    """A store of a newer major version, or from before the first release, is not touched; a newer minor one is used."""

    def wrote(version):
        database.change(lambda session: session.execute("delete from schema_version"))
        database.change(lambda session: session.execute(f"insert into schema_version values ({version})"))

    with database.read() as session:
        newest = session.value("select max(version) from schema_version")
    wrote(newest + 1)
    storage()
    wrote(newest + 1000)
    with pytest.raises(StoreTooNew, match="pip install --upgrade"):
        storage()
    wrote(1004)
    refused(postgres_address, r"before 0\.1\.0.*export FOLDER.*drop schema jupyter_memory cascade.*import FOLDER")


def test_a_database_without_pgvector_says_what_to_run(postgres_address, postgres_server):
    """Whoever may not add the extension is told who can; one that is too old is named. Nothing is made before."""
    name = name_of(postgres_address)
    postgres_server.execute("drop role if exists owner_without_vectors; create role owner_without_vectors login")
    postgres_server.execute(f"alter database {name} owner to owner_without_vectors")
    theirs = as_role(postgres_address, "owner_without_vectors")
    refused(theirs, r"lacks the extension pgvector.* run in this database: create extension vector")
    postgres_server.execute("create extension vector", name)
    postgres_server.execute("update pg_extension set extversion = '0.6.2' where extname = 'vector'", name)
    refused(theirs, r"has pgvector 0\.6\.2.* alter extension vector update")
    assert postgres_server.execute("select to_regnamespace('jupyter_memory')", name) == [(None,)]
    postgres_server.execute("update pg_extension set extversion = '0.10.1' where extname = 'vector'", name)
    open_storage(theirs, busy_seconds=2).close()


@pytest.fixture
def asked_for_a_password(postgres_address, postgres_server, monkeypatch):
    for variable in ("PGPASSWORD", "PGPASSFILE", "PGSERVICE"):
        monkeypatch.delenv(variable, raising=False)
    rules = postgres_server.raw.pgdata / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all asked scram-sha-256\n{before}")
    postgres_server.execute("create role asked login superuser password 'right-λ'")
    postgres_server.execute("select pg_reload_conf()")
    yield as_role(postgres_address, "asked")
    postgres_server.drop(postgres_address)
    postgres_server.execute("drop role asked")
    rules.write_text(before)
    postgres_server.execute("select pg_reload_conf()")


def test_a_password_that_is_missing_or_wrong_is_said(asked_for_a_password, monkeypatch):
    """The error says where it belongs, and repeats neither it nor the words of the server; the right one opens."""
    refused(asked_for_a_password, r"asks for a password.*\.pgpass")
    monkeypatch.setenv("PGPASSWORD", "wrong-λ")
    said = refused(asked_for_a_password, "may be wrong")
    assert "wrong-λ" not in said and "FATAL" not in said
    monkeypatch.setenv("PGPASSWORD", "right-λ")
    open_storage(asked_for_a_password, busy_seconds=2).close()


def test_a_database_that_is_not_utf8_is_refused(postgres_address, postgres_server):
    """The error says which encoding it has and how to make one that can hold every text; no table is made."""
    postgres_server.execute("create database latin encoding 'LATIN1' locale 'C' template template0")
    address = replace(postgres_address, url=postgres_address.url.replace(f"/{name_of(postgres_address)}?", "/latin?"))
    refused(address, r"LATIN1.*encoding 'UTF8'")
    assert postgres_server.execute("select 1 from pg_namespace where nspname = 'jupyter_memory'", "latin") == []
    postgres_server.drop(address)


def test_what_is_missing_is_said_without_the_servers_words(postgres_address, postgres_server):
    """A database, a server, or a connection for this role: the error names the address and what to check."""
    gone = replace(postgres_address, url=postgres_address.url.replace("/test_", "/none_"))
    for address in (gone, database_address("postgresql://127.0.0.1:1/team")):
        refused(address, "does not answer, or has no such database")
    postgres_server.execute("create role limited login connection limit 0")
    refused(as_role(postgres_address, "limited"), "no connection left for this user")
    postgres_server.execute("drop role limited")


def test_a_connection_that_the_server_closed_is_replaced(database, postgres_server, postgres_address, caplog):
    """Reading and writing go on after the server ended every connection; a change that failed is undone, said once."""
    cut = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name_of(postgres_address)}'"
    postgres_server.execute(cut)
    with database.read() as session:
        assert session.value("select 1") == 1

    def interrupted(session, cut_off):
        session.execute("insert into done values ('', 'half')")
        if not cut_off:
            raise ZeroDivisionError
        postgres_server.execute(cut)
        session.execute("select 1")

    with pytest.raises(ZeroDivisionError):
        database.change(lambda session: interrupted(session, False))
    with pytest.raises(StoreClosed, match="was not stored"):
        database.change(lambda session: interrupted(session, True))
    assert database.change(lambda session: session.value("select count(*) from done")) == 0
    assert not [record for record in caplog.records if record.name == "psycopg"]


def test_writers_that_wait_for_each_other_both_finish(database):
    """Two changes that take the same rows in opposite order deadlock; one is run again, and both are stored."""
    barrier, met = threading.Barrier(2), threading.local()
    database.change(lambda session: session.execute("insert into totals values ('', 1, 0, 0, 0), ('', 2, 0, 0, 0)"))

    def add(order):
        def work(session):
            for place, number in enumerate(order):
                session.execute("update totals set words = words + 1 where number = :number", number=number)
                if place == 0 and not getattr(met, "once", False):
                    met.once = True
                    barrier.wait(10)

        database.change(work)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add, [(1, 2), (2, 1)]))
    with database.read() as session:
        assert [row[0] for row in session.rows("select words from totals order by number")] == [2, 2]


def test_a_writer_that_waits_too_long_is_told(database):
    database.change(lambda session: session.execute("insert into totals values ('', 1, 0, 0, 0)"))

    def hold(session):
        session.execute("update totals set words = 1")
        with pytest.raises(StoreLocked, match="Others are writing"):
            database.change(lambda other: other.execute("update totals set words = 2"), at_once=0.05)

    database.change(hold)


@pytest.mark.parametrize("on_its_way", [False, True])
def test_a_statement_is_stopped_from_another_thread(storage, on_its_way):
    """In the middle of it, and where the server hears of the stop before the statement; the next read is not."""
    store, begun = storage(), threading.Event()

    class Slow(psycopg.Cursor):
        def execute(self, *arguments, **options):
            begun.set()
            sleep(0.3 * on_its_way)
            return super().execute(*arguments, **options)

    def stop(thread):
        begun.wait(10)
        return store.interrupt(thread)

    with ThreadPoolExecutor(1) as threads:
        stopped = threads.submit(stop, threading.get_ident())
        with pytest.raises(Interrupted), store.database.read() as session:
            session.connection.cursor_factory = Slow
            session.execute("select pg_sleep(20)")
    assert stopped.result() and not store.interrupt(threading.get_ident())
    with store.database.read() as session:
        assert session.value("select 1") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_connections_of_its_own(database):
    def process():
        with database.read() as session:
            return session.value("select pg_backend_pid()")

    own = process()
    assert isinstance(theirs := in_fork(process), int) and theirs != own == process()


def test_settings_of_a_role_or_of_the_environment_change_no_text(
    storage, postgres_address, postgres_server, monkeypatch
):
    """Texts come back as they went, whatever the server, the role or a variable says; it makes its own settings."""
    # A write looks rows up by their keys in tables that were never counted: else each memory reads all those before it.
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    for setting in ("standard_conforming_strings = off", "client_encoding = 'SQL_ASCII'"):
        postgres_server.execute(f"alter database {name_of(postgres_address)} set {setting}")
    database, text = storage().database, "λ \\' \\n 日本"
    database.change(lambda session: session.execute("insert into done values ('', :text)", text=text))
    assert database.change(lambda session: session.value("show enable_seqscan")) == "off"
    wanted = {"standard_conforming_strings": "on", "client_encoding": "UTF8", "enable_seqscan": "on"}
    with database.read() as session:
        assert session.value("select what from done") == text
        assert {name: session.value(f"show {name}") for name in wanted} == wanted
        # Without a pooler they are made once, and statements are prepared.
        assert session.value("select current_setting('search_path')") == "jupyter_memory, public"
        assert session.connection.prepare_threshold == 5
        assert session.value("select source from pg_settings where name = 'work_mem'") == "session"


def test_what_the_server_stops_is_no_search_that_was_stopped(storage, postgres_address, postgres_server):
    """A statement that takes longer than the server allows says so, reading or writing; the store can still be used."""
    postgres_server.execute(f"alter database {name_of(postgres_address)} set statement_timeout = '500ms'")
    database = storage().database
    with pytest.raises(StoreError, match="statement_timeout"), database.read() as session:
        session.execute("select pg_sleep(20)")
    with pytest.raises(StoreError, match=r"statement_timeout.*Nothing was changed"):
        database.change(lambda session: session.execute("select pg_sleep(20)"))
    assert database.change(lambda session: session.value("select 1")) == 1


@pytest.mark.parametrize(
    ("code", "error", "match"), [("54000", StoreError, "SQLSTATE 54000"), ("53300", StoreLocked, "no connection left")]
)
def test_a_refused_statement_is_no_lost_connection(database, code, error, match):
    """What the server refuses for its limits has its code in the error; a full server says that it is full."""
    raising = f"do $$ begin raise exception using errcode = '{code}'; end $$"
    with pytest.raises(error, match=match):
        database.change(lambda session: session.execute(raising))
    assert database.change(lambda session: session.value("select 1")) == 1


@pytest.fixture
def pooled(postgres_address):
    """The address of a database behind PgBouncer, which shares two server processes among all transactions."""
    if PROGRAM is None:
        pytest.skip("PgBouncer is not installed: apt install pgbouncer")
    folder = Path(tempfile.mkdtemp(prefix="pooler-"))
    folder.chmod(0o777)
    url, _, options = postgres_address.url.partition("?")
    [server] = parse_qs(options)["host"]
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={server}\n[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {folder}\n"
        f"auth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = 2\n"
    )
    # It refuses to run as root, and the folder of the server's socket is its own.
    user = {"user": Path(server).stat().st_uid} if os.geteuid() == 0 else {}
    with subprocess.Popen(
        [PROGRAM, folder / "pgbouncer.ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user
    ) as running:
        until = monotonic() + 20
        while not (folder / ".s.PGSQL.6432").exists() and monotonic() < until:
            sleep(0.05)
        yield database_address(f"{url}?host={folder}&port=6432")
        running.kill()
    shutil.rmtree(folder)


def test_many_search_and_write_behind_a_pooler(pooled, postgres_address):
    """The tables are made, and four programs write and search through two processes of the server."""

    def work(name):
        with MemoryStore(pooled, Hashing()) as store:
            for number in range(8):
                store.add(f"the {name} note {number} on prices")
                assert store.hits("prices", limit=3).hits

    with MemoryStore(pooled, Hashing()) as first:
        first.add("a note on prices")
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, ("first", "second", "third", "fourth")))
        assert first.count() == 33
    # Nothing stays set for other programs.
    with psycopg.connect(pooled.url, autocommit=True, prepare_threshold=None) as other:
        assert other.execute("show search_path").fetchone() == ('"$user", public',)
        assert other.execute("select count(*) from pg_prepared_statements").fetchone() == (0,)
    with MemoryStore(postgres_address, Hashing()) as store:
        assert store.count() == 33
