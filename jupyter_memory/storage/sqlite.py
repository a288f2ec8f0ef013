"""The SQLite file: opened safely, one connection a thread, every change in a transaction."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path

import apsw
import sqlite_vec

from jupyter_memory.errors import (
    InputError,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from jupyter_memory.storage.migrations import Migration, check_version, migrate, migrations, version_of

BUSY_SECONDS = 30.0
# Eight times SQLite's own: what a search in 100,000 chunks reads again and again stays at hand.
_CACHE_KIB = 16_000
# What a file system without working shared memory or locks answers when WAL is tried on it.
_WAL_REFUSED = (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError)
_IN_LOG = "Another process is reading the store: what was forgotten leaves its log when that ends."
_TRACES = (
    "The store was busy or its disk full: what was forgotten is gone, but traces of it may be left in the file. "
    "Take them away with store.rebuild()."
)
# Connections of a parent process: kept for good, since even closing them here would touch the parent's files.
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
        self.read_only = False
        self.notices: list[str] = []
        self._busy = round(busy_seconds * 1000)
        self._vfs = vfs
        self._steps = tuple(steps) if steps is not None else migrations()
        self._wal = True
        self._closed = False
        self._begin()
        self._prepare()

    @property
    def connection(self) -> apsw.Connection:
        """Return this thread's connection, opened on first use.

        Raises:
            StoreClosed: the store was closed.
        """
        if self._closed:
            raise StoreClosed("This store was closed. Open it again with open_store() or MemoryStore(path).")
        self._leave_parent()
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connect()
        connection: apsw.Connection = self._local.connection
        return connection

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Read within one snapshot: whatever others write meanwhile is not seen."""
        with translated(self.path):
            connection = self.connection
            if connection.in_transaction:
                yield connection
                return
            connection.execute("begin")
            try:
                yield connection
            finally:
                connection.execute("rollback")

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """Change the store: all of it, or, when the block fails or is interrupted, nothing.

        Raises:
            StoreReadOnly: the file or its disk cannot be written.
            StoreLocked: another process kept the lock for longer than the busy time.
        """
        if self.read_only:
            raise StoreReadOnly(
                f"{self.path} is read-only, so nothing can be stored or forgotten there. Choose another path."
            )
        with translated(self.path):
            connection = self.connection
            self._check_place()
            try:
                # "immediate" takes the lock now: a transaction that starts by reading could not wait for it later.
                connection.execute("begin immediate")
                yield connection
                connection.execute("commit")
            except BaseException:
                # A commit that fails leaves its transaction open, too.
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
        if _IN_LOG in self.notices:
            self._empty_log(wait=False)

    def scrub(self, first: Callable[[apsw.Connection], None]) -> None:
        """Let ``first`` clear what the tables still hold, write the file anew, and empty the write-ahead log.

        SQLite overwrites a row that goes, but where it once split or merged pages, copies of rows stay in between; only
        a file written anew is sure to hold none. What was removed stays removed when this is not possible; a notice
        says so.
        """
        try:
            with self.write() as connection:
                first(connection)
            with translated(self.path):
                self.connection.execute("vacuum")
        except (StoreLocked, StoreFull):
            self._note(_TRACES, True)
        else:
            self._note(_TRACES, False)
        self._empty_log(wait=True)

    def version(self) -> int:
        """Return the schema version of the file."""
        with self.read() as connection:
            return version_of(connection)

    def journal(self) -> str:
        """Return SQLite's journal mode, ``wal`` where the file system allows it."""
        return str(self.connection.pragma("journal_mode"))

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        self._leave_parent()
        if _IN_LOG in self.notices and not self._closed:
            self._empty_log(wait=False)
        with self._lock:
            self._closed = True
            for connection in list(self._connections):
                connection.close()
            self._connections.clear()

    def _begin(self) -> None:
        """Start without connections, as a new object does and a forked child."""
        self._pid = os.getpid()
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()

    def _leave_parent(self) -> None:
        """In a forked child, let go of the parent's connections: SQLite's locks do not survive a fork."""
        if self._pid != os.getpid():
            _PARENTS.extend(self._connections)
            self._begin()

    def _prepare(self) -> None:
        """Make or open the file, settle how it is journaled, and bring its schema up to date."""
        with translated(self.path):
            self._create()
            try:
                connection = self.connection
                if not self.read_only:
                    self._migrate(connection)
                elif version_of(connection) < self._steps[-1].version:
                    raise StoreReadOnly(
                        f"{self.path} has to be brought to this version of jupyter-memory first, and it is read-only. "
                        "Make it writable, or choose another path."
                    )
                self._place = _place(self.path)
            except BaseException:
                self.close()
                raise

    def _migrate(self, connection: apsw.Connection) -> None:
        copy = migrate(connection, self.path, self._steps)
        if copy is not None:
            self.notices.append(f"The store was brought to a new version; a copy of the old one is {copy.name}.")

    def _create(self) -> None:
        """Make the file readable by its owner only, before SQLite can make it with the umask's rights."""
        try:
            folder, there = self.path.is_dir(), self.path.exists()
            if not there:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # Not exclusively: another process may be faster, or a link may name the file that is to be made.
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except (OSError, ValueError) as error:
            raise StoreReadOnly(
                f"No store can be made at {self.path!s:.500}: {getattr(error, 'strerror', None) or 'no such path'}. "
                "Choose another path with JUPYTER_MEMORY_PATH, --store or open_store(path)."
            ) from None
        if folder:
            raise InputError(f"{self.path} is a folder; a store is one file, such as {self.path / 'memory.sqlite'}.")
        if not os.access(self.path, os.R_OK):
            raise StoreError(f"{self.path} cannot be read: check its owner and permissions.")
        if not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            self._open_read_only()

    def _check_place(self) -> None:
        """Refuse to write into a file that is no longer the store: what goes there would be lost."""
        try:
            place = _place(self.path)
        except OSError:
            place = None
        if place != self._place:
            raise StoreClosed(
                f"{self.path} was moved, removed or replaced after it was opened, so nothing was written. "
                "Close this store and open it again."
            )

    def _open_read_only(self) -> None:
        self.read_only = True
        self.notices.append(f"{self.path} is read-only: searches work, nothing can be stored or forgotten.")

    def _connect(self) -> apsw.Connection:
        connection = self._open()
        try:
            connection.set_busy_timeout(self._busy)
            connection.enable_load_extension(True)
            connection.load_extension(sqlite_vec.loadable_path())
            connection.enable_load_extension(False)
            connection.pragma("foreign_keys", True)
            connection.pragma("temp_store", "memory")  # no user text in temporary files
            connection.pragma("cache_size", -_CACHE_KIB)
            self._check(connection)
            if not self.read_only:
                connection.pragma("secure_delete", True)
                self._journal(connection)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._connections.add(connection)
        return connection

    def _open(self) -> apsw.Connection:
        if not self.read_only:
            return apsw.Connection(str(self.path), vfs=self._vfs)
        # A store in WAL mode on a disk that cannot be written opens only as one that nobody changes, unless whoever
        # writes it left the log and its index there.
        shared = all(self.path.with_name(self.path.name + ending).exists() for ending in ("-wal", "-shm"))
        frozen = "" if shared or os.access(self.path.parent, os.W_OK) else "&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(self.path.absolute().as_uri() + "?mode=ro" + frozen, flags=flags, vfs=self._vfs)

    def _check(self, connection: apsw.Connection) -> None:
        """Refuse what is no store of ours before anything is written to it."""
        try:
            check_version(connection, self.path, self._steps)
        except _WAL_REFUSED:
            if self.read_only:
                raise
            # Written in WAL mode on another file system; a connection that is alone needs no shared memory.
            connection.pragma("locking_mode", "exclusive")
            check_version(connection, self.path, self._steps)
            connection.pragma("journal_mode", "truncate")
            connection.pragma("locking_mode", "normal")
            version_of(connection)  # the next read is what gives the lock back

    def _journal(self, connection: apsw.Connection) -> None:
        """Use a write-ahead log, or, where the file system cannot (network homes), an ordinary journal."""
        if self._wal:
            try:
                self._wal = connection.pragma("journal_mode", "wal") == "wal"
                connection.pragma("user_version")  # the first read is where shared memory fails
            except _WAL_REFUSED:
                self._wal = False
            if not self._wal:
                self.notices.append(
                    "This file system has no write-ahead log: the store works, but a search waits while another "
                    "process writes."
                )
        if not self._wal:
            connection.pragma("journal_mode", "truncate")
        # Notes are typed once, so a power cut must not take them; indexing lowers this for itself.
        connection.pragma("synchronous", "full")

    def _empty_log(self, *, wait: bool) -> None:
        """Move the write-ahead log into the file and cut it to nothing, unless another connection reads from it."""
        connection = self.connection
        connection.set_busy_timeout(self._busy if wait else 0)
        try:
            with translated(self.path):
                busy = connection.execute("pragma wal_checkpoint(truncate)").fetchall()[0][0]
        except (StoreLocked, StoreFull):
            busy = True
        finally:
            connection.set_busy_timeout(self._busy)
        self._note(_IN_LOG, bool(busy))

    def _note(self, notice: str, holds: bool) -> None:
        """Give a notice while it holds, and no longer."""
        while notice in self.notices:
            self.notices.remove(notice)
        if holds:
            self.notices.append(notice)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, which say what to do; their text holds nothing a user wrote."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError, JSONDecodeError) as error:
        # Damage within a value is no matter to SQLite, but what we stored was UTF-8 and JSON.
        raise StoreDamaged(
            f"{path} is not a readable store (SQLite: {_first_line(error)}). It was left as it is. "
            "Restore a backup with `jupyter-memory restore`, or choose another path."
        ) from None
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError):
        raise StoreLocked(
            f"{path} is locked by another process that is writing. Nothing was changed; try again in a moment."
        ) from None
    except (apsw.ReadOnlyError, apsw.PermissionsError):
        raise StoreReadOnly(
            f"{path} cannot be written. Nothing was changed; choose another path or mend its permissions."
        ) from None
    except apsw.FullError:
        raise StoreFull(f"The disk of {path} is full. Nothing was changed; make room and try again.") from None
    except (apsw.IOError, apsw.CantOpenError) as error:
        raise StoreError(
            f"{path} cannot be read or written (SQLite: {_first_line(error)}). Nothing was changed."
        ) from None


def _place(path: Path) -> tuple[int, int]:
    """Return what tells a file from another one that takes its name."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
