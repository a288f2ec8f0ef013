"""The cosines that count, computed here where the database is not SQLite, to the last bit as sqlite-vec does.

A signal multiplies small differences of cosines: with another order of the same additions, the scores of two databases
would differ in the fifth digit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.types.protocols import Vectors


def cosines(query: Vectors, vectors: Vectors) -> NDArray[np.float64]:
    """Return the cosine of ``query``, ``(d,)``, with each of ``vectors``, ``(n, d)``; all are float32."""
    if not vectors.size:
        return np.zeros(len(vectors))
    # In float32, one value after the other.
    dots, squares = _summed(vectors * query), _summed(vectors * vectors)
    lengths = np.sqrt(squares.astype(np.float64)) * np.sqrt(float(_summed(query[None] * query[None])[0]))
    distances = (1 - dots.astype(np.float64) / lengths).astype(np.float32)
    similar: NDArray[np.float64] = 1 - distances.astype(np.float64)
    return similar


def _summed(products: Vectors) -> Vectors:
    return np.cumsum(products, axis=1, dtype=np.float32)[:, -1]
