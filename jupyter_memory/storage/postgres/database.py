"""The server: pool, transactions that may run twice, interrupts, errors, schema."""

from __future__ import annotations

import json
import logging
import os
import random
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache, partial
from importlib.resources import files
from json import JSONDecodeError
from time import sleep
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from jupyter_memory.errors import (
    Interrupted,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
)
from jupyter_memory.runtime import batches
from jupyter_memory.storage.sql import POSTGRES, Interrupts, Overtaken, UnreadableRow
from jupyter_memory.text.paths import DatabaseAddress

# PostgreSQL's errors as ours, which say what happened and what to do, and hold neither a password nor a user's text.
#
# The server's own words are not repeated, except for its code: they may quote a value.

_NO_ROOM = (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded)


# A transaction that ended with one of these did nothing, and may succeed when it is run again.
_PASSING = (
    Overtaken,
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)


@contextmanager
def _translate_errors(address: DatabaseAddress) -> Iterator[None]:
    try:
        yield
    except Overtaken:
        raise _others_write(address) from None
    except (UnreadableRow, JSONDecodeError):
        raise StoreDamaged(
            f"The store at {address} holds rows that cannot be read. `jupyter-memory doctor` shows what is wrong."
        ) from None
    except psycopg.Error as error:
        raise _translated(address, error) from None


def _translated(address: DatabaseAddress, error: psycopg.Error) -> Exception:
    match error:
        case errors.QueryCanceled():
            return StoreError(
                f"The server of {address} stopped a statement: it took longer than its setting statement_timeout "
                "allows, or an administrator ended it. Nothing was changed; ask for less at a time, or for more time."
            )
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
            return _others_write(address)
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return StoreReadOnly(
                f"Your role may not do this in the store at {address}. Nothing was changed; "
                "ask the owner of the store for the role that may."
            )
        case errors.UniqueViolation():
            return StoreReadOnly(
                f"The store at {address} has a memory with one of these ids in a space that your role may not read, so "
                "nothing was changed. Ask the owner of the store."
            )
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.InvalidSchemaName():
            return StoreDamaged(f"Tables of the store at {address} are missing. Restore them with pg_restore.")
        case errors.AdminShutdown() | errors.CrashShutdown() | errors.CannotConnectNow():
            return _gone(address)
        case psycopg.OperationalError() if isinstance(error, _NO_ROOM):
            return StoreFull(f"The server of {address} has no room left. Nothing was changed; make room and try again.")
        case errors.TooManyConnections():
            return StoreLocked(f"The server of {address} has no connection left. Nothing was changed; try again later.")
        # Who lost the connection hears no more of the server than that.
        case psycopg.OperationalError() if error.sqlstate is None or error.sqlstate.startswith("08"):
            return _gone(address)
        case _:
            return StoreError(f"The database at {address} refused a statement (SQLSTATE {error.sqlstate or 'none'}).")


def _others_write(address: DatabaseAddress) -> StoreLocked:
    return StoreLocked(f"Others are writing to {address}. Nothing was changed; try again in a moment.")


def _gone(address: DatabaseAddress) -> StoreError:
    return StoreClosed(
        f"The connection to the server of {address} was lost. What was being written was not stored; "
        "try again when the server runs."
    )


# Interrupting a thread that reads: its current statement, and the later ones of the same transaction.


# How often the server is asked to stop a statement, and for how many seconds it is awaited each time.
_REQUESTS, _AWAITED = 100, 0.05


class _Stoppable:
    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._running = threading.Lock()
        self.stopped = False

    @contextmanager
    def statement(self) -> Iterator[None]:
        with self._running:
            if self.stopped:
                raise psycopg.errors.QueryCanceled
            yield

    def stop(self) -> None:
        self.stopped = True
        with suppress(psycopg.Error):
            # A request that reaches the server before its statement does stops nothing.
            for _ in range(_REQUESTS):
                self._connection.cancel_safe(timeout=5.0)
                if self._running.acquire(timeout=_AWAITED):
                    self._running.release()
                    return


# The tables of a store, made and upgraded by one process at a time.

log = logging.getLogger(__name__)
# Errors while a lost connection is given up are no news: the first error is raised, as one of ours.
logging.getLogger("psycopg").addFilter(lambda record: not str(record.msg).startswith("error ignored"))

SCHEMA = "jupyter_memory"
# Known to every process that migrates, and to no other use of advisory locks in the database: "jupymem" in ASCII.
_LOCK = 0x6A7570796D656D
# The first version of pgvector that goes on where filters leave too few vectors (`hnsw.iterative_scan`).
_OLDEST_VECTORS = (0, 8)
_EXTENSION = "select extversion from pg_extension where extname = 'vector'"


# Versions of the tables, 1000 * major + minor, with their scripts, the first release's first; older packages can use a
# newer minor version.
_STEPS = ((2000, ("schema.sql", "rights.sql")),)


def _migrate(connection: psycopg.Connection, address: DatabaseAddress) -> bool:
    wanted = _STEPS[-1][0]
    if _checked_version(connection, address) >= wanted:
        return False
    try:
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            # Checked again under the lock: another process may have taken these steps meanwhile.
            before = _checked_version(connection, address)
            if not before:
                found = connection.execute(_EXTENSION).fetchone()
                if found is None:
                    try:
                        connection.execute("create extension vector")
                    except (errors.UndefinedFile, errors.FeatureNotSupported, errors.InsufficientPrivilege):
                        raise StoreError(
                            f"The database at {address} lacks the extension pgvector. Have the owner of the server "
                            "install it, and run in this database: create extension vector"
                        ) from None
                    found = connection.execute(_EXTENSION).fetchone()
                assert found is not None
                installed = str(found[0])
                if tuple(int(part) for part in installed.split(".")[:2]) < _OLDEST_VECTORS:
                    raise StoreError(
                        f"The database at {address} has pgvector {installed}, and the index of vectors needs 0.8 or "
                        "newer. Have the owner of the server install it, and run in this database: "
                        "alter extension vector update"
                    )
                connection.execute(f"create schema if not exists {SCHEMA}")
                connection.execute(f"create table {SCHEMA}.schema_version (version integer primary key)")
            package = files("jupyter_memory.storage.postgres")
            for version, scripts in _STEPS:
                if version > before:
                    script = "\n".join(package.joinpath(name).read_text(encoding="utf-8") for name in scripts)
                    connection.execute(script.encode())
                    connection.execute(f"insert into {SCHEMA}.schema_version (version) values (%s)", (version,))
    except errors.InsufficientPrivilege:
        raise StoreReadOnly(
            f"The store at {address} must first be made, or upgraded to this version of jupyter-memory, by a role that "
            "may create tables. Open it once as the owner of the database."
        ) from None
    log.info("store brought from version %d to %d", before, wanted)
    return before == 0


def _checked_version(connection: psycopg.Connection, address: DatabaseAddress) -> int:
    there = connection.execute("select to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone()
    found = None
    if there is not None and there[0] is not None:
        found = connection.execute(f"select max(version) from {SCHEMA}.schema_version").fetchone()
    version = 0 if found is None else int(found[0] or 0)
    if 0 < version < _STEPS[0][0]:
        raise StoreError(
            f"The store at {address} was written by a version of jupyter-memory before 0.1.0, which cannot be read "
            "here. It was left as it is. With the version that wrote it, type: jupyter-memory export FOLDER. Then run "
            f"in this database: drop schema {SCHEMA} cascade. At last, type here: jupyter-memory import FOLDER"
        )
    if version // 1000 > _STEPS[-1][0] // 1000:
        raise StoreTooNew(
            f"The store at {address} was written by a newer version of jupyter-memory. "
            "Upgrade with: pip install --upgrade jupyter-memory"
        )
    return version


# A bounded pool of connections, made by the thread that needs one: without a thread, and safe to fork.

_Begun = TypeVar("_Begun")

# Connections of a parent process are never closed here, since that would end the parent's sessions.
_PARENTS: list[psycopg.Connection] = []


class _Pool:
    def __init__(self, connect: Callable[[], psycopg.Connection], most: int, patience: float) -> None:
        self._connect = connect
        self._most = most
        self._patience = patience
        self._closed = False
        self._begin()

    @contextmanager
    def connection(self, begin: Callable[[psycopg.Connection], _Begun]) -> Iterator[tuple[psycopg.Connection, _Begun]]:
        if self._pid != os.getpid():
            _PARENTS.extend(self._idle)
            self._begin()
        free = self._free
        if not free.acquire(timeout=self._patience):
            raise StoreLocked(f"All {self._most} connections of this process to the store are in use. Try again.")
        try:
            connection, begun = self._taken(begin)
            try:
                yield connection, begun
            finally:
                idle = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
                with self._lock:
                    kept = idle and not self._closed
                    if kept:
                        self._idle.append(connection)
                if not kept:
                    connection.close()
        finally:
            free.release()

    def forget_idle(self) -> None:
        with self._lock:
            idle = list(self._idle)
            self._idle.clear()
        for connection in idle:
            connection.close()

    def close(self) -> None:
        self._closed = True
        if self._pid == os.getpid():
            self.forget_idle()

    def _taken(self, begin: Callable[[psycopg.Connection], _Begun]) -> tuple[psycopg.Connection, _Begun]:
        with self._lock:
            if self._closed:
                raise StoreClosed("This store was closed. Open it again with open_store() or MemoryStore(path).")
            waiting = self._idle.pop() if self._idle else None
        if waiting is not None:
            try:
                return waiting, begin(waiting)
            except psycopg.OperationalError:
                if not waiting.closed:
                    waiting.close()
                    raise
            self.forget_idle()
        connection = self._connect()
        try:
            return connection, begin(connection)
        except BaseException:
            # Whatever ended it, also Ctrl-C: no other caller has this connection.
            connection.close()
            raise

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._idle: list[psycopg.Connection] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self._most)


# One transaction: its connection, and the spaces that its statements are about.

# Rows that one statement writes.
TOGETHER = 5_000
_JSON = json.JSONEncoder(ensure_ascii=False, default=lambda value: "\\x" + value.hex())


class _Totals(NamedTuple):
    # ``changes`` differs between any two states of the chunks.

    changes: int
    chunks: int
    words: int


class Session:
    """What the tables are read and changed through; ``space`` is the one that the store was opened with, or empty."""

    dialect = POSTGRES

    def __init__(
        self,
        connection: psycopg.Connection,
        space: str,
        held: Mapping[str, _Totals],
        statement: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.connection = connection
        self.space = space
        self.written = 0
        self.spaces = list(held)
        self.totals = (
            _Totals(*(sum(values) for values in zip(*held.values(), strict=True))) if held else _Totals(0, 0, 0)
        )
        self._statement = statement

    def execute(self, sql: str, /, *, binary: bool = False, **parameters: Any) -> psycopg.Cursor[Any]:
        """Run a statement; ``spaces`` and ``space`` are always among its parameters."""
        given = {"spaces": self.spaces, "space": self.space, **self.dialect.bound(parameters)}
        with self._statement():
            return self.connection.execute(_named(sql), given, binary=binary)

    def rows(self, sql: str, /, **parameters: Any) -> list[Any]:
        return self.execute(sql, **parameters).fetchall()

    def binary_rows(self, sql: str, /, **parameters: Any) -> list[Any]:
        """Return all rows of a statement that hold many bytes, which text would double."""
        return self.execute(sql, binary=True, **parameters).fetchall()

    def column(self, sql: str, /, **parameters: Any) -> list[Any]:
        return [row[0] for row in self.rows(sql, **parameters)]

    def value(self, sql: str, /, **parameters: Any) -> Any:
        row = self.execute(sql, **parameters).fetchone()
        return None if row is None else row[0]

    def changed(self, sql: str, /, **parameters: Any) -> int:
        count = self.execute(sql, **parameters).rowcount
        self.written += count
        return count

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, known: str = "") -> int:
        conflict = f"on conflict ({self.dialect.unique(table)}) {known}" if known else ""
        return sum(cursor.rowcount for cursor in self._insert(table, rows, conflict))

    def numbered(self, table: str, number: str, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        return sorted(row[0] for cursor in self._insert(table, rows, f"returning {number}") for row in cursor)

    def _insert(self, table: str, rows: Sequence[Mapping[str, Any]], further: str) -> Iterator[psycopg.Cursor[Any]]:
        # As one value, JSON: as many parameters as there are values would take longer to read than to store.
        for part in batches(rows, TOGETHER):
            columns = ", ".join(part[0])
            cursor = self.execute(
                f"insert into {table} ({columns}) "
                f"select {columns} from json_populate_recordset(cast(null as {table}), cast(:rows as json)) {further}",
                rows=_JSON.encode(part),
            )
            self.written += cursor.rowcount
            yield cursor

    def lock(self, keys: Sequence[int]) -> list[int]:
        those = f"from memories where {of('memories')} and key = any(:keys)"
        locked = self.column(f"select key {those} order by key for update", keys=list(keys))
        refused = list(set(keys) - set(locked))
        if refused and self.value(f"select exists (select {those})", keys=refused):
            raise StoreReadOnly(
                "Your role may only read some of these memories, so nothing was changed. Name a space into which it "
                "may write, or ask the owner of the store for the right of a writer."
            )
        return locked

    def lock_files(self, paths: Sequence[str], space: str) -> None:
        self.execute(
            """
            select pg_advisory_xact_lock(locked.number)
            from (
                select distinct hashtextextended(:of_space || chr(1) || path, 0) as number
                from unnest(cast(:paths as text[])) as path order by 1
            ) as locked
            """,
            of_space=space,
            paths=list(paths),
        )

    @property
    def state(self) -> str:
        return str(self.value("select pg_current_snapshot()"))

    def include(self, space: str) -> None:
        if space not in self.spaces:
            self.spaces.append(space)
            self.execute("insert into totals (space, changes, chunks, words) values (:new, 0, 0, 0)", new=space)

    def note_removal(self) -> None:
        """Do nothing: the server overwrites what was removed when it needs the room."""

    def forget_asked(self, keys: Sequence[int]) -> bool:
        ids = f"select id from memories where {of('memories')} and key = any(:keys)"
        asked = f"select jupyter_memory.forget_asked(cast(:spaces as text[]), array({ids}))"
        return bool(self.value(asked, keys=list(keys)))


@cache
def _named(sql: str) -> bytes:
    # As psycopg names parameters. Two colons are a cast.
    return re.sub(r"(?<!:):([a-z_]\w*)", r"%(\1)s", sql.replace("%", "%%")).encode()


of = POSTGRES.of  # the condition that the rows of a table are of the spaces that a session is about


Result = TypeVar("Result")

_MOST_CONNECTIONS = 8  # connections of one process: a search takes one, and a write another
# How often a change is run that others were in the way of, and for how many seconds at most it pauses before the second
# time; before each later one longer.
_ATTEMPTS, _PAUSE = 10, 0.05
# What a search reads is in memory, so an index is not four times as expensive as a scan. An HNSW index follows 1,000
# candidates, the most that it can: of 100,000 real chunks, 400 of them held 97 % of the nearest 20, and 1,000 hold
# 99 %. It goes on where filters leave too few.
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


def _set(connection: psycopg.Connection, settings: Mapping[str, str], *, local: bool) -> None:
    made = (f"set_config('{name}', '{value}', {local})" for name, value in settings.items())
    connection.execute(f"select {', '.join(made)}".encode())


class Database:
    """One store on a server, or a space of it; safe to share between threads, while other processes use it."""

    writes_at_once = True  # a small change does not wait for the server's disk
    # A database is not moved away under those who use it: a server that has gone says so by itself.
    replaced = False
    notices: Sequence[str] = ()

    def __init__(self, address: DatabaseAddress, *, space: str = "", busy_seconds: float) -> None:
        self.address = address
        self.space = space
        self.interrupts = Interrupts()
        self._busy = round(busy_seconds * 1000)
        self._pool = _Pool(self._connect, _MOST_CONNECTIONS, busy_seconds)
        self._current = threading.local()
        # Connections to a program such as PgBouncer, behind which each transaction may have another server process.
        self._shared: weakref.WeakSet[psycopg.Connection] = weakref.WeakSet()
        with _translate_errors(address), self._pool.connection(lambda _: None) as (connection, _):
            self.created = _migrate(connection, address)

            row = connection.execute(
                f"select has_any_column_privilege('{SCHEMA}.memories', 'insert') and not pg_is_in_recovery()"
            ).fetchone()
            self.read_only = not (row is not None and bool(row[0]))

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Read within one state; a read within another one is part of it."""
        outer: Session | None = getattr(self._current, "session", None)
        if outer is not None:
            yield outer
            return

        with (
            _translate_errors(self.address),
            self._pool.connection(partial(self._begun, "repeatable read read only", {})) as (connection, held),
            self.interrupts.open_to(_Stoppable(connection)) as reading,
        ):
            session = Session(connection, self.space, held, reading.statement)
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

    def change(self, work: Callable[[Session], Result], *, at_once: float | None = None) -> Result:
        """Run a change in one transaction, again if others were in its way; ``Engine.change`` says the rest."""
        if self.read_only:
            raise StoreReadOnly(
                f"Your role may only read the store at {self.address}, so nothing can be stored or forgotten there."
            )
        busy = self._busy if at_once is None else round(at_once * 1000)
        with _translate_errors(self.address):
            for attempt in range(_ATTEMPTS):
                try:
                    return self._attempt(work, max(busy, 1), at_once is None)
                except _PASSING:
                    if attempt == _ATTEMPTS - 1:
                        raise
                    sleep(random.uniform(0, _PAUSE * (attempt + 1)))  # noqa: S311  two writers that met should not meet again
        raise AssertionError("unreachable")

    def close(self) -> None:
        self._pool.close()

    def _attempt(self, work: Callable[[Session], Result], busy: int, durable: bool) -> Result:
        how = {"lock_timeout": str(busy), "synchronous_commit": "on" if durable else "off", "enable_seqscan": "off"}
        with self._pool.connection(partial(self._begun, "read committed read write", how)) as (connection, held):
            try:
                result = work(Session(connection, self.space, held))
                try:
                    connection.execute("commit")
                except psycopg.OperationalError as error:
                    if connection.closed:
                        raise StoreClosed(
                            f"The connection to the server of {self.address} was lost while it stored a change. Look "
                            "whether the change is there before you repeat it: it is there whole or not at all."
                        ) from error
                    raise
            finally:
                _end(connection)
            return result

    def _begun(self, level: str, settings: Mapping[str, str], connection: psycopg.Connection) -> dict[str, _Totals]:
        # Begins a transaction; returns the totals of the store's space, or of all that were written into.
        with connection.pipeline():
            connection.execute(f"begin isolation level {level}".encode())
            if settings := {**(_SETTINGS if connection in self._shared else {}), **settings}:
                _set(connection, settings, local=True)
            rows = connection.execute(
                # Whatever rows a writer added with SQL.
                "select space, mod(sum(changes), 1e18)::bigint, greatest(least(sum(chunks), 1e12), 0)::bigint, "
                "greatest(least(sum(words), 1e15), 0)::bigint "
                "from totals where %(space)s in ('', space) group by space",
                {"space": self.space},
            )
            held = {space: _Totals(*of_it) for space, *of_it in rows}
        return held or ({self.space: _Totals(0, 0, 0)} if self.space else {})

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
            # Said by what libpq knows of it: its words are translated.
            attempt = error.pgconn
            if attempt is not None and attempt.needs_password:
                raise StoreError(
                    f"The server of {self.address} asks for a password, and none was found. Put it into ~/.pgpass, a "
                    "service file or the variable PGPASSWORD."
                ) from None
            if attempt is not None and attempt.used_password:
                raise StoreError(
                    f"The server of {self.address} refused the connection. The password in ~/.pgpass, the service file "
                    "or PGPASSWORD may be wrong, or the user may not use this database."
                ) from None
            raise StoreError(
                f"No store can be opened at {self.address}: the server {self.address.server} does not answer, or has "
                "no such database or user, or no connection left for this user. Check the address, and that the "
                "server runs."
            ) from None
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.close()
            raise StoreError(
                f"The database at {self.address} has the encoding {encoding or 'unknown'}, which cannot hold every "
                "text. Make another one with UTF8: create database NAME encoding 'UTF8' template template0"
            )
        row = connection.execute("select pg_backend_pid()").fetchone()
        if row is not None and row[0] == connection.info.backend_pid:
            _set(connection, _SETTINGS, local=False)
        else:
            self._shared.add(connection)
            connection.prepare_threshold = None
        return connection


def _end(connection: psycopg.Connection, *, closing: bool = False) -> None:
    with suppress(psycopg.Error):
        if connection.info.transaction_status != TransactionStatus.IDLE:
            connection.execute("rollback")
    if closing:
        connection.close()
