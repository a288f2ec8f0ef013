"""The upkeep of the keyword index: chunks put in, words that are gone cleared away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from jupyter_memory.storage.expressions import open_vocabulary


def clear_traces(connection: apsw.Connection) -> None:
    """Write the index anew if a word that is gone still parts two of its pages: there FTS5 never removes a word."""
    open_vocabulary(connection)
    signs: list[Any] = connection.execute("select term from keyword_idx").fetchall()
    for (sign,) in signs:
        # One byte of kind, then as much of a word as tells the pages apart.
        word = sign[1:].decode("utf-8", "ignore")
        row = connection.execute("select term from temp.vocabulary where term >= ? limit 1", (word,)).fetchone()
        if row is None or not row[0].startswith(word):
            _optimize(connection)
            return


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
    # What is kept of the index anywhere is of no use any more.
    connection.execute("update counters set value = value + 1 where name = 'removals'")


def _optimize(connection: apsw.Connection) -> None:
    """Merge the index's segments into a new one."""
    # Of a single segment FTS5 thinks that it is as good as new, so it gets a second one.
    connection.execute("insert into keyword (rowid, text) values (0, 'x')")
    connection.execute("insert into keyword (keyword) values ('optimize')")
    connection.execute("insert into keyword (keyword, rowid, text) values ('delete', 0, 'x')")
