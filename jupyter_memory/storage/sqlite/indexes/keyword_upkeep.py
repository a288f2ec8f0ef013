"""The keyword index as changes leave it: chunks put in again, no trace of removed words, built anew.

FTS5's ``secure-delete`` removes the words of a deleted row from the pages of the index. The words between the pages,
which say on what page a word is, are left to this module.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from jupyter_memory.storage.sqlite.indexes.keyword_query import open_places


def has_traces(connection: apsw.Connection) -> bool:
    """Return whether a removed word still separates two pages of the index: FTS5 never removes it there."""
    open_places(connection)
    signs: list[Any] = connection.execute("select term from keyword_idx").fetchall()
    for (sign,) in signs:
        # One byte of kind, then enough of a word to distinguish the pages.
        word = sign[1:].decode("utf-8", "ignore")
        found: str | None = connection.execute("select term from temp.places where term >= ? limit 1", (word,)).get
        if found is None or not found.startswith(word):
            return True
    return False


def clear_traces(connection: apsw.Connection) -> None:
    """Merge the index's segments into a new one, without the words that only separated pages.

    The caller's transaction holds nothing else.
    """
    # FTS5 does not optimise a single segment, so it gets a second one.
    connection.execute("insert into keyword (rowid, text) values (0, 'x')")
    connection.execute("insert into keyword (keyword) values ('optimize')")
    connection.execute("insert into keyword (keyword, rowid, text) values ('delete', 0, 'x')")


def put_in(connection: apsw.Connection, chunks: Sequence[int]) -> None:
    """Index chunks as the view shows them now."""
    connection.execute(
        """
        insert into keyword (rowid, title, context, text, tags, ident)
        select id, title, context, text, tags, ident from chunk_texts where id in (select value from json_each(?))
        """,
        (json.dumps(list(chunks)),),
    )


def rebuild(connection: apsw.Connection) -> None:
    """Build the index anew from the memories."""
    connection.execute("insert into keyword (keyword) values ('rebuild')")
    # What any process has cached of the index is no longer valid.
    connection.execute("update counters set value = value + 1 where name = 'removals'")
