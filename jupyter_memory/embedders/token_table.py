"""A table of token vectors: texts are sums of its rows, whichever arithmetic computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.types.protocols import Vectors

Floats = NDArray[np.float32]
Ids = NDArray[np.integer]
Done = TypeVar("Done")

# The most texts and tokens that are counted together: larger groups have few tokens in common.
_GROUP_ROWS = 32
_GROUP_TOKENS = 8_192


class TokenTable(Protocol):
    """Token vectors, ``rows`` of length ``width``, and the arithmetic for them."""

    @property
    def rows(self) -> int: ...
    @property
    def width(self) -> int: ...

    def run(self, work: Callable[[], Done], /) -> Done:
        """Return what ``work`` returns in the thread that may compute."""
        ...

    def total(self, ids: Ids, /) -> Floats:
        """Return the sum of the rows of a few tokens, ``(1, width)``."""
        ...

    def product(self, often: Floats, ids: Ids, /) -> Floats:
        """Return ``(texts, width)``: how often each text has each of these tokens, times their rows."""
        ...

    def means(self, sums: Floats, counts: Floats, dimensions: int, /) -> Vectors:
        """Return the sums divided by the counts, ``(texts, 1)``, cut to these dimensions, with length 1."""
        ...


@dataclass(frozen=True, slots=True)
class Pooling:
    """How the tokens of a text are weighed in their sum; as it is made, all alike.

    ``saturation`` is the share of a text at which a token counts half: the brackets and the ``self`` of a function do
    not drown its names. With a ``lead``, the first token of a text counts double, and the excess falls to a third in so
    many tokens: a title, a signature or the claim of an abstract says more than what follows.
    """

    saturation: float = 0.0
    lead: float = 0.0


MEAN = Pooling()


def sum_tokens(table: TokenTable, ids: Ids, ends: NDArray[np.int64], pooling: Pooling = MEAN) -> Floats:
    """Return float32 ``(len(ends), width)``: the weighted sum of the rows of ``table`` that each text names.

    Text ``i`` names ``ids[ends[i - 1]:ends[i]]``. Words come back, within a text and from text to text, so a group of
    texts is a matrix of how often each has each token, times the vectors of these tokens: half the time of gathering
    a vector for every token.
    """
    sums = np.empty((len(ends), table.width), dtype=np.float32)
    counts = np.diff(ends, prepend=0)
    column = np.empty(table.rows, dtype=np.int64)
    for first, last in _groups(ends):
        of_group = ids[ends[first] - counts[first] : ends[last - 1]]
        # Marked, not sorted as by `unique`, which takes longer than the product.
        there = np.zeros(table.rows, dtype=np.bool_)
        there[of_group] = True
        found = np.flatnonzero(there)
        column[found] = np.arange(found.size)
        rows = np.repeat(np.arange(last - first) * found.size, counts[first:last])
        leading = _leading(counts[first:last], pooling.lead) if pooling.lead else None
        times = np.bincount(rows + column[of_group], leading, (last - first) * found.size)
        often = times.reshape(last - first, found.size).astype(np.float32)
        if pooling.saturation:
            often /= 1 + often / np.maximum(often.sum(axis=1, keepdims=True) * np.float32(pooling.saturation), 1e-9)
        sums[first:last] = table.product(often, found)
    return sums


def _leading(counts: NDArray[np.int64], lead: float) -> NDArray[np.float64]:
    longest = 1 + np.exp(-np.arange(counts.max(initial=0)) / lead)
    return np.concatenate([longest[:count] for count in counts])


def _groups(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + _GROUP_TOKENS, side="right"))
        last = max(first + 1, min(last, first + _GROUP_ROWS))
        yield first, last
        first = last
