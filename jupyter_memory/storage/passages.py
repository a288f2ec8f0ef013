"""The texts of chunks and memories, read apart from their rows: most searches show a few of those they rank."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw


def passages(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, tuple[str, str, str, str]]:
    """Return title, context, text and tags of chunks, as the keyword index has them, by chunk."""
    rows = connection.execute(
        "select id, title, context, text, tags from chunk_texts where id in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {row[0]: row[1:] for row in rows}


def texts(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, str]:
    """Return the whole texts of memories, by key."""
    rows = connection.execute(
        "select memory, text from texts where memory in (select value from json_each(?))", (json.dumps(list(keys)),)
    )
    return dict(rows)
