"""Copies of a store, and changes of its layout, each after a copy."""

from __future__ import annotations

import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex

import apsw

from jupyter_memory.storage.sqlite.file import APPLICATION_ID, open_file, put_in_place, version_of
from jupyter_memory.storage.sqlite.scrubbing import transaction

_OURS = re.compile(r"\.jupyter-memory-(?P<process>\d+)-[0-9a-f]{16}\.copy")
_COMPANION = re.compile(r"-(journal|wal|shm)$")  # what SQLite may put beside a copy


@contextmanager
def copied(connection: apsw.Connection, target: Path) -> Iterator[Path]:
    """Write a copy of a store beside ``target``, its owner's alone, and yield it; the caller moves it to its place."""
    partial = target.with_name(f".jupyter-memory-{os.getpid()}-{token_hex(8)}.copy")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(open_file(partial)) as copy:
            copy.pragma("journal_mode", "memory")
            copy.pragma("locking_mode", "exclusive")
            copy.execute("begin exclusive; commit")
            with copy.backup("main", connection, "main") as pages:
                pages.step()
            if copy.execute("select exists (select 1 from forgotten)").get:
                copy.execute("delete from forgotten")
                copy.execute("vacuum")
            copy.pragma("journal_mode", "delete")
            yield partial
    finally:
        for file in (partial, *(partial.with_name(partial.name + ending) for ending in ("-wal", "-journal"))):
            file.unlink(missing_ok=True)


def copy_into(connection: apsw.Connection, target: Path) -> None:
    """Copy a store into a new file, which is there whole or not at all."""
    with copied(connection, target) as copy:
        put_in_place(copy, target)
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
    folder = Path(os.path.realpath(store)).parent
    copies: dict[str, list[Path]] = defaultdict(list)
    try:
        for file in folder.iterdir():
            copies[_COMPANION.sub("", file.name)].append(file)
    except OSError:
        return []
    stuck = []
    for name, parts in copies.items():
        found, left = _OURS.fullmatch(name), False
        with suppress(OSError):  # somebody else removed it meanwhile
            left = found is not None and _is_left(folder / name, int(found["process"]))
        for file in parts if left else ():
            try:
                file.unlink(missing_ok=True)
            except OSError:
                stuck.append(file)
    return stuck


def _is_left(copy: Path, process: int) -> bool:
    try:
        if not copy.lstat().st_size:
            # A process that still runs may be about to lock its empty copy.
            with suppress(PermissionError):
                if os.name == "posix":
                    os.kill(process, 0)
            return False
    except FileNotFoundError:
        return True
    except (ProcessLookupError, OverflowError):
        pass  # it ended
    try:
        with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            connection.execute("begin exclusive")
    except (apsw.NotADBError, apsw.CorruptError):
        return True
    except apsw.Error:
        return False
    return True


# The schema of a store's file, and what brings a file of an earlier release to it.

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Migration:
    """A script that brings a store to ``version`` = 1000 * major + minor; older packages can use a newer minor one."""

    version: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the schema of the first release, and the migrations since then."""
    schema = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    return (Migration(2001, schema),)


def migrate(connection: apsw.Connection, path: Path, steps: Sequence[Migration]) -> Path | None:
    """Run the steps that a store lacks, all in one transaction; return the copy made before a major one, if any."""
    copy, done, before, wanted = None, False, version_of(connection), steps[-1].version
    if before >= wanted:
        return None
    if before and wanted // 1000 > before // 1000:
        copy = path.with_name(f"{path.name}.v{before // 1000}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{os.getpid()}.bak")
        copy_into(connection, copy)
    try:
        with transaction(connection, "immediate"):
            # Checked again under the lock: another process may have taken these steps, and made its copy, meanwhile.
            missing = [step for step in steps if step.version > version_of(connection)]
            for step in missing:
                connection.execute(step.sql).fetchall()
                connection.pragma("user_version", step.version)
            connection.pragma("application_id", APPLICATION_ID)
        done = bool(missing)
    finally:
        # Whatever ended it, also Ctrl-C.
        if copy is not None and not done:
            copy.unlink(missing_ok=True)
    if not done:
        return None
    log.info("store brought from version %d to %d", before, wanted)
    return copy
