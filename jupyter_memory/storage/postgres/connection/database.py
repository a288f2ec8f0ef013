"""A store's PostgreSQL database: transactions that read one state, and changes that happen whole or not at all."""

from __future__ import annotations

import random
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import sleep
from typing import TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from jupyter_memory.errors import Interrupted, StoreReadOnly
from jupyter_memory.storage.postgres.connection.errors import (
    PASSING,
    another_encoding,
    not_connected,
    translate_errors,
    unsure,
)
from jupyter_memory.storage.postgres.connection.interrupts import Interrupts
from jupyter_memory.storage.postgres.connection.migrations import SCHEMA, Migration, migrate, migrations
from jupyter_memory.storage.postgres.connection.pool import Pool
from jupyter_memory.storage.postgres.connection.session import Session, Totals
from jupyter_memory.text.paths import DatabaseAddress

Result = TypeVar("Result")

# Connections of one process: a search takes one, and a write another.
MOST_CONNECTIONS = 8
BUSY_SECONDS = 30.0
# How often a change is run that others were in the way of, and for how many seconds at most it pauses before the second
# time; before each later one longer.
_ATTEMPTS, _PAUSE = 10, 0.05
# Compiling a statement takes longer than these statements run; what a search reads is in memory, so an index is not
# four times as expensive as a scan. An HNSW index follows 1,000 candidates, the most that it can: of 100,000 real
# chunks, 400 of them held 97 % of the nearest 20, and 1,000 hold 99 %. It goes on where filters leave too few.
_SETTINGS = {
    "search_path": f"{SCHEMA}, public",
    "jit": "off",
    "random_page_cost": "1.1",
    # The chunks that hold a frequent word of a large store do not fit into the 4 MB that a server allows at first.
    "work_mem": "64MB",
    "hnsw.ef_search": "1000",
    "hnsw.iterative_scan": "strict_order",
    "client_min_messages": "warning",
    "standard_conforming_strings": "on",
    "datestyle": "iso",
    "timezone": "utc",
}


def _settings(*, local: bool) -> str:
    """Return a statement that makes the settings, for a connection or, if ``local``, for a transaction."""
    made = (f"set_config('{name}', '{value}', {'true' if local else 'false'})" for name, value in _SETTINGS.items())
    return f"select {', '.join(made)}"


class Database:
    """One store on a server. Safe to share between threads; other processes may use it at the same time.

    With a ``space``, nothing but that space is seen.
    """

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        space: str = "",
        busy_seconds: float = BUSY_SECONDS,
        most: int = MOST_CONNECTIONS,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        self.address = address
        self.space = space
        self.interrupts = Interrupts()
        self._busy = round(busy_seconds * 1000)
        self._pool = Pool(self._connect, most, busy_seconds)
        self._current = threading.local()
        # Connections to a program such as PgBouncer, behind which each transaction may have another server process.
        self._shared: weakref.WeakSet[psycopg.Connection] = weakref.WeakSet()
        with translate_errors(address), self._pool.connection(lambda _: None) as (connection, _):
            self.created = migrate(connection, address, tuple(steps) if steps is not None else migrations())
            self.read_only = not _may_write(connection)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Read within one state: whatever others write meanwhile is not seen. A read within another one is part of it.

        Raises:
            Interrupted: another thread stopped it, through ``interrupts``.
        """
        outer: Session | None = getattr(self._current, "session", None)
        if outer is not None:
            yield outer
            return
        with (
            translate_errors(self.address),
            self._pool.connection(self._begin_reading) as (connection, held),
            self.interrupts.open_to(connection) as reading,
        ):
            session = Session(connection, self.space, held, reading.check)
            self._current.session = session
            try:
                yield session
            except psycopg.errors.QueryCanceled:
                if reading.stopped:
                    raise Interrupted("The search was stopped before it finished. Nothing was changed.") from None
                raise
            finally:
                self._current.session = None
                # A request to stop may reach the server late, and must not stop what comes next there.
                _end(connection, closing=reading.stopped)

    def change(
        self, work: Callable[[Session], Result], *, patience: float | None = None, durable: bool = True
    ) -> Result:
        """Run what changes the store in one transaction, again if others were in its way, and return its result.

        It waits up to ``patience`` seconds for the rows that others are changing. What is not ``durable`` may be lost
        when the server fails in the next second.

        Raises:
            StoreReadOnly: the role may not write.
            StoreLocked: others were in the way for too long.
        """
        if self.read_only:
            raise StoreReadOnly(
                f"Your role may only read the store at {self.address}, so nothing can be stored or forgotten there."
            )
        busy = self._busy if patience is None else round(patience * 1000)
        with translate_errors(self.address):
            for attempt in range(_ATTEMPTS):
                try:
                    return self._attempt(work, max(busy, 1), durable)
                except PASSING:
                    if attempt == _ATTEMPTS - 1:
                        raise
                    sleep(random.uniform(0, _PAUSE * (attempt + 1)))  # noqa: S311  two writers that met should not meet again
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        self._pool.close()

    def _attempt(self, work: Callable[[Session], Result], busy: int, durable: bool) -> Result:
        def begin(connection: psycopg.Connection) -> dict[str, Totals]:
            return self._begin_writing(connection, busy, durable)

        with self._pool.connection(begin) as (connection, held):
            try:
                result = work(Session(connection, self.space, held))
                try:
                    connection.execute("commit")
                except psycopg.OperationalError as error:
                    if connection.closed:
                        raise unsure(self.address) from error
                    raise
            finally:
                _end(connection)
            return result

    def _begin_reading(self, connection: psycopg.Connection) -> dict[str, Totals]:
        with connection.pipeline():
            connection.execute("begin isolation level repeatable read read only")
            self._set_again(connection)
            return self._held(connection)

    def _begin_writing(self, connection: psycopg.Connection, busy: int, durable: bool) -> dict[str, Totals]:
        # A write looks rows up by their keys. Until the server has counted the rows of a new store, it expects none and
        # reads whole tables instead, also to check a foreign key: a plan that it keeps while they grow.
        with connection.pipeline():
            connection.execute("begin isolation level read committed read write")
            self._set_again(connection)
            connection.execute(
                "select set_config('lock_timeout', %s, true), set_config('synchronous_commit', %s, true), "
                "set_config('enable_seqscan', 'off', true)",
                (str(busy), "on" if durable else "off"),
            )
            return self._held(connection)

    def _held(self, connection: psycopg.Connection) -> dict[str, Totals]:
        """Return what each space holds that statements are about: that of the store, or all that were written into."""
        rows = connection.execute(
            "select space, sum(changes)::bigint, sum(chunks)::bigint, sum(words)::bigint from totals "
            "where %(space)s in ('', space) group by space",
            {"space": self.space},
        )
        held = {space: Totals(*of_it) for space, *of_it in rows}
        return held or ({self.space: Totals(0, 0, 0)} if self.space else {})

    def _connect(self) -> psycopg.Connection:
        try:
            connection = psycopg.connect(
                self.address.url,
                autocommit=True,
                connect_timeout=10,
                fallback_application_name="jupyter-memory",
                client_encoding="utf8",
            )
        except psycopg.OperationalError as error:
            raise not_connected(self.address, error) from None
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.close()
            raise another_encoding(self.address, encoding or "unknown")
        row = connection.execute("select pg_backend_pid()").fetchone()
        if row is not None and row[0] == connection.info.backend_pid:
            connection.execute(_settings(local=False).encode())
        else:
            self._shared.add(connection)
            connection.prepare_threshold = None
        return connection

    def _set_again(self, connection: psycopg.Connection) -> None:
        """Make the settings for a transaction whose server process others have used."""
        if connection in self._shared:
            connection.execute(_settings(local=True).encode())


def _may_write(connection: psycopg.Connection) -> bool:
    row = connection.execute(
        f"select has_table_privilege('{SCHEMA}.memories', 'insert') and not pg_is_in_recovery()"
    ).fetchone()
    return row is not None and bool(row[0])


def _end(connection: psycopg.Connection, *, closing: bool = False) -> None:
    """End the transaction that is open, if one is; a connection that cannot is not used again."""
    with suppress(psycopg.Error):
        if connection.info.transaction_status != TransactionStatus.IDLE:
            connection.execute("rollback")
    if closing:
        connection.close()
