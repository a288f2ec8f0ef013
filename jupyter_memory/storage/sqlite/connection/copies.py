"""Copies of a store: written under a name of their own, moved to their place whole, removed if a process left them.

A process keeps SQLite's exclusive lock on the copy that it writes, until the copy is in its place. So a copy without a
lock was left by a process that was killed, on this machine or on another one that uses the same drive.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import time

import apsw

from jupyter_memory.storage.sqlite.connection.file import open_file

_OURS = re.compile(r"\.jupyter-memory-(?P<process>\d+)-[0-9a-f]{16}\.copy")
# What SQLite may put beside a copy.
_COMPANION = re.compile(r"-(journal|wal|shm)$")
_DAY = 86_400


@contextmanager
def copied(connection: apsw.Connection, target: Path) -> Iterator[Path]:
    """Write a copy of a store beside ``target``, its owner's alone, and yield it; the caller moves it to its place.

    Raises:
        OSError: no file can be made there.
    """
    partial = target.with_name(f".jupyter-memory-{os.getpid()}-{token_hex(8)}.copy")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(open_file(partial)) as copy:
            copy.pragma("journal_mode", "memory")
            copy.pragma("locking_mode", "exclusive")
            copy.execute("begin exclusive; commit")
            with copy.backup("main", connection, "main") as pages:
                pages.step()
            _drop_forgotten(copy)
            copy.pragma("journal_mode", "delete")
            yield partial
    finally:
        for file in (partial, *(partial.with_name(partial.name + ending) for ending in ("-wal", "-journal"))):
            file.unlink(missing_ok=True)


def _drop_forgotten(copy: apsw.Connection) -> None:
    """Remove for good what the store could still take back: a copy holds nothing that was forgotten."""
    held = copy.execute("select 1 from sqlite_schema where name = 'forgotten'").get
    if held and copy.execute("select exists (select 1 from forgotten)").get:
        copy.execute("delete from forgotten")
        copy.execute("vacuum")


def copy_into(connection: apsw.Connection, target: Path) -> None:
    """Copy a store into a new file, which is there whole or not at all.

    Raises:
        OSError: the file cannot be made, or is there already.
    """
    with copied(connection, target) as copy:
        try:
            os.link(copy, target)  # never over a file that somebody made meanwhile
        except FileExistsError:
            raise
        except OSError:  # a drive without hard links
            if os.path.lexists(target):
                raise
            copy.rename(target)
        sync_folder(target)


def sync_folder(file: Path) -> None:
    """Wait until a new name in a folder would survive a power cut."""
    # Windows opens no folders, and some network drives do not know how to wait.
    with suppress(OSError), ExitStack() as after:
        folder = os.open(file.parent, os.O_RDONLY)
        after.callback(os.close, folder)
        os.fsync(folder)


def sweep(store: Path) -> list[Path]:
    """Remove the copies that killed processes left beside a store; return those that cannot be removed."""
    stuck = []
    for file in _abandoned(Path(os.path.realpath(store))):
        try:
            file.unlink(missing_ok=True)
        except OSError:
            stuck.append(file)
    return stuck


def _abandoned(store: Path) -> Iterator[Path]:
    """Yield the files of the copies beside a store that nobody writes any more."""
    # The names that earlier versions gave to the copy that was to replace a store, and to one before a migration.
    restoring = re.compile(rf"\.{re.escape(store.name)}(\.(?P<process>\d+))?\.restoring")
    migrated = re.compile(rf"{re.escape(store.name)}\.v\d+-\d{{8}}T\d+Z\.bak")
    copies: dict[str, list[str]] = defaultdict(list)
    try:
        for file in store.parent.iterdir():
            copies[_COMPANION.sub("", file.name)].append(file.name)
    except OSError:
        return
    for name, files in copies.items():
        copy, left = store.parent / name, False
        with suppress(OSError):  # somebody else removed it meanwhile
            if found := _OURS.fullmatch(name):
                left = _is_left(copy, int(found["process"]), younger_than=None)
            elif found := restoring.fullmatch(name):
                left = _is_left(copy, int(found["process"] or 0), younger_than=_DAY)
            elif migrated.fullmatch(name) and name in files and (len(files) > 1 or not copy.stat().st_size):
                left = _is_unfinished(copy)
        if left:
            yield from map(store.parent.joinpath, files)


def _is_left(copy: Path, process: int, *, younger_than: int | None) -> bool:
    """Return whether nobody writes a copy any more.

    A process that still runs may be about to lock its empty copy. Earlier versions unlocked a copy before they moved
    it: one ``younger_than`` so many seconds may be theirs.
    """
    try:
        status = copy.lstat()
    except FileNotFoundError:
        return True
    recent = not status.st_size if younger_than is None else time() - status.st_mtime < younger_than
    if recent and _runs(process):
        return False
    return _pages(copy) is not None


def _is_unfinished(copy: Path) -> bool:
    """Return whether a copy from before a migration was never completed: its journal then leads back to no page."""
    return _pages(copy) == 0


def _pages(copy: Path) -> int | None:
    """Return how many pages SQLite reads in a file, -1 if it is none of SQLite's; None while somebody has a lock on it.

    Where that cannot be told, the file counts as locked.
    """
    try:
        with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            count = int(connection.pragma("page_count"))
            connection.execute("begin exclusive")
            return count
    except (apsw.NotADBError, apsw.CorruptError):
        return -1
    except apsw.Error:
        return None


def _runs(process: int) -> bool:
    """Return whether a process of this number runs on this machine; on Windows, where asking would end it, it may."""
    if not process:
        return False
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
