"""A store's SQLite database: one connection for each thread, every change in a transaction."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

import apsw

from jupyter_memory.errors import JupyterMemoryError, StoreClosed, StoreReadOnly
from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.copies import sweep
from jupyter_memory.storage.sqlite.connection.errors import Diagnosis, translate_errors
from jupyter_memory.storage.sqlite.connection.file import StoreFile, version_of
from jupyter_memory.storage.sqlite.connection.identity import leave_log
from jupyter_memory.storage.sqlite.connection.interrupts import Interrupts
from jupyter_memory.storage.sqlite.connection.migrations import Migration, migrate, migrations
from jupyter_memory.storage.sqlite.connection.traces import Traces
from jupyter_memory.storage.sqlite.connection.turns import Turn, let_others_go_first

BUSY_SECONDS = 30.0
# Seconds that an opening waits for others until it leaves the traces of removed rows for the next time.
_BRIEFLY = 1.0
# Connections of a parent process are never closed, since closing them here would touch the parent's files.
_PARENTS: list[apsw.Connection] = []


class Database:
    """One store file. Safe to share between threads; other processes may use the file at the same time.

    ``vfs`` names the SQLite VFS to open the file with; the default suits every ordinary file system.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        vfs: str | None = None,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        self.path = path
        self._busy = round(busy_seconds * 1000)
        self._steps = tuple(steps) if steps is not None else migrations()
        self._file = StoreFile(path, vfs, (self._steps[0].version, self._steps[-1].version))
        self._traces = Traces(self._file, self._busy)
        self.notices = self._file.notices
        self.diagnosis = Diagnosis(path, self._refuse_replaced)
        self._closed = False
        self._begin()
        self._prepare()
        self.read_only, self.created = self._file.read_only, self._file.created

    @property
    def connection(self) -> apsw.Connection:
        """Return this thread's connection, opened on first use.

        Raises:
            StoreClosed: the store was closed.
        """
        self._leave_parent()
        if not hasattr(self._local, "connection") or self._closed:
            self._local.connection = self._connect()
        connection: apsw.Connection = self._local.connection
        return connection

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Read within one snapshot: whatever others write meanwhile is not seen.

        Raises:
            Interrupted: another thread stopped it, through ``interrupts``.
            StoreClosed: another file was copied over the store.
        """
        with self.diagnosis.of_errors(), translate_errors(self.path):
            connection = self.connection
            if connection.in_transaction:
                yield connection
                return
            connection.execute("begin")
            try:
                self._file.check_content(connection)
                with self.interrupts.open_to(connection):
                    yield connection
            finally:
                self._end_reading(connection)

    @contextmanager
    def write(self, *, yielding: bool = False) -> Iterator[apsw.Connection]:
        """Change the store: all of it, or, when the block fails or is interrupted, nothing.

        ``yielding`` is for the steps of long work: whoever else waits to write goes first.

        Raises:
            StoreReadOnly: the file or its disk cannot be written.
            StoreLocked: another process kept the lock for longer than the busy time.
        """
        if yielding:
            let_others_go_first(self.path)
        with self._writing(self._busy / 1000, "full", announced=not yielding) as connection:
            yield connection

    @contextmanager
    def _writing(self, patience: float, synchronous: str, *, announced: bool = False) -> Iterator[apsw.Connection]:
        if self.read_only:
            raise StoreReadOnly(
                f"{self.path} is read-only, so nothing can be stored or forgotten there. Choose another path."
            )
        turn = Turn(self.path, patience, announced=announced)
        with self.diagnosis.of_errors(), translate_errors(self.path):
            connection = self.connection
            self._file.check_identity()
            try:
                connection.set_busy_handler(turn)
                connection.pragma("synchronous", synchronous)
                # "immediate" takes the lock now: a transaction that starts by reading could not wait for it later.
                connection.execute("begin immediate")
                turn.end()
                self._file.check_content(connection)
                yield connection
                # Once more: from the commit on, pages of the log may get into the file.
                self._file.check_content(connection)
                self._file.identity.count_commit(connection)
                connection.execute("commit")
            finally:
                turn.end()
                # What was not committed: a block that failed, a commit that failed, a generator that was closed.
                _undo(connection)
                with suppress(apsw.ConnectionClosedError):
                    connection.set_busy_timeout(self._busy)
                    connection.pragma("synchronous", "full")
        if self.traces_may_remain:
            self.scrub(patience=0)

    @property
    def traces_may_remain(self) -> bool:
        """Return whether the last ``scrub`` did not get to its end."""
        return self._traces.may_remain

    @property
    def writes_at_once(self) -> bool:
        """Return whether a small change can be written without waiting for the disk, which needs a write-ahead log."""
        return self._file.has_log and not self.read_only

    @contextmanager
    def write_at_once(self, patience: float = 0) -> Iterator[apsw.Connection]:
        """Change what may be lost in a power cut: without waiting for the disk, nor long for another writer.

        Another writer that has the lock for longer than ``patience`` seconds makes it raise ``StoreLocked``.
        """
        with self._writing(patience, "normal") as connection:
            yield connection

    def scrub(self, *, patience: float | None = None) -> None:
        """Overwrite what removed rows left in the file and its log, if something was removed since the last time.

        Others may search and write meanwhile; those in the way are waited for up to ``patience`` seconds, by default
        for two. If that is not enough, or if the file cannot be read or written, a notice says that traces may be
        left: what was removed stays removed.

        Raises:
            StoreClosed: the file was moved, removed or replaced, or another one was copied over it.
        """
        self._traces.remove(patience)

    def version(self) -> int:
        """Return the schema version of the file."""
        with self.read() as connection:
            return version_of(connection)

    def journal(self) -> str:
        """Return SQLite's journal mode, ``wal`` where the file system allows it."""
        return str(self.connection.pragma("journal_mode"))

    def close(self) -> None:
        """Close every connection; calling it again does nothing. What other threads are doing is undone."""
        self._leave_parent()
        overwritten = not self._closed and self.replaced
        try:
            if self._traces.may_remain and not (self._closed or overwritten):
                self.scrub(patience=0)
        finally:
            with self._lock:
                self._closed = True
                for connection in list(self._connections):
                    self._close(connection, leaving_log=overwritten)
                self._connections.clear()

    def _end_reading(self, connection: apsw.Connection) -> None:
        """End a transaction; a connection that stays interrupted by unread rows is closed, and reopened when needed."""
        with suppress(apsw.ConnectionClosedError):
            if connection.is_interrupted:
                del self._local.connection
                connection.close(True)
            # A rollback would undo temporary tables that the search made, and so invalidate SQLite's schema cache and
            # every prepared statement.
            if connection.in_transaction:
                with suppress(apsw.Error):
                    connection.execute("commit")
        _undo(connection)

    def _close(self, connection: apsw.Connection, *, leaving_log: bool) -> None:
        begun = monotonic()
        # A connection that another thread still uses is closed when that thread ends.
        while monotonic() - begun <= self._busy / 1000:
            try:
                with suppress(apsw.ConnectionClosedError):
                    leave_log(connection, leaving_log)
                connection.close()
                return
            except apsw.ThreadingViolationError:
                sleep(0.005)

    def _begin(self) -> None:
        """Start without connections, in a new object or in a forked child."""
        self._pid = os.getpid()
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self.interrupts = Interrupts()

    def _leave_parent(self) -> None:
        """In a forked child, let go of the parent's connections: SQLite's locks do not survive a fork."""
        if self._pid != os.getpid():
            _PARENTS.extend(self._connections)
            self._begin()

    def _prepare(self) -> None:
        """Create or open the file, choose its journal, and migrate its schema."""
        with translate_errors(self.path), ExitStack() as unless_ready:
            self._file.make()
            unless_ready.callback(self.close)
            connection = self.connection
            if not self._file.read_only:
                sweep(self.path)
                self._migrate(connection)
            elif version_of(connection) < self._steps[-1].version:
                raise StoreReadOnly(
                    f"{self.path} must first be upgraded to this version of jupyter-memory, but it is read-only. "
                    "Make it writable, or choose another path."
                )
            self._file.remember(connection)
            self._file.drop_journal()
            if scrubbing.pending(connection) is not None:
                self.scrub(patience=_BRIEFLY)
            unless_ready.pop_all()

    def _connect(self) -> apsw.Connection:
        """Return a new connection, which closing the store closes, also while it is made."""
        with ExitStack() as unless_ready:
            if not self._closed:
                connection = unless_ready.enter_context(closing(self._file.connect(self._busy)))
            with self._lock:
                if self._closed:
                    raise StoreClosed("This store was closed. Open it again with open_store() or MemoryStore(path).")
                self._connections.add(connection)
            unless_ready.pop_all()
        return connection

    def _migrate(self, connection: apsw.Connection) -> None:
        copy = migrate(connection, self.path, self._steps)
        if copy is not None:
            self.notices.append(f"The store was upgraded to a new version. {copy.name} is a copy of the old store.")

    @property
    def replaced(self) -> bool:
        """Return whether the file was moved, removed, replaced or overwritten after it was opened."""
        identity = self._file.identity
        if identity.touched and not self._closed:
            with suppress(JupyterMemoryError), self.read():
                pass  # which compares the content
        return identity.moved or identity.overwritten

    def _refuse_replaced(self) -> None:
        if self.replaced:
            self._file.check_identity()
            self._file.refuse_overwritten()


def _undo(connection: apsw.Connection) -> None:
    """End the transaction that is open, if one is; closing a connection ended its own."""
    with suppress(apsw.ConnectionClosedError):
        if connection.in_transaction:
            connection.execute("rollback")
