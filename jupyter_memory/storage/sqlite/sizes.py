"""How many bytes of a store's file are for what: its pages, counted by the tables and indexes that they belong to."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import apsw

from jupyter_memory.storage.sqlite.connection.identity import beside

# What the tables are for, by their names; whatever is not here is small.
_KINDS = {
    "texts": ("memories", "texts", "tags", "chunks", "definitions"),
    "words": ("keyword_*",),
    "vectors": ("vectors_*", "codes_*", "chunk_tokens", "models", "trust"),
    "pictures": ("thumbnails",),
    "history": ("runs",),
    "searches": ("searches", "feedback", "query_vectors", "query_key"),
    "files": ("files", "folders"),
    "forgotten": ("forgotten",),
}
_OTHER, _FREE, _LOG = "other", "free", "log"


def sizes(connection: apsw.Connection, path: Path) -> dict[str, int]:
    """Return the bytes of a store by kind; together they are all that it takes on disk.

    ``free`` is room in the file that is used again, ``log`` what SQLite keeps beside it and writes into it later. Every
    page of the file is looked at, 3 GB in a second.
    """
    # A page of an index counts for its table.
    pages: Any = connection.execute(
        """
        select coalesce(tbl_name, dbstat.name), sum(pgsize)
        from dbstat left join sqlite_schema on sqlite_schema.name = dbstat.name
        where aggregate = true group by 1
        """
    )
    found = dict.fromkeys((*_KINDS, _OTHER, _FREE, _LOG), 0)
    for table, size in pages:
        found[_kind(table)] += size
    found[_FREE] = _free(connection)
    # Pages that are only in the log are part of the file as it is read.
    found[_LOG] = max(0, on_disk(path) - sum(found.values()))
    return found


def held(connection: apsw.Connection) -> int:
    """Return the bytes of the pages that hold something."""
    return _pages(connection, "page_count") - _free(connection)


def on_disk(path: Path) -> int:
    """Return the bytes of a store's file and of what SQLite keeps beside it."""
    parts = (beside(path, ending) for ending in ("", "-wal", "-shm"))
    return sum(part.stat().st_size for part in parts if part.exists())


def _free(connection: apsw.Connection) -> int:
    return _pages(connection, "freelist_count")


def _pages(connection: apsw.Connection, pragma: str) -> int:
    return int(connection.pragma(pragma)) * int(connection.pragma("page_size"))


def _kind(table: str) -> str:
    return next((kind for kind, names in _KINDS.items() if any(fnmatchcase(table, name) for name in names)), _OTHER)
