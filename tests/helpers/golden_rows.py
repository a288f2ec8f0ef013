"""The rows of a store's file, read by SQL of their own."""

from __future__ import annotations

import hashlib
from typing import Any

import apsw

# The columns that are the same in every run.
MEMORIES = """
    select key, kind, tier, pinned, space, lang, title, severity, domain, session, event_at, valid_from, valid_until,
           content_hash, accessed, metadata, (select text from texts where memory = key) as text,
           (select json_group_array(tag order by tag) from tags where tags.memory = key) as tags
    from memories order by key
"""
CHUNKS = """
    select chunks.id, chunks.memory, start, stop, line, chunks.text is null as is_whole, chunks.context, chunks.ident,
           chunk_texts.title, chunk_texts.text, chunk_texts.tags,
           (select ids from chunk_tokens where chunk = chunks.id) as tokens
    from chunks join chunk_texts on chunk_texts.id = chunks.id order by chunks.id
"""


def rows(connection: apsw.Connection, statement: str) -> list[dict[str, Any]]:
    """Return the rows of a statement by the names of its columns."""
    cursor = connection.execute(statement)
    found = []
    for row in cursor:
        names = [one[0] for one in cursor.get_description()]
        found.append(dict(zip(names, row, strict=True)))
    return found


def digest(value: str | bytes | None) -> str | None:
    """Return sixteen characters that tell a text or bytes from others."""
    if value is None:
        return None
    return hashlib.sha256(value.encode() if isinstance(value, str) else value).hexdigest()[:16]
