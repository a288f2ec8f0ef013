"""Reads which tables a SQLite or DuckDB file has."""

from __future__ import annotations

from pathlib import Path

from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.data.table import Column, Table, document
from jupyter_memory.storage.databases import foreign_tables


def read(path: Path, /) -> Document:
    """Return a part for each table and view; nothing for a store of ours.

    Raises:
        InputError: the file is no such database, or it cannot be read.
    """
    found = foreign_tables(path)
    format_ = "SQLite" if _is_sqlite(path) else "DuckDB"
    tables = [
        Table(
            columns=tuple(Column(name, _type(declared)) for name, declared in one.columns),
            name=one.name,
            what="view" if one.is_view else "table",
            rows=one.rows,
            estimated=one.estimated,
        )
        for one in found.tables
    ]
    return document(tables, format_, found.left_out)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as opened:
        return opened.read(6) == b"SQLite"


def _type(declared: str) -> str:
    """Return a declared type, which in SQLite may be any text, in a few words."""
    words = declared.lower().split()
    return " ".join(words[:4]) if sum(map(len, words[:4])) <= 40 else ""
