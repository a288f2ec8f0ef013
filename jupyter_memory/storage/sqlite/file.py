"""How a file is opened and recognised, its size, and a connection to it as a session."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

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
from jupyter_memory.storage.sql import SQLITE
from jupyter_memory.storage.sqlite import scrubbing
from jupyter_memory.text.paths import absolute, make_private

# Which file a store has open, so that another one that takes its name, or its bytes, is recognised (docs/internals.md):
# else the log of the old store would be mixed into a file that was copied over it. Each transaction is counted in the
# store, with who wrote it.

# Where the header of a file says how it is written, and that it has a log: never on a copy that a backup made.
_FORMATS = slice(18, 20)
_WITH_LOG = b"\x02\x02"
# How the counters of those who write begin.
_WRITER = "writer "
_UNREADABLE = (apsw.Error, UnicodeDecodeError)

_Stamp = tuple[int, int, int]  # when a file was written, when anything of it was changed, and its size


def beside(store: Path, ending: str) -> Path:
    """Return the path of what SQLite keeps beside a store, or beside its target where the store is a link."""
    return Path(os.path.realpath(store) + ending)


def reserve_of(store: Path) -> Path:
    """Return the path of the room that is kept for forgetting on a full disk."""
    store = Path(os.path.realpath(store))
    return store.with_name(f".{store.name}.reserve")


class _Seen(NamedTuple):
    stamp: _Stamp
    version: int
    commits: int


class Mark(NamedTuple):
    """Which store this is, and what was committed to it: in all, surely in the file (``settled``), and by whom."""

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


def _mark_of(connection: apsw.Connection) -> Mark:
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
        self._inode, _ = _state(self._path)
        # In one snapshot: others may be writing at this moment.
        with scrubbing.transaction(connection, "deferred"):
            _, self._stamp = _state(self._path)
            self._header = _header(connection)
            seen = _mark_of(connection)
            self.settled, self._store = seen.settled, seen.store
            self._seen[connection] = _Seen(self._stamp, int(connection.pragma("data_version")), seen.commits)
            with suppress(*_UNREADABLE):
                self.settled = (self._alone() if has_log else seen).commits

    @property
    def moved(self) -> bool:
        """Return whether another file has the name of the store, or none."""
        return self._current() is None

    @property
    def touched(self) -> bool:
        """Return whether anybody wrote into the file since it was last compared, as each checkpoint does."""
        return self._current() not in (None, self._stamp)

    def _current(self) -> _Stamp | None:
        try:
            inode, stamp = _state(self._path)
        except OSError:
            return None
        return stamp if inode == self._inode else None

    def compare(self, connection: apsw.Connection) -> None:
        """Find out, within a transaction, whether what was written into the file is the store's own."""
        last, stamp = self._seen.get(connection), self._current()
        if self.overwritten or stamp is None or (last is not None and last.stamp == stamp):
            return
        try:
            mark, version = _mark_of(connection), int(connection.pragma("data_version"))
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
        connection.execute(
            """
            insert into counters (name, value) values ('store', :store), ('commits', 1), ('settled', :settled)
            on conflict (name) do update set value = case name
                when 'commits' then value + 1 when 'settled' then max(value, excluded.value) else value
            end
            """,
            {"store": secrets.randbits(62), "settled": self.settled},
        )
        ours = "insert or replace into counters select ?, value from counters where name = 'commits' returning value"
        commits = int(connection.execute(ours, (self._writer,)).get)
        connection.execute(
            "delete from counters where name glob ? and value < (select value from counters where name = 'settled')",
            (_WRITER + "*",),
        )
        last = self._seen.get(connection)
        if last is not None:
            version = int(connection.pragma("data_version"))
            self._seen[connection] = last._replace(version=version, commits=commits)

    def has_strange_log(self, connection: apsw.Connection) -> bool:
        """Return whether the log beside a file was written for another one; then closing leaves the file as it is."""
        log, strange = beside(self._path, "-wal"), False
        with suppress(OSError, *_UNREADABLE):
            if log.stat().st_size:
                leave_log(connection, True)
                strange = not self._fits(connection, _mark_of(connection))
                leave_log(connection, strange)
        return strange

    def _fits(self, connection: apsw.Connection, seen: Mark) -> bool:
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
        try:
            with self._open_alone() as connection:
                return bool(connection.execute("pragma quick_check(1)").get == "ok")
        except _UNREADABLE:
            return False

    def commits_in_file(self) -> int:
        """Return how many commits the file holds without its log, -1 if it cannot be read without."""
        try:
            return self._alone().commits
        except _UNREADABLE:
            return -1

    def _alone(self) -> Mark:
        with self._open_alone() as connection:
            return _mark_of(connection)

    def _open_alone(self) -> closing[apsw.Connection]:
        # Through SQLite: closing the file by other means would release the locks that this process has on it.
        return closing(open_file(self._path, read_only=True, frozen=True, vfs=self._vfs))


def _header(connection: apsw.Connection) -> bytes:
    return connection.read("main", 0, 0, 100)[1]


def _state(path: Path) -> tuple[tuple[int, int], _Stamp]:
    status = path.stat()
    return (status.st_dev, status.st_ino), (status.st_mtime_ns, status.st_ctime_ns, status.st_size)


# Every connection of the package comes from `open_file`.

# Written into the file's header, to tell a store from any other SQLite file: "JMem".
APPLICATION_ID = int.from_bytes(b"JMem", "big")
# What a file system without working shared memory or locks answers when WAL is tried on it, and a full disk.
_WAL_REFUSED = (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError, apsw.FullError)


# Rows that one statement writes: more rows gain nothing, and the statement takes longer to compile than to run.
TOGETHER = 100
OF_WORDS = 5_000  # FTS5 flushes before each statement of several rows, so there should be few such statements
# A megabyte of pictures.
_TOGETHER = {"keyword": OF_WORDS, "thumbnails": 50}
_WITH_SPACE = ("memories", "files", "folders")


class Session(apsw.Connection):
    """A connection to a store, as what is read and changed through; `storage.sql.Session` says what each does."""

    dialect = SQLITE
    space = ""

    def rows(self, sql: str, /, **parameters: Any) -> list[Any]:
        return self.execute(sql, self.dialect.bound(parameters)).fetchall()

    def column(self, sql: str, /, **parameters: Any) -> list[Any]:
        return [row[0] for row in self.rows(sql, **parameters)]

    def value(self, sql: str, /, **parameters: Any) -> Any:
        row: Any = self.execute(sql, self.dialect.bound(parameters)).fetchone()
        return None if row is None else row[0]

    def changed(self, sql: str, /, **parameters: Any) -> int:
        self.execute(sql, self.dialect.bound(parameters)).fetchall()
        return self.changes()

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, known: str = "") -> int:
        if not rows:
            return 0
        columns = [name for name in rows[0] if name != "space" or table in _WITH_SPACE]
        begin = f"insert into {table} ({', '.join(columns)}) values "
        conflict = f" on conflict ({self.dialect.unique(table)}) {known}" if known else ""
        together = _TOGETHER.get(table, TOGETHER)
        before = self.total_changes()
        for start in range(0, len(rows), together):
            part = rows[start : start + together]
            values = [row[name] for row in part for name in columns]
            places = ", ".join([f"({', '.join('?' * len(columns))})"] * len(part))
            self.execute(begin + places + conflict, values, can_cache=len(part) in (1, TOGETHER))
        return self.total_changes() - before

    def numbered(self, table: str, number: str, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        # From the highest that the table ever gave out.
        last = int(self.value("select seq from sqlite_sequence where name = :table", table=table) or 0)
        self.insert(table, [{number: last + place, **row} for place, row in enumerate(rows, 1)])
        return list(range(last + 1, last + 1 + len(rows)))

    def lock(self, keys: Sequence[int]) -> list[int]:
        return sorted(set(keys))

    def lock_files(self, paths: Sequence[str], space: str) -> None:
        """Do nothing: the writer is alone."""

    @property
    def written(self) -> int:
        return self.total_changes()

    @property
    def state(self) -> str:
        if self.txn_state("main") == apsw.SQLITE_TXN_WRITE:
            return f"{id(self)} {self.total_changes()}"  # which may be taken back
        return str(self.value("select value from counters where name = 'commits'"))

    def include(self, space: str) -> None:
        """Do nothing: a file is not divided into spaces."""

    def note_removal(self) -> None:
        scrubbing.note_removal(self)

    def check(self, pragma: str) -> list[str]:
        # It compares the index with the list of its pages that FTS5 read last; a query makes FTS5 read it anew.
        with suppress(apsw.Error):
            self.value("select 1 from keyword where rowid = 0")
        return [finding for finding in self.column(f"pragma {pragma}") if finding != "ok"]

    def forget_asked(self, keys: Sequence[int]) -> bool:
        before = self.total_changes()
        ids = "select id from memories where key in (select value from json_each(:keys))"
        shown = f"exists (select 1 from json_each(hits) where value in ({ids}))"
        self.changed(f"delete from searches where {shown}", keys=list(keys))
        self.changed(f"delete from feedback where memory in ({ids})", keys=list(keys))
        return self.total_changes() > before


def version(connection: apsw.Connection) -> str:
    """Return a value that differs between any two states of the keyword index, and so of the chunks."""
    # FTS5 writes its averages (1) and its structure (10) anew with every change. An index built anew may look just
    # like an earlier one, so rebuilding counts as a removal.
    return str(
        connection.execute(
            """
            select group_concat(part) from (
                select hex(block) as part from keyword_data where id in (1, 10)
                union all select value from counters where name = 'removals'
            )
            """
        ).get
    )


def removals(connection: apsw.Connection) -> tuple[str, int]:
    """Return two values: while the first is the same, chunks were only added or, if the second differs, removed."""
    rewritten, removed = connection.execute(
        """
        select coalesce((select value from counters where name = 'rewritten'), 0), value
        from counters where name = 'removals'
        """
    ).fetchone() or (0, 0)
    return str(rewritten), int(removed)


def outdate(connection: Session, *, known: bool = True) -> None:
    """Make every process read its caches of the indexes anew, or only check which chunks are gone."""
    connection.changed("update counters set value = value + 1 where name = 'removals'")
    if known:
        connection.changed(
            "insert into counters values ('rewritten', 1) on conflict (name) do update set value = value + 1"
        )


def is_cut(connection: apsw.Connection, path: Path) -> bool:
    """Return whether a file lacks its last bytes, unless they may be in its log."""
    log = beside(path, "-wal")
    return path.stat().st_size % int(connection.pragma("page_size")) > 0 and not (log.exists() and log.stat().st_size)


def open_file(path: Path, *, read_only: bool = False, frozen: bool = False, vfs: str | None = None) -> Session:
    """Return a connection to a SQLite file, whatever it holds; `check_version` refuses what is not a store.

    ``frozen`` promises that nobody writes the file meanwhile, so that SQLite needs neither locks nor a log.
    """
    if not read_only:
        return Session(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    name = path.absolute().as_uri() + "?mode=ro" + ("&immutable=1" if frozen else "")
    return Session(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=vfs)


def put_in_place(copy: Path, target: Path) -> None:
    """Give a file that is whole its name, never over a file that somebody made meanwhile."""
    try:
        os.link(copy, target)
    except FileExistsError:
        raise
    except OSError:  # a drive without hard links
        if os.path.lexists(target):
            raise
        copy.rename(target)


def version_of(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def check_version(connection: apsw.Connection, path: Path, versions: tuple[int, int]) -> None:
    """Refuse a file that is not a store, and one older or of a newer major version than these, oldest and newest."""
    oldest, newest = versions
    # In one snapshot: another process may be making the store at this moment.
    with scrubbing.transaction(connection, "deferred"):
        version, mark = version_of(connection), connection.pragma("application_id")
        tables = connection.execute("select count(*) from sqlite_schema").get
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
    """The file of one store, from which its connections come; ``notices`` are removed once they are no longer true."""

    def __init__(self, path: Path, vfs: str | None, versions: tuple[int, int], read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.created = False
        self.has_log = True
        self.notices: list[str] = []
        self._vfs = vfs
        self._versions = versions
        self.identity = Identity(path, vfs)
        self._is_open = False
        self._is_full = False

    @property
    def log(self) -> Path:
        return beside(self.path, "-wal")

    def make(self) -> None:
        """Make the file readable by its owner only, before SQLite can make it with the umask's rights."""
        absolute(self.path)  # which refuses what SQLite cannot name
        try:
            folder, there = self.path.is_dir(), self.path.exists()
            self.created = not (there or self.read_only)
            if self.created:
                make_private(self.path.parent)
                self._make_first_page(Path(os.path.realpath(self.path)))
            status = self.path.stat()
        except (OSError, ValueError) as error:
            raise StoreReadOnly(
                f"No store can be made at {self.path!s:.500}: {getattr(error, 'strerror', None) or 'no such path'}. "
                "Choose another path with JUPYTER_MEMORY_PATH, --store or open_store(path)."
            ) from None
        if folder:
            raise InputError(f"{self.path} is a folder; a store is one file, such as {self.path / 'memory.sqlite'}.")
        if not os.access(self.path, os.R_OK):
            raise StoreError(f"{self.path} cannot be read: check its owner and permissions.")
        if status.st_size == 0:
            # A store is never empty, and only its owner can read it; what `touch` or sqlite3 makes, others can read.
            if status.st_mode & 0o077 == 0 or self.log.exists():
                raise StoreDamaged(
                    f"{self.path} is empty: what it held is lost. Restore a backup: jupyter-memory restore --overwrite "
                    f"BACKUP. If it never was a store, remove it: rm '{self.path}'"
                )
            self.notices.append("The store's file was empty. If it held memories before, restore a backup of it.")
        if not (self.read_only or (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))):
            self.read_only = True
            self.notices.append(f"{self.path} is read-only: searches work, nothing can be stored or forgotten.")

    @staticmethod
    def _make_first_page(target: Path) -> None:
        # Whole or not at all, so that an empty file is never a store that was just begun.
        with closing(apsw.Connection(":memory:")) as empty:
            empty.pragma("auto_vacuum", "incremental")
            empty.pragma("application_id", APPLICATION_ID)
            page = empty.serialize("main")
        partial = target.with_name(f".jupyter-memory-{os.getpid()}-{secrets.token_hex(8)}.copy")
        try:
            with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(page)
            # Another process may be faster, and sweep this away.
            with suppress(FileExistsError, FileNotFoundError):
                put_in_place(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    def connect(self, patience: int) -> Session:
        """Return a new connection, which waits ``patience`` milliseconds for other writers."""
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
            except _WAL_REFUSED as error:
                connection.close()
                if self.read_only or not self.has_log:
                    raise
                self._is_full = (
                    isinstance(error, apsw.FullError)
                    or getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
                )
                with closing(self._open()) as alone:
                    alone.pragma("locking_mode", "exclusive")
                    check_version(alone, self.path, self._versions)
                    # A journal in memory needs no room, and the header that changes is within one sector.
                    try:
                        alone.pragma("journal_mode", "memory")
                    except apsw.FullError:
                        reserve_of(self.path).unlink(missing_ok=True)  # for what the log holds
                        alone.pragma("journal_mode", "memory")
                    if self._is_full:
                        beside(self.path, "-shm").unlink(missing_ok=True)
                self._give_up_log()

                connection = unless_ready.enter_context(closing(self._open()))
                self._configure(connection, patience)
            unless_ready.pop_all()
        return connection

    def remember(self, connection: apsw.Connection) -> None:
        """Note which file this is, so that another one that takes its name, or its bytes, is recognised."""
        self.identity.remember(connection, has_log=self.has_log)
        self._is_open = True
        # That of a process that was killed when it left the log: with a log, nobody uses it.
        if self.has_log and not self.read_only:
            beside(self.path, "-journal").unlink(missing_ok=True)

    def scrub(self, alone: apsw.Connection, patience: float) -> bool:
        """Overwrite what removed rows left, with a connection that was made for this; return whether all is gone."""
        # Opened by SQLite: if Python closed a file of the same name, this process would lose SQLite's locks on it.
        flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0]
        pages = apsw.VFSFile(self._vfs or "", str(self.path), flags)
        try:
            return scrubbing.scrub(alone, pages, self.log, patience, self.check_content, self.identity.commits_in_file)
        finally:
            pages.xClose()

    def check_identity(self) -> None:
        """Refuse a file that is no longer the store: what is written there would be lost."""
        if self.identity.moved:
            raise StoreClosed(
                f"{self.path} was moved, removed or replaced after it was opened, so nothing was read or written. "
                "Close this store and open it again."
            )

    def check_content(self, connection: apsw.Connection) -> None:
        """Refuse to read or write, within a transaction, a file that was overwritten with another one."""
        self.identity.compare(connection)
        self.refuse_overwritten()

    def refuse_newer(self) -> None:
        """Refuse a file that a later version of this package upgraded since it was opened."""
        with suppress(apsw.Error), closing(self._open()) as fresh:
            check_version(fresh, self.path, self._versions)

    def refuse_overwritten(self) -> None:
        if self.identity.overwritten:
            raise StoreClosed(
                f"Another file was copied over {self.path} after it was opened, so nothing was read or written. "
                "Close this store everywhere (shut down the kernels that use it), then open it again."
            )

    def note(self, notice: str, holds: bool) -> None:
        while notice in self.notices:
            self.notices.remove(notice)
        if holds:
            self.notices.append(notice)

    def _open(self) -> Session:
        if not self.read_only:
            return open_file(self.path, vfs=self._vfs)
        # A store in WAL mode on a disk that cannot be written opens only as one that nobody changes, unless whoever
        # writes it left the log and its index there.
        shared = all(beside(self.path, ending).exists() for ending in ("-wal", "-shm"))
        frozen = not (shared or os.access(self.path.parent, os.W_OK))
        return open_file(self.path, read_only=True, frozen=frozen, vfs=self._vfs)

    def _configure(self, connection: apsw.Connection, patience: int) -> None:
        # What is not a store is refused before anything is written to it.
        connection.set_busy_timeout(patience)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.pragma("foreign_keys", True)
        connection.pragma("temp_store", "memory")  # no user text in temporary files
        # In KiB: in a large store, one search reads some 8 MB, of which the usual 2 MB keep too little for its own use.
        connection.pragma("cache_size", -16_000)
        check_version(connection, self.path, self._versions)
        if self.read_only:
            return
        connection.pragma("secure_delete", True)
        connection.pragma("wal_autocheckpoint", 0)  # the log is moved by `Database`
        begun = monotonic()
        while self.has_log:
            try:
                if connection.pragma("journal_mode", "wal") != "wal":
                    self._give_up_log()
                break
            except apsw.BusyError:
                # Here SQLite does not wait for other processes, which may be making the same store.
                if monotonic() - begun > patience / 1000:
                    raise
                sleep(0.005)
        if not self.has_log:
            connection.pragma("journal_mode", "delete" if self._is_full else "truncate")
        version_of(connection)  # the first read is where shared memory fails
        # Notes are typed once, so a power cut must not take them.
        connection.pragma("synchronous", "full")

    def _remove_strange_log(self) -> None:
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

    def _give_up_log(self) -> None:
        # This file system cannot do better (network homes), or has no room.
        self.has_log = False
        self.note(
            "The disk is full. You can search and forget, but not add anything: make room, then open the store again."
            if self._is_full
            else "SQLite's write-ahead log does not work on this file system. The store works, but searches wait while "
            "another process writes.",
            True,
        )


def on_disk(path: Path) -> int:
    """Return the bytes of a store with what SQLite keeps beside it."""
    parts = (beside(path, ending) for ending in ("", "-wal", "-shm"))
    return sum(part.stat().st_size for part in parts if part.exists())
