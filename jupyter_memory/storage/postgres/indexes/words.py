"""The words of texts as both databases index them: SQLite's tokenizer, Porter's stems, run on this side."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import apsw

from jupyter_memory.storage.sqlite.indexes import keyword_query

# Letters of a word that an entry of an index holds; the rest of a longer one, which is data, becomes a digest.
_LONGEST = 200
_LOCAL = threading.local()


def stems(text: str) -> list[str]:
    """Return the words of a text as the index holds them."""
    return keyword_query.stems(_tokenizing(), text)


def highlights(
    texts: Mapping[int, str], words: Iterable[str], prefix: str | None, others: Sequence[str]
) -> dict[int, list[tuple[int, int]]]:
    """Return where words, phrases, the words that begin with a prefix, and other stems occur in texts, by chunk."""
    connection = _tokenizing()
    phrases = [stems(one) for one in words]
    first = stems(prefix)[-1:] if prefix else []
    marked = {}
    for chunk, text in texts.items():
        of_text = keyword_query.in_plain_characters(connection, text, keyword_query.tokens(connection, text))
        begins = {stem for _, _, stem in of_text if first and stem.startswith(first[0])} | set(others)
        marked[chunk] = keyword_query.occurrences(text, of_text, [*phrases, *([stem] for stem in begins)])
    return marked


def keyed(stem: str) -> str:
    """Return a word as the tables have it."""
    if len(stem) <= _LONGEST:
        return stem
    return f"{stem[:_LONGEST]}\x01{blake2b(stem.encode(), digest_size=12).hexdigest()}"


def _tokenizing() -> apsw.Connection:
    """Return this thread's empty database in memory: FTS5 gives its tokenizer to a connection only."""
    connection: apsw.Connection | None = getattr(_LOCAL, "connection", None)
    if connection is None:
        connection = _LOCAL.connection = apsw.Connection(":memory:")
    return connection
