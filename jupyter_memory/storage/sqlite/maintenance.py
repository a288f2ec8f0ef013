"""Counts of what a store holds, and checks that it is sound."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from jupyter_memory.errors import StoreDamaged
from jupyter_memory.storage.sqlite.checks import tables
from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.copies import sweep
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.filters import SHOWN_TIER
from jupyter_memory.storage.sqlite.indexes import quantization
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.sizes import on_disk
from jupyter_memory.storage.sqlite.tables import thumbnails
from jupyter_memory.types.protocols import UNREAD


def stats(database: Database, vectors: VectorIndex) -> dict[str, Any]:
    """Return counts by kind, tier and space, the models with their vectors and bytes, the files, the size on disk."""
    with database.read() as connection:
        active = vectors.active(connection)
        models: list[Any] = connection.execute(
            "select id, name, fingerprint, dimensions, active from models order by id"
        ).fetchall()
        pictures, size = thumbnails.count(connection)
        return {
            "store": str(database.path),
            "memories": _rows_of(connection, "memories"),
            "chunks": _rows_of(connection, "chunks"),
            "files": connection.execute(
                "select count(*) from files where substr(content_hash, 1, 1) <> ?", (UNREAD,)
            ).get,
            "thumbnails": {"number": pictures, "bytes": size},
            "pinned": connection.execute("select count(*) from memories where pinned").get,
            "kinds": _counts(connection, "kind"),
            "tiers": _counts(connection, SHOWN_TIER),
            "spaces": _counts(connection, "space"),
            "model": active.name if active else None,
            "models": [
                {
                    "name": name,
                    "fingerprint": fingerprint,
                    "dimensions": dimensions,
                    "active": bool(is_active),
                    "vectors": (number := _rows_of(connection, f"codes_{model}")),
                    "bytes": number * (4 * dimensions + quantization.BITS // 8),
                }
                for model, name, fingerprint, dimensions, is_active in models
            ],
            "bytes": on_disk(database.path),
            "journal": connection.pragma("journal_mode"),
            "version": connection.pragma("user_version"),
            "read_only": database.read_only,
            "scrub_pending": scrubbing.pending(connection) is not None,
        }


def problems(database: Database, vectors: VectorIndex) -> Iterator[str]:
    """Check a store and yield what is wrong, each with what to do."""
    try:
        found = list(damage(database))
    except StoreDamaged as error:
        found = [f"SQLite found damage: {error}"]
    if found:
        yield from found
        return
    if not database.read_only:
        try:
            with database.write() as connection:
                connection.execute("insert into keyword (keyword, rank) values ('integrity-check', 1)")
        except StoreDamaged:
            yield "The keyword index does not match the memories. Repair it with store.rebuild()."
    with database.read() as snapshot:
        active = vectors.active(snapshot)
        if active is not None and (lacking := len(vectors.missing(snapshot, active, 1_000_000))):
            yield (
                f"{lacking} chunks have no vector, so the search by meaning cannot find them. "
                "Compute the vectors with store.reembed()."
            )
    if not database.read_only:
        database.scrub()
        yield from (
            f"An interrupted copy of the store is left and cannot be removed. Remove it with: rm '{copy}'"
            for copy in sweep(database.path)
        )
    yield from _open_to_others(database.path)


def damage(database: Database) -> Iterator[str]:
    """Yield the damage that SQLite sees; if it sees none, the damage in what the store holds."""
    with database.read() as connection:
        findings = [row[0] for row in connection.execute("pragma integrity_check(5)") if row[0] != "ok"]
        yield from (f"SQLite found damage: {finding}. {_cure(finding)}" for finding in findings)
        if not findings:
            yield from tables.findings(connection)


def _cure(finding: str) -> str:
    of_index = finding.startswith("fts5:") or "FTS5" in finding
    return "Build the keyword index anew with store.rebuild()." if of_index else tables.RESTORE


def refuse_broken(database: Database) -> None:
    """Refuse to copy a store whose pages are damaged: the copy would be, too.

    Raises:
        StoreDamaged: SQLite finds damage.
    """
    with database.read() as connection:
        if connection.execute("pragma quick_check(1)").get != "ok":
            raise StoreDamaged(
                f"{database.path} is damaged, so no backup was made. `jupyter-memory doctor` shows what is wrong. "
                "Restore an earlier backup with `jupyter-memory restore`."
            )


def _open_to_others(path: Path) -> Iterator[str]:
    if os.name == "posix" and path.stat().st_mode & 0o077:
        yield f"Other users of this machine can read {path}. Close it to them with: chmod 600 '{path}'"


def _rows_of(connection: apsw.Connection, table: str) -> int:
    number: Any = connection.execute(f"select count(*) from {table}").get
    return int(number)


def _counts(connection: apsw.Connection, expression: str) -> dict[str, int]:
    found = connection.execute(f"select {expression}, count(*) from memories group by 1 order by 2 desc, 1")
    return {row[0]: row[1] for row in found}
