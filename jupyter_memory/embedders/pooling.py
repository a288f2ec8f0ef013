"""The sum of each text's token vectors, many texts at once in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.arrays import BLAS, mx

# Texts whose tokens are counted together, and how many tokens they have: beyond, few tokens are common to them.
_ROWS = 32
_TOKENS = 8_192
_FEW = 100


def sum_tokens(table: mx.array, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return float32 ``(len(ends), width)``: the sum of the rows of ``table`` that each text names.

    Text ``i`` names ``ids[ends[i - 1]:ends[i]]``. Words come back, within a text and from text to text, so a group of
    texts is a matrix of how often each has each token, times the vectors of these tokens: half the time of gathering
    a vector for every token.
    """
    if len(ends) == 1 and len(ids) <= _FEW:
        # A question: counting takes longer than adding up.
        return np.asarray(mx.sum(table[mx.array(ids)], axis=0, keepdims=True))
    sums = np.empty((len(ends), table.shape[1]), dtype=np.float32)
    counts = np.diff(ends, prepend=0)
    column = np.empty(table.shape[0], dtype=np.int64)
    for first, last in _groups(ends):
        of_group = ids[ends[first] - counts[first] : ends[last - 1]]
        # Marked, not sorted as by `unique`, which takes longer than the product.
        there = np.zeros(table.shape[0], dtype=np.bool_)
        there[of_group] = True
        found = np.flatnonzero(there)
        column[found] = np.arange(found.size)
        rows = np.repeat(np.arange(last - first) * found.size, counts[first:last])
        times = np.bincount(rows + column[of_group], minlength=(last - first) * found.size)
        often = mx.array(times.reshape(last - first, found.size).astype(np.float32))
        # One thread: the matrices are small, and several would wait for each other.
        with BLAS.threads(1):
            sums[first:last] = np.asarray(often @ table[mx.array(found)])
    return sums


def _groups(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the first row of each group and the one after its last."""
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + _TOKENS, side="right"))
        last = max(first + 1, min(last, first + _ROWS))
        yield first, last
        first = last
