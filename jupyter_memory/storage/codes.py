"""Binary codes of vectors: 1,024 signs that find the neighbours of a query among many in a few milliseconds.

Each code holds the signs of random projections (Charikar, "Similarity estimation techniques from rounding
algorithms", STOC 2002), made by flipping the signs of the values and mixing them with a Hadamard matrix (Ailon and
Chazelle, "The fast Johnson-Lindenstrauss transform", 2009). Nothing is trained, so codes of any two machines agree. The
share of bits in which two codes differ follows the angle between the vectors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

BITS = 1024
_WORDS = BITS // 64

Codes = NDArray[np.uint64]


def codes(vectors: NDArray[np.float32]) -> Codes:
    """Return the codes of float32 ``(n, d)`` vectors as uint64 ``(n, 16)``; d is at most 1,024."""
    projected = vectors @ _projection(vectors.shape[1])
    packed: Codes = np.packbits(projected > 0, axis=1).view(np.uint64)
    return packed


def nearest(query: Codes, words: Codes, count: int) -> NDArray[np.intp]:
    """Return the positions of the ``count`` codes that differ least from the query's, in no order.

    ``words`` is ``(16, n)``: code words as rows, so that each step runs over contiguous memory.
    """
    differing = np.zeros(words.shape[1], dtype=np.uint16)
    for word, of_query in zip(words, query, strict=True):
        differing += np.bitwise_count(word ^ of_query)
    if count >= differing.size:
        return np.arange(differing.size)
    return np.argpartition(differing, count)[:count]


@cache
def _projection(dimensions: int) -> NDArray[np.float32]:
    """Return a ``(d, 1024)`` matrix of ±1: orthogonal blocks, each with signs of its own."""
    size = 1 << max(6, (dimensions - 1).bit_length())
    hadamard = np.ones((1, 1), dtype=np.float32)
    while len(hadamard) < size:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    # RandomState's stream is frozen by NumPy's promise; the stored codes depend on it.
    blocks = [np.random.RandomState(seed).choice([-1, 1], size)[:, None] * hadamard for seed in range(BITS // size)]
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:dimensions], dtype=np.float32)
