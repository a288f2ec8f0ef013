"""How SQLite opens a file: made for its owner only, refused if it is not a store, journaled as its disk allows.

Every connection of the package comes from `open_file`.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic, sleep

import apsw
import sqlite_vec

from jupyter_memory.errors import (
    InputError,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreOpen,
    StoreReadOnly,
    StoreTooNew,
)
from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.identity import Identity, beside
from jupyter_memory.text.paths import make_private

# Written into the file's header, to tell a store from any other SQLite file: "JMem".
APPLICATION_ID = int.from_bytes(b"JMem", "big")
# What a file system without working shared memory or locks answers when WAL is tried on it.
_WAL_REFUSED = (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError)


def open_file(path: Path, *, read_only: bool = False, frozen: bool = False, vfs: str | None = None) -> apsw.Connection:
    """Return a connection to a SQLite file, whatever it holds; `check_version` refuses what is not a store.

    ``frozen`` promises that nobody writes the file meanwhile, so that SQLite needs neither locks nor a log.

    Raises:
        apsw.CantOpenError: there is no file.
    """
    if not read_only:
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    name = path.absolute().as_uri() + "?mode=ro" + ("&immutable=1" if frozen else "")
    return apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=vfs)


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version of a store, 0 for an empty file."""
    return int(connection.pragma("user_version"))


def check_version(connection: apsw.Connection, path: Path, versions: tuple[int, int]) -> None:
    """Refuse a file that is not a store, and one older or of a newer major version than ``versions``.

    These are the oldest and the newest that this package knows; a newer minor version is fine.

    Raises:
        StoreDamaged: the file is a SQLite database of something else.
        StoreTooNew: a newer major version wrote it.
        StoreError: it is older.
    """
    oldest, newest = versions
    # In one snapshot: another process may be making the store at this moment.
    connection.execute("begin")
    try:
        version, mark = version_of(connection), connection.pragma("application_id")
        tables = connection.execute("select count(*) from sqlite_schema").get
    finally:
        if connection.in_transaction:
            connection.execute("rollback")
    if mark != APPLICATION_ID:
        if version or tables:
            raise StoreDamaged(
                f"{path} is a SQLite file, but not a memory store. It was left as it is; choose another path."
            )
    elif 0 < version < oldest:
        raise StoreError(
            f"{path} was written by a version of jupyter-memory before 0.1.0 (store version {version // 1000}."
            f"{version % 1000}), which cannot be read here. It was left as it is. With the version that wrote it, "
            "type: jupyter-memory export FOLDER. Then move the file away, and type here: jupyter-memory import FOLDER"
        )
    elif version // 1000 > newest // 1000:
        raise StoreTooNew(
            f"{path} was written by a newer jupyter-memory (store version {version // 1000}.{version % 1000}, "
            f"this one reads {newest // 1000}.x). Update with: pip install -U jupyter-memory"
        )


class StoreFile:
    """The file of one store, from which its connections come.

    ``notices`` are sentences for the user, removed once they are no longer true; ``has_log`` says whether there is a
    write-ahead log. ``versions`` are the oldest and the newest schema version that this package knows.
    """

    def __init__(self, path: Path, vfs: str | None, versions: tuple[int, int]) -> None:
        self.path = path
        self.read_only = False
        self.created = False
        self.has_log = True
        self.notices: list[str] = []
        self._vfs = vfs
        self._versions = versions
        self.identity = Identity(path, vfs)
        self._is_open = False

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
                make_private(self.path.parent)
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
        """Return a new connection, which waits ``patience`` milliseconds for other writers.

        Raises:
            StoreClosed: the store was open, and its file was moved, removed or replaced.
        """
        if self._is_open:
            self.check_identity()
        with ExitStack() as unless_ready:
            connection = unless_ready.enter_context(closing(self._open()))
            try:
                connection.set_busy_timeout(patience)
                if not (self._is_open or self.read_only) and self.identity.has_strange_log(connection):
                    connection.close()
                    self._remove_strange_log()
                    connection = unless_ready.enter_context(closing(self._open()))
                self._configure(connection, patience)
            except _WAL_REFUSED:
                connection.close()
                if self.read_only or not self.has_log:
                    raise
                self._leave_log()
                connection = unless_ready.enter_context(closing(self._open()))
                self._configure(connection, patience)
            unless_ready.pop_all()
        return connection

    def remember(self, connection: apsw.Connection) -> None:
        """Note which file this is, so that another one that takes its name, or its bytes, is recognised."""
        self.identity.remember(connection, has_log=self.has_log)
        self._is_open = True

    def drop_journal(self) -> None:
        """Remove the journal of a process that was killed when it left the log, as a restore does.

        Nobody uses it: with a log there is none, and while this process has the log open, nobody can leave it.
        """
        if self.has_log and not self.read_only:
            beside(self.path, "-journal").unlink(missing_ok=True)

    def scrub(self, alone: apsw.Connection, patience: float) -> bool:
        """Overwrite what removed rows left, with a connection that was made for this; return whether all is gone."""
        # Opened by SQLite: if Python closed a file of the same name, this process would lose SQLite's locks on it.
        pages = apsw.VFSFile(
            self._vfs or "", str(self.path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0]
        )
        try:
            return scrubbing.scrub(alone, pages, beside(self.path, "-wal"), patience, self.check_content)
        finally:
            pages.xClose()

    def check_identity(self) -> None:
        """Refuse a file that is no longer the store: what is written there would be lost.

        Raises:
            StoreClosed: it was moved, removed or replaced.
        """
        if self.identity.moved:
            raise StoreClosed(
                f"{self.path} was moved, removed or replaced after it was opened, so nothing was read or written. "
                "Close this store and open it again."
            )

    def check_content(self, connection: apsw.Connection) -> None:
        """Refuse to read or write, within a transaction, a file that was overwritten with another one.

        Raises:
            StoreClosed: another file was copied over it.
        """
        self.identity.compare(connection)
        self.refuse_overwritten()

    def refuse_overwritten(self) -> None:
        """Refuse a file that another one was copied over.

        Raises:
            StoreClosed: it was.
        """
        if self.identity.overwritten:
            raise StoreClosed(
                f"Another file was copied over {self.path} after it was opened, so nothing was read or written. "
                "Close this store everywhere (shut down the kernels that use it), then open it again."
            )

    def note(self, notice: str, holds: bool) -> None:
        """Add a notice if it holds, and remove it if it does not."""
        while notice in self.notices:
            self.notices.remove(notice)
        if holds:
            self.notices.append(notice)

    def _open(self) -> apsw.Connection:
        if not self.read_only:
            return open_file(self.path, vfs=self._vfs)
        # A store in WAL mode on a disk that cannot be written opens only as one that nobody changes, unless whoever
        # writes it left the log and its index there.
        shared = all(beside(self.path, ending).exists() for ending in ("-wal", "-shm"))
        frozen = not (shared or os.access(self.path.parent, os.W_OK))
        return open_file(self.path, read_only=True, frozen=frozen, vfs=self._vfs)

    def _configure(self, connection: apsw.Connection, patience: int) -> None:
        """Configure a connection; what is not a store is refused before anything is written to it."""
        connection.set_busy_timeout(patience)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.pragma("foreign_keys", True)
        connection.pragma("temp_store", "memory")  # no user text in temporary files
        check_version(connection, self.path, self._versions)
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

    def _remove_strange_log(self) -> None:
        """Remove a log that was written for the file that was here before: it would be mixed into this one.

        Raises:
            StoreOpen: somebody still has the store open that was here before.
        """
        with closing(self._open()) as alone:
            alone.pragma("locking_mode", "exclusive")
            try:
                alone.execute("begin immediate")
                if not self.identity.has_strange_log(alone):
                    return
            except apsw.BusyError:
                raise StoreOpen(
                    f"Another file was copied over {self.path} while it was open. Close it everywhere (shut down the "
                    "kernels that use it), then open it again."
                ) from None
            for ending in ("-wal", "-shm"):
                beside(self.path, ending).unlink(missing_ok=True)
        self.note("Another file was copied over this store while it was open. Its log was removed.", True)

    def _leave_log(self) -> None:
        """Turn a file that was written with a write-ahead log into one without: a connection alone can read the log."""
        with closing(self._open()) as alone:
            alone.pragma("locking_mode", "exclusive")
            check_version(alone, self.path, self._versions)
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
            # Here SQLite does not wait for other processes, which may be making the same store.
            if monotonic() - begun > patience / 1000:
                raise
            sleep(0.005)
