"""How a store's file is opened: made for its owner alone, told from what is no store, journaled as its disk allows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic, sleep

import apsw
import sqlite_vec

from jupyter_memory.errors import InputError, StoreClosed, StoreError, StoreReadOnly
from jupyter_memory.storage.sqlite.connection.migrations import Migration, check_version, version_of

# What a file system without working shared memory or locks answers when WAL is tried on it.
_WAL_REFUSED = (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError)


class StoreFile:
    """The file of one store, from which its connections come.

    ``notices`` are sentences for the user, taken away when they hold no longer; ``has_log`` tells whether there is a
    write-ahead log.
    """

    def __init__(self, path: Path, vfs: str | None, steps: Sequence[Migration]) -> None:
        self.path = path
        self.read_only = False
        self.created = False
        self.has_log = True
        self.notices: list[str] = []
        self._vfs = vfs
        self._steps = tuple(steps)
        self._place: tuple[int, int] | None = None

    def make(self) -> None:
        """Make the file readable by its owner only, before SQLite can make it with the umask's rights.

        Raises:
            StoreReadOnly: it cannot be made.
            InputError: it is a folder.
            StoreError: it is there and cannot be read.
        """
        try:
            folder, there = self.path.is_dir(), self.path.exists()
            self.created = not there
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
            self.read_only = True
            self.notices.append(f"{self.path} is read-only: searches work, nothing can be stored or forgotten.")

    def connect(self, patience: int) -> apsw.Connection:
        """Return a new connection, which waits ``patience`` milliseconds for other writers."""
        with ExitStack() as unless_ready:
            connection = unless_ready.enter_context(closing(self._open()))
            try:
                self._settle(connection, patience)
            except _WAL_REFUSED:
                connection.close()
                if self.read_only or not self.has_log:
                    raise
                self._leave_log()
                connection = unless_ready.enter_context(closing(self._open()))
                self._settle(connection, patience)
            unless_ready.pop_all()
        return connection

    def keep_in_mind(self) -> None:
        """Note which file it is: from now on another one that takes its name is told from it."""
        self._place = _place(self.path)

    @property
    def replaced(self) -> bool:
        """Return whether the file was moved, removed or replaced after it was opened."""
        try:
            return _place(self.path) != self._place
        except OSError:
            return True

    def check_place(self) -> None:
        """Refuse to write into a file that is no longer the store: what goes there would be lost.

        Raises:
            StoreClosed: it was moved, removed or replaced.
        """
        if self.replaced:
            raise StoreClosed(
                f"{self.path} was moved, removed or replaced after it was opened, so nothing was written. "
                "Close this store and open it again."
            )

    def note(self, notice: str, holds: bool) -> None:
        """Give a notice while it holds, and no longer."""
        while notice in self.notices:
            self.notices.remove(notice)
        if holds:
            self.notices.append(notice)

    def _open(self) -> apsw.Connection:
        if not self.read_only:
            return apsw.Connection(str(self.path), vfs=self._vfs)
        # A store in WAL mode on a disk that cannot be written opens only as one that nobody changes, unless whoever
        # writes it left the log and its index there.
        shared = all(self.path.with_name(self.path.name + ending).exists() for ending in ("-wal", "-shm"))
        frozen = "" if shared or os.access(self.path.parent, os.W_OK) else "&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(self.path.absolute().as_uri() + "?mode=ro" + frozen, flags=flags, vfs=self._vfs)

    def _settle(self, connection: apsw.Connection, patience: int) -> None:
        """Make a connection ours, and refuse what is no store before anything is written to it."""
        connection.set_busy_timeout(patience)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.pragma("foreign_keys", True)
        connection.pragma("temp_store", "memory")  # no user text in temporary files
        check_version(connection, self.path, self._steps)
        if self.read_only:
            return
        connection.pragma("secure_delete", True)
        if self.has_log and not _takes_log(connection, patience):
            self._give_up_log()
        if not self.has_log:
            connection.pragma("journal_mode", "truncate")
        version_of(connection)  # the first read is where shared memory fails
        # Notes are typed once, so a power cut must not take them.
        connection.pragma("synchronous", "full")

    def _leave_log(self) -> None:
        """Turn a file that was written with a write-ahead log into one without: a connection alone can read the log."""
        with closing(self._open()) as alone:
            alone.pragma("locking_mode", "exclusive")
            check_version(alone, self.path, self._steps)
            alone.pragma("journal_mode", "truncate")
        self._give_up_log()

    def _give_up_log(self) -> None:
        """Use an ordinary journal: this file system cannot do better (network homes)."""
        self.has_log = False
        self.note(
            "SQLite's write-ahead log does not work on this file system. The store works, but searches wait while "
            "another process writes.",
            True,
        )


def _takes_log(connection: apsw.Connection, patience: int) -> bool:
    """Switch to a write-ahead log, and return whether the file system has one."""
    begun = monotonic()
    while True:
        try:
            return bool(connection.pragma("journal_mode", "wal") == "wal")
        except apsw.BusyError:
            # For this one thing SQLite does not wait for others, who may be making the same store.
            if monotonic() - begun > patience / 1000:
                raise
            sleep(0.005)


def _place(path: Path) -> tuple[int, int]:
    """Return what tells a file from another one that takes its name."""
    status = path.stat()
    return status.st_dev, status.st_ino
