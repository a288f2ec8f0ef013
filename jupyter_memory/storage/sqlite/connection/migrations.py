"""Migrations of a store's schema to the version that this package writes; a major step keeps a copy of the store."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

import apsw

from jupyter_memory.storage.sqlite.connection.copies import copy_into
from jupyter_memory.storage.sqlite.connection.file import APPLICATION_ID, version_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Migration:
    """A script that migrates a store to ``version`` = 1000 * major + minor."""

    version: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the package's migrations, oldest first: ``schema/1000_foundation.sql`` makes version 1000."""
    scripts = (entry for entry in files(__package__).joinpath("schema").iterdir() if entry.name.endswith(".sql"))
    found = (Migration(int(entry.name.split("_")[0]), entry.read_text(encoding="utf-8")) for entry in scripts)
    return tuple(sorted(found, key=lambda migration: migration.version))


def migrate(connection: apsw.Connection, path: Path, steps: Sequence[Migration]) -> Path | None:
    """Run the steps that a store lacks, all in one transaction; return the copy made before a major one, if any."""
    copy, before, wanted = None, version_of(connection), steps[-1].version
    if before >= wanted:
        return None
    if before and wanted // 1000 > before // 1000:
        copy = _copy(connection, path, before)
    try:
        connection.execute("begin immediate")
        # Checked again under the lock: another process may have taken these steps, and made its copy, meanwhile.
        missing = [step for step in steps if step.version > version_of(connection)]
        for step in missing:
            connection.execute(step.sql).fetchall()
            connection.pragma("user_version", step.version)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("commit")
    except BaseException:
        # Whatever ended it, also Ctrl-C: half a migration must not stay, and nobody needs the copy then.
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
    while True:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        target = path.with_name(f"{path.name}.v{version // 1000}-{stamp}.bak")
        # Another process that brings up the same store may have had the name at the same moment.
        with suppress(FileExistsError):
            copy_into(connection, target)
            return target


def _discard(copy: Path | None) -> None:
    if copy is not None:
        copy.unlink(missing_ok=True)
