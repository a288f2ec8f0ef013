"""Which file a store has open, so that another one that takes its name, or its bytes, is recognised.

With a write-ahead log, SQLite lays the pages of the log over those of the file. When somebody copies another store over
an open one, the log of the old store would be mixed into the new one. So each transaction is counted in the store, with
who wrote it. What the file holds without its log must be a state that this store had, no older than what was seen there
before.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import apsw

# Where the header of a file says how it is written, and that it has a log: never on a copy that a backup made.
_FORMATS = slice(18, 20)
_WITH_LOG = b"\x02\x02"
# How the counters of those who write begin.
_WRITER = "writer "
_UNREADABLE = (apsw.Error, UnicodeDecodeError)

# When a file was written, when anything of it was changed, and its size.
_Stamp = tuple[int, int, int]


def beside(store: Path, ending: str) -> Path:
    """Return the path of what SQLite keeps beside a store, or beside its target where the store is a link."""
    return Path(os.path.realpath(store) + ending)


class _Seen(NamedTuple):
    """What one connection last saw: the file's stamp, SQLite's version of the data, and the number of commits."""

    stamp: _Stamp
    version: int
    commits: int


class Mark(NamedTuple):
    """Which store this is, and what was committed to it.

    ``settled`` is a commit that was surely in the file without its log; ``writers`` maps those who wrote since then to
    their last commits.
    """

    store: int
    commits: int
    settled: int
    writers: Mapping[str, int]

    def holds(self, earlier: Mark) -> bool:
        """Return whether another mark is of an earlier state, or the same: whoever wrote it last wrote here, too."""
        last = [writer for writer, commit in earlier.writers.items() if commit == earlier.commits]
        return earlier.commits <= self.commits and all(
            self.writers.get(writer, 0) >= earlier.commits for writer in last
        )


def mark_of(connection: apsw.Connection) -> Mark:
    """Return the mark of a store as a connection sees it; that of an empty file is 0."""
    found: dict[str, int] = {}
    if connection.execute("select exists (select 1 from sqlite_schema where name = 'counters')").get:
        rows = connection.execute("select name, value from counters")
        found = {str(name): int(value) for name, value in rows if isinstance(value, int)}
    writers = {name: value for name, value in found.items() if name.startswith(_WRITER)}
    return Mark(found.get("store", 0), found.get("commits", 0), found.get("settled", 0), writers)


def leave_log(connection: apsw.Connection, leave: bool) -> None:
    """Keep a connection, if it is the last one to close, from writing the log into the file."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(leave))


class Identity:
    """The file that a store had when it was opened, and its content as last seen."""

    def __init__(self, path: Path, vfs: str | None) -> None:
        self.overwritten = False
        self.settled = 0
        self._store = 0
        self._writer = _WRITER + secrets.token_hex(8)
        self._path = path
        self._vfs = vfs
        self._inode = (0, 0)
        self._stamp: _Stamp = (0, 0, 0)
        self._seen: WeakKeyDictionary[apsw.Connection, _Seen] = WeakKeyDictionary()
        self._header = b""

    def remember(self, connection: apsw.Connection, *, has_log: bool) -> None:
        """Note which file this is and what it holds."""
        self._inode = _inode(self._path)
        # In one snapshot: others may be writing at this moment.
        connection.execute("begin")
        try:
            self._stamp = _stamp(self._path)
            self._header = _header(connection)
            seen = mark_of(connection)
            self.settled, self._store = seen.settled, seen.store
            self._seen[connection] = _Seen(self._stamp, int(connection.pragma("data_version")), seen.commits)
            with suppress(*_UNREADABLE):
                self.settled = (self._alone() if has_log else seen).commits
        finally:
            connection.execute("rollback")

    @property
    def moved(self) -> bool:
        """Return whether another file has the name of the store, or none."""
        try:
            return _inode(self._path) != self._inode
        except OSError:
            return True

    @property
    def touched(self) -> bool:
        """Return whether anybody wrote into the file since it was last compared, as each checkpoint does."""
        return self._current() not in (None, self._stamp)

    def _current(self) -> _Stamp | None:
        """Return the stamp of the file, None where it was moved."""
        try:
            return None if self.moved else _stamp(self._path)
        except OSError:
            return None

    def compare(self, connection: apsw.Connection) -> None:
        """Find out, within a transaction, whether what was written into the file is the store's own."""
        last, stamp = self._seen.get(connection), self._current()
        if self.overwritten or stamp is None or (last is not None and last.stamp == stamp):
            return
        try:
            mark, version = mark_of(connection), int(connection.pragma("data_version"))
        except _UNREADABLE:
            self._stamp, self.overwritten = stamp, self._is_whole()
            return
        # Where no other connection committed, nothing can be there that this one has not seen.
        strange = last is not None and last.version == version and last.commits < mark.commits
        self.overwritten = strange or not self._fits(connection, mark)
        if not self.overwritten:
            self._stamp, self._seen[connection] = stamp, _Seen(stamp, version, mark.commits)
            self._store = mark.store

    def count_commit(self, connection: apsw.Connection) -> None:
        """Count the transaction that is about to end."""
        commits = _count_commit(connection, self._writer, self.settled)
        last = self._seen.get(connection)
        if last is not None:
            version = int(connection.pragma("data_version"))
            self._seen[connection] = last._replace(version=version, commits=commits)

    def has_strange_log(self, connection: apsw.Connection) -> bool:
        """Return whether the log beside a file that is being opened was written for another one.

        If it was, closing the connection leaves the file as it is.
        """
        log, strange = beside(self._path, "-wal"), False
        with suppress(OSError, *_UNREADABLE):
            if log.stat().st_size:
                leave_log(connection, True)
                strange = not self._fits(connection, mark_of(connection))
                leave_log(connection, strange)
        return strange

    def _fits(self, connection: apsw.Connection, seen: Mark) -> bool:
        """Return whether the file without its log is a state of the store that the connection sees."""
        if connection.pragma("journal_mode") != "wal":
            return self.settled <= seen.commits and self._store in (0, seen.store)
        header = _header(connection)
        if header[_FORMATS] != _WITH_LOG:
            return False
        try:
            alone = self._alone()
        except _UNREADABLE:
            return True  # only a part of the log was written into it, so it is not whole without the rest
        known = max(self.settled, seen.settled)
        # Before its first checkpoint, a file has no mark.
        same = alone.store == seen.store or (alone.store == known == 0 and self._header in (b"", header))
        if same and known <= alone.commits and seen.holds(alone):
            self.settled = alone.commits
            return True
        return not self._is_whole()

    def _is_whole(self) -> bool:
        """Return whether the file is sound without its log, as every store is that was copied while it was closed."""
        try:
            with self._open_alone() as connection:
                return bool(connection.execute("pragma quick_check(1)").get == "ok")
        except _UNREADABLE:
            return False

    def _alone(self) -> Mark:
        """Return the mark of the file as it is without its log."""
        with self._open_alone() as connection:
            return mark_of(connection)

    def _open_alone(self) -> closing[apsw.Connection]:
        # Through SQLite: closing the file by other means would release the locks that this process has on it.
        name = self._path.absolute().as_uri() + "?mode=ro&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return closing(apsw.Connection(name, flags=flags, vfs=self._vfs))


def _count_commit(connection: apsw.Connection, writer: str, settled: int) -> int:
    """Count a commit of one writer, forget who wrote nothing since ``settled``, and return the count."""
    connection.execute(
        """
        insert into counters (name, value) values ('store', :store), ('commits', 1), ('settled', :settled)
        on conflict (name) do update set value = case name
            when 'commits' then value + 1 when 'settled' then max(value, excluded.value) else value
        end
        """,
        {"store": secrets.randbits(62), "settled": settled},
    )
    connection.execute(
        "insert or replace into counters select ?, value from counters where name = 'commits'", (writer,)
    )
    connection.execute(
        "delete from counters where name glob ? and value < (select value from counters where name = 'settled')",
        (_WRITER + "*",),
    )
    return int(connection.execute("select value from counters where name = 'commits'").get)


def _header(connection: apsw.Connection) -> bytes:
    """Return the first bytes of the file without its log."""
    return connection.read("main", 0, 0, 100)[1]


def _inode(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file, which differ for another file of the same name."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _stamp(path: Path) -> _Stamp:
    """Return what changes when anybody writes into a file."""
    status = path.stat()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size
