"""A store in SQLite, its backup, and the room that forgetting needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw
import numpy as np

from jupyter_memory.errors import InputError, StoreDamaged, StoreError, StoreFull, StoreOpen
from jupyter_memory.storage.snapshot import Storage, by_kind, counts
from jupyter_memory.storage.sqlite import checks, file, scrubbing, undo
from jupyter_memory.storage.sqlite.copies import copied, copy_into, migrations, sweep, sync_folder
from jupyter_memory.storage.sqlite.database import Database, translate_errors
from jupyter_memory.storage.sqlite.file import Session, check_version, is_cut, open_file, reserve_of, version_of
from jupyter_memory.storage.sqlite.keyword import KeywordIndex
from jupyter_memory.storage.sqlite.undo import SqliteForgotten
from jupyter_memory.storage.sqlite.vectors import VectorIndex
from jupyter_memory.text.paths import absolute, make_private
from jupyter_memory.types import Filters

Result = TypeVar("Result")


def restore(source: Path, to: Path, *, overwrite: bool) -> None:
    """Make a store out of a backup, checked before anything at ``to`` is touched."""
    source, to = absolute(source), absolute(to)
    if not source.is_file():
        raise InputError(f"There is no backup at {source}.")
    with translate_errors(source), closing(open_file(source, read_only=True)) as reader:
        # First, so that nobody allows a store to be overwritten by a file that is not one.
        check_version(reader, source, (migrations()[0].version, migrations()[-1].version))
        if version_of(reader) == 0:
            raise apsw.CorruptError("the file is empty")
        if is_cut(reader, source):
            raise apsw.CorruptError("its last bytes are missing")
        if reader.check("quick_check(1)"):
            raise apsw.CorruptError("quick_check found damage")
        for finding in checks.foreign(reader):
            raise InputError(f"{source} was not restored. {finding}")

        if os.path.lexists(to) and not overwrite:
            raise InputError(f"{to} exists already. Say overwrite=True (--overwrite) to put the backup in its place.")
        # A link keeps pointing to the store: its target is replaced, with the log next to the target.
        _put(reader, Path(os.path.realpath(to)))


def _put(reader: Session, to: Path) -> None:
    try:
        make_private(to.parent)
    except OSError as error:
        raise InputError(f"No store can be made at {to}: {error.strerror}.") from None
    sweep(to)
    with _errors_of(to), copied(reader, to) as fresh:
        if to.exists():
            with translate_errors(to), closing(open_file(to)) as guard:
                try:
                    # An exclusive lock in WAL mode is granted only to the file's one connection.
                    guard.pragma("locking_mode", "exclusive")
                    guard.pragma("journal_mode", "delete")
                    guard.execute("begin exclusive")
                    guard.execute("rollback")
                except apsw.BusyError:
                    raise StoreOpen(
                        f"{to} is open, here or in another program. Close it first: shut down the kernels "
                        "that use it, or call store.close()."
                    ) from None
                except (apsw.NotADBError, apsw.CorruptError):
                    pass  # a damaged store is what a backup is for
        # Before the copy is there: if this is killed, SQLite must not take the old log for that of the copy.
        for leftover in ("-wal", "-shm", "-journal"):
            to.with_name(to.name + leftover).unlink(missing_ok=True)
        fresh.replace(to)
        sync_folder(to)


@contextmanager
def _errors_of(target: Path) -> Iterator[None]:
    with translate_errors(target):
        try:
            yield
        except OSError as error:
            cure = "" if target.parent.is_dir() else f" Make the folder {target.parent} first, or name another."
            raise InputError(f"No file can be made at {target}: {error.strerror}.{cure}") from None


# Forgetting needs room for the log of its own change, and for moving into the file what the log held before. Where the
# disk is nearly full, a reserve beside the store keeps that much, and goes when something must be forgotten.

_RESERVE = 8_000_000
# With less than this free, a reserve is made; with twice as much, it goes.
_LOW = 8 * _RESERVE
# Free pages that one transaction gives back, after it has moved the file's last pages into them.
_GIVEN_BACK = 2_000


class SqliteStorage(Storage):
    database: Database
    path: Path

    def __init__(self, database: Database) -> None:
        vectors = VectorIndex()
        self._owners = vectors.owners
        super().__init__(database, database.path, KeywordIndex(vectors.owners), vectors)
        self.forgotten = SqliteForgotten(database, self)
        database.find_damage = self._first_damage

    def change(
        self, work: Callable[[Session], Result], /, *, at_once: float | None = None, yielding: bool = False
    ) -> Result:
        with self.database.write(at_once=at_once, yielding=yielding) as session:
            result = work(session)
        if at_once is None:
            self._keep_reserve()
        return result

    def remove(self, work: Callable[[Session], Result], /, *, compact_at: float = 0.5) -> Result:
        if not self.read_only:
            self._keep_reserve()
        try:
            result = self.change(work)
        except StoreFull:
            self._make_room()
            try:
                result = self.change(work)
            except StoreFull:
                raise StoreFull(
                    f"The disk of {self.path} is full, and forgetting needs about {_RESERVE // 1_000_000} MB of it for "
                    "a moment. Nothing was forgotten. Remove or move other files, such as those in the trash, and "
                    "forget again."
                ) from None
        self.tidy(compact_at=compact_at)
        return result

    def scrub(self) -> None:
        self.tidy()

    def tidy(self, *, compact_at: float = 0.5) -> None:
        database = self.database
        with database.read() as session:
            needed = scrubbing.pending(session) is not None
        if needed:
            sweep(self.path)
            database.scrub()
            if database.traces_may_remain and reserve_of(self.path).exists():
                self._make_room()
                database.scrub()
            free, pages = map(int, map(database.connection.pragma, ("freelist_count", "page_count")))
            if free > compact_at * pages:
                with suppress(StoreError):
                    for _ in range(0, free, _GIVEN_BACK):
                        with database.write(yielding=True) as session:
                            session.execute(f"pragma incremental_vacuum({_GIVEN_BACK})").fetchall()
                database.scrub()

    kept = staticmethod(undo.kept)

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        return []

    def sample(self, session: Session, count: int, within: Filters, /) -> list[int]:
        if within:
            ids = self._owners.matching(session, within)
            places = np.linspace(0, ids.size - 1, min(count, ids.size))
            evenly: list[int] = ids[places.astype(np.int64)].tolist()
            return evenly
        last = session.value(session.dialect.newest_chunk)
        wanted = sorted(set(np.linspace(1, last, min(count, last)).astype(np.int64).tolist())) if last else []
        there = f"select id from chunks where {session.dialect.among('id', 'wanted')} order by id"
        return session.column(there, wanted=wanted)

    def identity(self) -> object:
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def stats(self) -> dict[str, Any]:
        with self.database.read() as session:
            return {
                "store": str(self.path),
                **counts(self, session),
                "bytes": file.on_disk(self.path),
                "journal": session.pragma("journal_mode"),
                "version": session.pragma("user_version"),
                "read_only": self.read_only,
                "scrub_pending": scrubbing.pending(session) is not None,
            }

    def sizes(self) -> Mapping[str, int]:
        # Together all that the store takes on disk: "free" is room in the file that is used again, "log" what SQLite
        # keeps beside it and writes into it later. Every page of the file is looked at, 3 GB in a second.
        with self.database.read() as session:
            # A page of an index counts for its table.
            pages: Any = session.execute(
                """
                select coalesce(tbl_name, dbstat.name), sum(pgsize)
                from dbstat left join sqlite_schema on sqlite_schema.name = dbstat.name
                where aggregate = true group by 1
                """
            )
            found = {**by_kind(pages), "free": _pages(session, "freelist_count")}
            # Pages that are only in the log are part of the file as it is read.
            return {**found, "log": max(0, file.on_disk(self.path) - sum(found.values()))}

    def held(self) -> int:
        with self.database.read() as session:
            return _pages(session, "page_count") - _pages(session, "freelist_count")

    def problems(self) -> Iterable[str]:
        return checks.problems(self.database, self.vectors)

    def backup(self, target: Path, /) -> None:
        with self.database.read() as session:
            if session.check("quick_check(1)"):
                # The copy would be damaged, too.
                raise StoreDamaged(
                    f"{self.path} is damaged, so no backup was made. `jupyter-memory doctor` shows what is wrong. "
                    "Restore an earlier backup with `jupyter-memory restore`."
                )
        target = absolute(target)
        if target.exists():
            raise InputError(f"{target} exists already. Choose another name: a backup never overwrites.")
        sweep(target)
        with _errors_of(target):
            copy_into(self.database.connection, target)

    def _keep_reserve(self) -> None:
        reserve = reserve_of(self.path)
        with suppress(OSError):
            free = shutil.disk_usage(self.path.parent).free
            if free >= 2 * _LOW:
                reserve.unlink(missing_ok=True)
            elif free < _LOW:
                there = reserve.stat().st_size if reserve.exists() else 0
                wanted = min(_RESERVE, (free + there) // 2)
                if wanted > 2 * there:
                    reserve.unlink(missing_ok=True)
                    with os.fdopen(os.open(reserve, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as room:
                        room.write(os.urandom(wanted))

    def _make_room(self) -> None:
        # That of the reserve, of interrupted copies and of the log.
        reserve_of(self.path).unlink(missing_ok=True)
        sweep(self.path)
        with suppress(StoreError), translate_errors(self.path):
            self.database.connection.execute("pragma wal_checkpoint(truncate)").fetchall()

    def _first_damage(self) -> str:
        try:
            return next(iter(checks.damage(self.database, self.vectors)), "")
        except StoreDamaged as error:
            return str(error)


def _pages(session: Session, pragma: str) -> int:
    return int(session.pragma(pragma)) * int(session.pragma("page_size"))


def versions() -> dict[str, str]:
    """Return the versions of SQLite and of its extension for vectors, by name."""
    from importlib.metadata import version

    return {"SQLite": apsw.sqlite_lib_version(), "sqlite-vec": version("sqlite-vec")}
