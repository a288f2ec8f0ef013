"""Texts as the keyword index sees them: words reduced to their stems, and where phrases of them stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any
from unicodedata import is_normalized

import apsw

from jupyter_memory.text.identifiers import plainer

# As in schema/1000_foundation.sql.
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
_WORDS_ONLY: Any = {"include_offsets": False, "include_colocated": False}


# A word of a text: the bytes of UTF-8 where it begins and ends, and its stem.
Token = tuple[int, int, str]


def stems(connection: apsw.Connection, text: str) -> list[str]:
    """Return the words of a text as the index holds them."""
    found = connection.fts5_tokenizer(*_TOKENIZER)(text.encode(), apsw.FTS5_TOKENIZE_QUERY, None, **_WORDS_ONLY)
    return [str(stem) for stem in found]


def word_of(connection: apsw.Connection, stem: str) -> str:
    """Return a word that has this stem, since FTS5 can only be asked for words: "expense" for "expens".

    The Porter stemmer takes a final "e" last, so what it would shorten again gets that letter back.
    """
    return stem if stems(connection, stem) == [stem] else f"{stem}e"


def tokens(connection: apsw.Connection, text: str) -> list[Token]:
    """Return the words of a text with their places."""
    tokenizer = connection.fts5_tokenizer(*_TOKENIZER)
    found: Any = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
    return list(found)


def in_plain_characters(connection: apsw.Connection, text: str, of_text: Sequence[Token]) -> list[Token]:
    """Return the words of a text, those with ligatures and the like as the column ``ident`` has them."""
    if is_normalized("NFKC", text):
        return list(of_text)
    written = text.encode()
    plain = (plainer(written[start:end].decode()) for start, end, _ in of_text)
    spelled = (stems(connection, words[0]) if words else [] for words in plain)
    return [
        (start, end, one[0] if len(one) == 1 else stem)
        for (start, end, stem), one in zip(of_text, spelled, strict=True)
    ]


def occurrences(text: str, of_text: Sequence[Token], phrases: Iterable[Sequence[str]]) -> list[tuple[int, int]]:
    """Return where phrases, given by their stems, stand in a text, in code points; those that overlap as one."""
    by_first: dict[str, list[list[str]]] = {}
    for phrase in phrases:
        if phrase:
            by_first.setdefault(phrase[0], []).append(list(phrase))
    places: list[tuple[int, int]] = []
    for first in [place for place, token in enumerate(of_text) if token[2] in by_first]:
        for phrase in by_first[of_text[first][2]]:
            end = first + len(phrase)
            if [token[2] for token in of_text[first:end]] != phrase:
                continue
            if places and first < places[-1][1]:
                places[-1] = (places[-1][0], max(end, places[-1][1]))
            else:
                places.append((first, end))
    spans = [(of_text[first][0], of_text[end - 1][1]) for first, end in places]
    return spans if text.isascii() else _in_code_points(text.encode(), spans)


def _in_code_points(text: bytes, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    edges = [edge for span in spans for edge in span]
    places = list(accumulate(len(text[start:end].decode()) for start, end in pairwise([0, *edges])))
    return list(zip(places[::2], places[1::2], strict=True))
