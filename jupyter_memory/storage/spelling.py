"""Which words a store holds: asked for a word that may be misspelt."""

from __future__ import annotations

import json
from collections.abc import Collection

import apsw

from jupyter_memory.storage.expressions import open_vocabulary
from jupyter_memory.storage.tokens import stems


def is_held(connection: apsw.Connection, word: str, columns: Collection[str]) -> bool:
    """Return whether any chunk holds a word, by its stem, in one of these columns."""
    # The table of places tells the first at once; the others count all of them before.
    connection.execute("create virtual table if not exists temp.places using fts5vocab(main, keyword, instance)")
    held = "select 1 from temp.places where term = ? and col in (select value from json_each(?)) limit 1"
    named = json.dumps(list(columns))
    return all(connection.execute(held, (stem, named)).get for stem in stems(connection, word))


def chunk_count(connection: apsw.Connection, stem: str, columns: Collection[str]) -> int:
    """Return how many chunks hold a stem in that of these columns where most do; it may be gone since."""
    open_vocabulary(connection)
    found = connection.execute("select col, doc from temp.vocabulary where term = ?", (stem,))
    return max((count for column, count in found if column in columns), default=0)
