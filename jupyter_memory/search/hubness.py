"""How crowded it is around a text: what is near to many others is near to any question as well.

Such texts are called hubs (Radovanović et al., JMLR 2010); what follows is the idea of cross-domain similarity local
scaling (Conneau et al., ICLR 2018), with a sample of the store for the neighbourhood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.runtime.blas import one_core

# How many of the nearest are looked at.
NEAREST = 3

Floats = NDArray[np.float32]
Keys = NDArray[np.int64]


def crowding(vectors: Floats, memories: Keys, sample: Floats, owners: Keys) -> Floats:
    """Return the mean cosine of each vector with the nearest of a sample that are of other memories, ``(n,)``.

    Args:
        vectors: of length 1, ``(n, dimensions)``.
        memories: the key of each one's memory, ``(n,)``.
        sample: of length 1, ``(s, dimensions)``.
        owners: the keys of their memories, ``(s,)``.

    >>> one, near, far = np.eye(3, dtype=np.float32)[0], [0.6, 0.8, 0], [0, 0, 1]
    >>> crowding(np.array([one]), np.array([7]), np.array([one, near, far], np.float32), np.array([7, 8, 9])).round(2)
    array([0.3], dtype=float32)
    """
    with one_core():
        cosines: Floats = vectors @ sample.T
    # A sample holds few of them.
    own = np.flatnonzero(np.isin(owners, memories))
    cosines[:, own] = np.where(memories[:, None] == owners[own], -np.inf, cosines[:, own])
    cosines.partition(max(0, cosines.shape[1] - NEAREST), axis=1)
    nearest = cosines[:, -NEAREST:]
    others = np.isfinite(nearest)
    means: Floats = np.where(others, nearest, 0).sum(axis=1) / np.maximum(others.sum(axis=1), 1)
    return means.astype(np.float32, copy=False)
