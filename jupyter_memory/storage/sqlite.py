"""The SQLite file: opened safely, one connection a thread, every change in a transaction."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
# What a file system without working shared memory or locks answers when WAL is tried on it.
_WAL_REFUSED = (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError)


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
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._wal = True
        self._closed = False
        self._prepare()

    @property
    def connection(self) -> apsw.Connection:
        """Return this thread's connection, opened on first use.

        Raises:
            StoreClosed: the store was closed.
        """
        if self._closed:
            raise StoreClosed("This store was closed. Open it again with open_store() or MemoryStore(path).")
        # A forked child must not use its parent's connection: SQLite's locks do not survive a fork.
        if getattr(self._local, "pid", None) != os.getpid():
            self._local.connection = self._connect()
            self._local.pid = os.getpid()
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
            # "immediate" takes the lock now: a transaction that starts by reading could not wait for it later.
            connection.execute("begin immediate")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
            connection.execute("commit")

    def scrub(self) -> None:
        """Empty the write-ahead log, so that nothing removed lives on in it; give disk space back where there is much.

        A reader that is in the middle of something can hold the log back; a notice says so.
        """
        with translated(self.path):
            connection = self.connection
            free, pages = connection.pragma("freelist_count"), connection.pragma("page_count")
            if free * 2 > pages:
                connection.execute("vacuum")
            if self._wal:
                row = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
                if row is not None and row[0]:
                    self.notices.append(
                        "Another process is reading the store: what was forgotten leaves its log when that ends."
                    )

    def version(self) -> int:
        """Return the schema version of the file."""
        with self.read() as connection:
            return version_of(connection)

    def journal(self) -> str:
        """Return SQLite's journal mode, ``wal`` where the file system allows it."""
        return str(self.connection.pragma("journal_mode"))

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        with self._lock:
            self._closed = True
            for connection in list(self._connections):
                connection.close()
            self._connections.clear()

    def _prepare(self) -> None:
        """Make or open the file, settle how it is journaled, and bring its schema up to date."""
        with translated(self.path):
            self._create()
            connection = self.connection
            try:
                check_version(connection, self.path, self._steps)
                if not self.read_only:
                    copy = migrate(connection, self.path, self._steps)
                    if copy is not None:
                        self.notices.append(
                            f"The store was brought to a new version; a copy of the old one is {copy.name}."
                        )
            except BaseException:
                self.close()
                raise

    def _create(self) -> None:
        """Make the file readable by its owner only, before SQLite can make it with the umask's rights."""
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder; a store is one file, such as {self.path / 'memory.sqlite'}.")
        if not self.path.exists():
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                pass  # another process was faster
            except OSError as error:
                raise StoreReadOnly(
                    f"No store can be made at {self.path}: {error.strerror}. Choose another path with "
                    "JUPYTER_MEMORY_PATH, --store or open_store(path)."
                ) from None
        elif not os.access(self.path, os.R_OK):
            raise StoreError(f"{self.path} cannot be read: check its owner and permissions.")
        elif not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            self._open_read_only()

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
        # A store in WAL mode on a disk that cannot be written opens only as one that nobody changes.
        frozen = "" if os.access(self.path.parent, os.W_OK) else "&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(self.path.absolute().as_uri() + "?mode=ro" + frozen, flags=flags, vfs=self._vfs)

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


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, which say what to do; their text holds nothing a user wrote."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreDamaged(
            f"{path} is not a readable store (SQLite: {_first_line(error)}). It was left as it is. "
            "Restore a backup with `jupyter-memory restore`, or choose another path."
        ) from None
    except (apsw.BusyError, apsw.LockedError):
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


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
