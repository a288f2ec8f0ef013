"""Binary quantization of vectors: codes of 1,024 signs that find a query's neighbours in a few milliseconds.

Each code holds the signs of random projections (Charikar, "Similarity estimation techniques from rounding
algorithms", STOC 2002), made by flipping the signs of the values and mixing them with a Hadamard matrix (Ailon and
Chazelle, "The fast Johnson-Lindenstrauss transform", 2009). Nothing is trained, so codes of any two machines agree. The
share of bits in which two codes differ follows the angle between the vectors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import simsimd
from numpy.typing import NDArray

from jupyter_memory.runtime import one_core

BITS = 1024
# One distance of so many is sampled to estimate their distribution.
_SAMPLED = 16

Codes = NDArray[np.uint64]


def codes(vectors: NDArray[np.float32]) -> Codes:
    """Return the codes of float32 ``(n, d)`` vectors as uint64 ``(n, 16)``."""
    with one_core():
        projected = vectors @ _projection(vectors.shape[1])
    packed: Codes = np.packbits(projected > 0, axis=1).view(np.uint64)
    return packed


def distances(query: Codes, among: Codes) -> NDArray[np.float32]:
    """Return in how many bits each code of ``among``, ``(n, 16)``, differs from the query's, float32 ``(n,)``."""
    if not len(among):
        return np.zeros(0, np.float32)
    both = query[None, :].view(np.uint8), among.view(np.uint8)
    differing = np.asarray(simsimd.cdist(*both, "hamming", dtype="bin8", out_dtype="float32"))
    return differing.ravel()


def nearest(differing: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the positions of the ``count`` codes that differ least, and of all that equal the last of them."""
    if count >= differing.size:
        return np.arange(differing.size)
    # A sample gives a bound below which about twice as many lie as are wanted; if fewer do, all are compared.
    sample = differing[::_SAMPLED]
    place = min(2 * count // _SAMPLED, sample.size - 1)
    few = differing[differing <= np.partition(sample, place)[place]]
    among = few if few.size >= count else differing
    return np.flatnonzero(differing <= np.partition(among, count - 1)[count - 1])


@cache
def _projection(dimensions: int) -> NDArray[np.float32]:
    """Return a ``(d, 1024)`` matrix of ±1: orthogonal blocks, each with signs of its own, or part of a larger block."""
    size = 1 << max(6, (dimensions - 1).bit_length())
    hadamard = np.ones((1, 1), dtype=np.float32)
    while len(hadamard) < size:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    # RandomState's stream is frozen by NumPy's promise; the stored codes depend on it.
    seeds = range(max(1, BITS // size))
    blocks = [np.random.RandomState(seed).choice([-1, 1], size)[:, None] * hadamard for seed in seeds]
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:dimensions, :BITS], dtype=np.float32)
