"""Bringing a store's schema to the version that this package writes, with a copy kept before a major step."""

from __future__ import annotations

import logging
import os
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

import apsw

from jupyter_memory.errors import StoreDamaged, StoreTooNew

log = logging.getLogger(__name__)

# Written into the file's header, so that a store is told from any other SQLite file: "JMem".
APPLICATION_ID = int.from_bytes(b"JMem", "big")


@dataclass(frozen=True, slots=True)
class Migration:
    """A script that brings a store to ``version`` = 1000 * major + minor."""

    version: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the package's migrations, oldest first: ``schema/1000_foundation.sql`` brings version 1000."""
    scripts = (entry for entry in files(__package__).joinpath("schema").iterdir() if entry.name.endswith(".sql"))
    found = (Migration(int(entry.name.split("_")[0]), entry.read_text(encoding="utf-8")) for entry in scripts)
    return tuple(sorted(found, key=lambda migration: migration.version))


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version of a store, 0 for an empty file."""
    return int(connection.pragma("user_version"))


def check_version(connection: apsw.Connection, path: Path, steps: tuple[Migration, ...]) -> None:
    """Refuse a file that is not a store, and a store of a newer major version; a newer minor is fine.

    Raises:
        StoreDamaged: the file is a SQLite database of something else.
        StoreTooNew: a newer major version wrote it.
    """
    known = steps[-1].version
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
    elif version // 1000 > known // 1000:
        raise StoreTooNew(
            f"{path} was written by a newer jupyter-memory (store version {version // 1000}.{version % 1000}, "
            f"this one reads {known // 1000}.x). Update with: pip install -U jupyter-memory"
        )


def migrate(connection: apsw.Connection, path: Path, steps: tuple[Migration, ...]) -> Path | None:
    """Run the steps that a store lacks, all in one transaction; return the copy made before a major one, if any."""
    copy, before, wanted = None, version_of(connection), steps[-1].version
    if before >= wanted:
        return None
    if before and wanted // 1000 > before // 1000:
        copy = _copy(connection, path, before)
    try:
        connection.execute("begin immediate")
        # Asked again under the lock: another process may have taken these steps, and made its copy, meanwhile.
        missing = [step for step in steps if step.version > version_of(connection)]
        for step in missing:
            connection.execute(step.sql).fetchall()
            connection.pragma("user_version", step.version)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        _discard(copy)
        raise
    if not missing:
        _discard(copy)
        return None
    log.info("store brought from version %d to %d", before, wanted)
    return copy


def _copy(connection: apsw.Connection, path: Path, version: int) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = path.with_name(f"{path.name}.v{version // 1000}-{stamp}.bak")
    copy_into(connection, target)
    return target


def _discard(copy: Path | None) -> None:
    if copy is not None:
        copy.unlink(missing_ok=True)


def copy_into(connection: apsw.Connection, target: Path) -> None:
    """Copy a store page by page into a new file, its owner's alone; a copy that fails leaves nothing behind.

    Raises:
        OSError: the file cannot be made, or is there already.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(apsw.Connection(str(target))) as copy:
            with copy.backup("main", connection, "main") as pages:
                pages.step()
            copy.pragma("journal_mode", "delete")
    except BaseException:
        target.unlink(missing_ok=True)
        raise
