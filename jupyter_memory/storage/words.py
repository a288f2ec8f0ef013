"""The words of texts as both databases index them: SQLite's tokenizer with Porter's stems."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Any

import apsw

from jupyter_memory.text.identifiers import plainer
from jupyter_memory.types import Terms

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # as in sqlite/schema.sql
# The weights of a match of another spelling, and of a compound or a part of one; a match of the word itself has 1.
RESPELLED, COMPOUND = 0.5, 0.8
SMALL = 5_000  # below this many chunks a frequent word takes no time, and leaving it out could lose a badge
LONG = 9  # a word of so many letters may be a compound
# Letters of a word that an entry of PostgreSQL's index holds; a longer one is data, and its rest becomes a digest.
_LONGEST = 200
_LOCAL = threading.local()

Token = tuple[int, int, str]  # a word of a text: the bytes of UTF-8 where it begins and ends, and its stem


def _tokenized(text: str, reason: int, **options: bool) -> Any:
    if not hasattr(_LOCAL, "tokenizer"):
        _LOCAL.connection = apsw.Connection(":memory:")
        _LOCAL.tokenizer = _LOCAL.connection.fts5_tokenizer(*_TOKENIZER)
    return _LOCAL.tokenizer(text.encode(), reason, None, include_colocated=False, **options)


def stems(text: str) -> list[str]:
    found: list[str] = _tokenized(text, apsw.FTS5_TOKENIZE_QUERY, include_offsets=False)
    return found


def tokens(text: str) -> list[Token]:
    """Return the words of a text, those with ligatures, marks and the like as the column ``ident`` has them."""
    written = text.encode()
    of_text: list[Token] = _tokenized(text, apsw.FTS5_TOKENIZE_DOCUMENT)
    if not plainer(text):
        return of_text
    plain = (plainer(written[start:end].decode()) for start, end, _ in of_text)
    spelled = (stems(words[0]) if words else [] for words in plain)
    return [
        (start, end, one[0] if len(one) == 1 else stem)
        for (start, end, stem), one in zip(of_text, spelled, strict=True)
    ]


def occurrences(text: str, of_text: Sequence[Token], phrases: Iterable[Sequence[str]]) -> list[tuple[int, int]]:
    """Return where phrases, given by their stems, occur in a text, in code points; overlapping ones are joined."""
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
    if text.isascii():
        return spans
    written = text.encode()
    edges = pairwise([0, *(edge for span in spans for edge in span)])
    points = list(accumulate(len(written[start:end].decode()) for start, end in edges))
    return list(zip(points[::2], points[1::2], strict=True))


def highlights(texts: Mapping[int, str], terms: Terms) -> dict[int, list[tuple[int, int]]]:
    """Return where terms occur in the texts of chunks, ``[start, end)`` in code points, by chunk."""
    # As FTS5's ``highlight()`` does, which would look every term up in the index anew for each chunk; and words with
    # ligatures, which the column ``ident`` finds.
    inflected = [form for one in terms.forms for form in one.inflected]
    phrases = [stems(one) for one in (*terms.phrases, *terms.words, *inflected)]
    first = stems(terms.prefix)[-1:] if terms.prefix else []
    marked = {}
    for chunk, text in texts.items():
        of_text = tokens(text)
        others = {*terms.respelled, *terms.compounded}
        if first:
            others.update(stem for _, _, stem in of_text if stem.startswith(first[0]))
        marked[chunk] = occurrences(text, of_text, [*phrases, *([stem] for stem in others)])
    return marked


def begun(terms: Terms, first: Callable[[Sequence[str]], Iterable[str]]) -> Terms:
    """Return the terms with the stem of what is being typed in place of a prefix that no stem has.

    "electri" is longer than the stem "electr" of the words that begin with it. ``first`` yields the first word of the
    index that begins with the first of some letters, and the others that are words of it, any other in place of those
    that are not.
    """
    stem = "".join(stems(terms.prefix)[-1:]) if terms.prefix else ""
    if not stem:
        return terms
    shorter = [stem[:length] for length in range(len(stem) - 1, max(3, len(stem) - 4), -1)]
    found = iter(first([stem, *shorter]))
    if next(found).startswith(stem):
        return terms
    word = next((one for one, held in zip(shorter, found, strict=True) if held == one), None)
    return terms if word is None else replace(terms, words=(*terms.words, word), prefix=None)


def keyed(stem: str) -> str:
    if len(stem) <= _LONGEST:
        return stem
    return f"{stem[:_LONGEST]}\x01{blake2b(stem.encode(), digest_size=12).hexdigest()}"
