"""The column ``ident`` of many texts at once: only names of several parts are ever made into strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.words import IDENTIFIER, column_of

# Characters looked through at once: each takes some twenty bytes.
_AT_ONCE = 131_072
_DOT, _UNDERSCORE, _DIGIT, _UPPER, _LOWER = range(1, 6)
_KINDS = np.zeros(128, np.uint8)
_KINDS[ord(".")] = _DOT
_KINDS[ord("_")] = _UNDERSCORE
_KINDS[ord("0") : ord("9") + 1] = _DIGIT
_KINDS[ord("A") : ord("Z") + 1] = _UPPER
_KINDS[ord("a") : ord("z") + 1] = _LOWER


def ident_columns(texts: Sequence[str]) -> list[str]:
    """Return what ``ident_column`` does for each text."""
    # Composed, as a query is.
    composed = [text if text.isascii() else normalize("NFC", text) for text in texts]
    parts = [list(_parts(text)) for text in composed]
    plain = [part for of_text in parts for part in of_text if part.isascii()]
    found = chain.from_iterable(map(_names, _batches(plain)))
    names = [[next(found) if part.isascii() else IDENTIFIER.findall(part) for part in of_text] for of_text in parts]
    return [column_of(text, chain.from_iterable(of_text)) for text, of_text in zip(composed, names, strict=True)]


def _parts(text: str) -> Iterator[str]:
    """Yield the lines of a text that are plain ASCII, neighbours together, and the others: no name crosses a line."""
    if text.isascii():
        yield text
        return
    for _, lines in groupby(text.split("\n"), str.isascii):
        yield "\n".join(lines)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    first = size = 0
    for place, text in enumerate(texts, start=1):
        size += len(text)
        if size >= _AT_ONCE or place == len(texts):
            yield texts[first:place]
            first, size = place, 0


def _names(texts: Sequence[str]) -> list[list[str]]:
    """Return the identifiers of each plain text that may have several parts."""
    together = "\n".join(("", *texts, ""))
    begins, ends = _compounds(_KINDS[np.frombuffer(together.encode("ascii"), np.uint8)])
    names = [together[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    edges = np.cumsum([0, *(len(text) + 1 for text in texts)])
    return [names[first:last] for first, last in pairwise(np.searchsorted(begins, edges).tolist())]


def _compounds(kinds: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where identifiers begin and end that may have several parts; the first and last character are in none."""
    inside = kinds >= _UNDERSCORE
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    begins, ends = edges[::2], edges[1::2]
    if not begins.size:
        return begins, ends
    # A dot joins two runs of such characters, but one that begins with an underscore joins nothing to itself.
    named = kinds[begins] != _UNDERSCORE
    joined = np.zeros(begins.size, np.bool_)
    joined[1:] = (begins[1:] == ends[:-1] + 1) & (kinds[ends[:-1]] == _DOT)
    before = np.cumsum(named) - named
    chained = np.maximum.accumulate(np.where(joined, 0, np.arange(begins.size)))
    first = np.flatnonzero(~(joined & (before > before[chained])))
    begins, ends = begins[first], ends[np.append(first[1:], begins.size) - 1]
    # One kind of character throughout, or a capital before small letters, is one part.
    changes = np.cumsum(kinds[1:] != kinds[:-1])
    changes = changes[ends - 2] - changes[begins - 1]
    titled = (changes == 1) & (kinds[begins] == _UPPER) & (kinds[begins + 1] == _LOWER)
    several = (changes > 0) & ~titled
    return begins[several], ends[several]
