"""The schema of a store's file, and what brings a file of an earlier release to it."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
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
    """A script that brings a store to ``version`` = 1000 * major + minor; older packages can use a newer minor one."""

    version: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the schema of the first release, and the migrations since then."""
    schema = files("jupyter_memory.storage.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")
    return (Migration(2000, schema),)


def migrate(connection: apsw.Connection, path: Path, steps: Sequence[Migration]) -> Path | None:
    """Run the steps that a store lacks, all in one transaction; return the copy made before a major one, if any."""
    copy, before, wanted = None, version_of(connection), steps[-1].version
    if before >= wanted:
        return None
    if before and wanted // 1000 > before // 1000:
        copy = path.with_name(f"{path.name}.v{before // 1000}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{os.getpid()}.bak")
        copy_into(connection, copy)
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
        if copy is not None:
            copy.unlink(missing_ok=True)
        raise
    if not missing:
        if copy is not None:
            copy.unlink(missing_ok=True)
        return None
    log.info("store brought from version %d to %d", before, wanted)
    return copy
