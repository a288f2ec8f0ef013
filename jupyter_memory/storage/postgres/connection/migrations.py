"""The tables of a store, and what brings those of an earlier release to them, one process at a time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import psycopg
from psycopg import errors

from jupyter_memory.errors import StoreError, StoreReadOnly, StoreTooNew
from jupyter_memory.text.paths import DatabaseAddress

log = logging.getLogger(__name__)

SCHEMA = "jupyter_memory"
# Known to every process that migrates, and to no other use of advisory locks in the database: "jupymem" in ASCII.
_LOCK = 0x6A7570796D656D
# The first version of pgvector that goes on where filters leave too few vectors (`hnsw.iterative_scan`).
_OLDEST_VECTORS = (0, 8)
_EXTENSION = "select extversion from pg_extension where extname = 'vector'"


@dataclass(frozen=True, slots=True)
class Migration:
    """A script that brings a store to ``version`` = 1000 * major + minor; older packages can use a newer minor one."""

    version: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the schema of the first release with the rights in it, and the migrations since then."""
    package = files("jupyter_memory.storage.postgres")
    scripts = (package.joinpath(name).read_text(encoding="utf-8") for name in ("schema.sql", "rights.sql"))
    return (Migration(2000, "\n".join(scripts)),)


def version_of(connection: psycopg.Connection) -> int:
    """Return the version of the store's tables, 0 where there are none."""
    there = connection.execute("select to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone()
    if there is None or there[0] is None:
        return 0
    found = connection.execute(f"select max(version) from {SCHEMA}.schema_version").fetchone()
    return 0 if found is None else int(found[0] or 0)


def migrate(connection: psycopg.Connection, address: DatabaseAddress, steps: Sequence[Migration]) -> bool:
    """Run the steps that a store lacks, all in one transaction; return whether it had none before.

    Raises:
        StoreTooNew: a newer major version wrote the store.
        StoreReadOnly: the role may not make what is missing.
        StoreError: the server has no pgvector, or the store is older than the first step.
    """
    wanted = steps[-1].version
    if _checked_version(connection, address, steps) >= wanted:
        return False
    try:
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            # Checked again under the lock: another process may have taken these steps meanwhile.
            before = _checked_version(connection, address, steps)
            if not before:
                _make_schema(connection, address)
            for step in steps:
                if step.version > before:
                    connection.execute(step.sql.encode())
                    connection.execute(f"insert into {SCHEMA}.schema_version (version) values (%s)", (step.version,))
    except errors.InsufficientPrivilege:
        raise StoreReadOnly(
            f"The store at {address} must first be made, or upgraded to this version of jupyter-memory, by a role that "
            "may create tables. Open it once as the owner of the database."
        ) from None
    log.info("store brought from version %d to %d", before, wanted)
    return before == 0


def _checked_version(connection: psycopg.Connection, address: DatabaseAddress, steps: Sequence[Migration]) -> int:
    version = version_of(connection)
    if 0 < version < steps[0].version:
        raise StoreError(
            f"The store at {address} was written by a version of jupyter-memory before 0.1.0, which cannot be read "
            "here. It was left as it is. With the version that wrote it, type: jupyter-memory export FOLDER. Then run "
            f"in this database: drop schema {SCHEMA} cascade. At last, type here: jupyter-memory import FOLDER"
        )
    if version // 1000 > steps[-1].version // 1000:
        raise StoreTooNew(
            f"The store at {address} was written by a newer version of jupyter-memory. "
            "Upgrade with: pip install --upgrade jupyter-memory"
        )
    return version


def _make_schema(connection: psycopg.Connection, address: DatabaseAddress) -> None:
    found = connection.execute(_EXTENSION).fetchone()
    if found is None:
        _add_vectors(connection, address)
        found = connection.execute(_EXTENSION).fetchone()
    assert found is not None
    version = str(found[0])
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_VECTORS:
        raise StoreError(
            f"The database at {address} has pgvector {version}, and the index of vectors needs 0.8 or newer. Have the "
            "owner of the server install it, and run in this database: alter extension vector update"
        )
    connection.execute(f"create schema if not exists {SCHEMA}")
    connection.execute(f"create table {SCHEMA}.schema_version (version integer primary key)")


def _add_vectors(connection: psycopg.Connection, address: DatabaseAddress) -> None:
    try:
        connection.execute("create extension vector")
    except (errors.UndefinedFile, errors.FeatureNotSupported, errors.InsufficientPrivilege):
        raise StoreError(
            f"The database at {address} lacks the extension pgvector. Have the owner of the server install it, and run "
            "in this database: create extension vector"
        ) from None
