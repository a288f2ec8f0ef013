"""How sure a mean over questions is: bootstrap intervals, and a paired test of the difference of two rankings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
_SEED = 20_260_101  # the same numbers give the same interval


def interval(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean.

    ``clusters`` names what is drawn as a whole, such as the conversation that a question belongs to; with fewer than
    two of them questions are drawn singly.
    """
    sums, sizes = _by_cluster(np.asarray(values, dtype=np.float64), clusters)
    drawn = np.random.default_rng(_SEED).integers(0, sums.size, (RESAMPLES, sums.size))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def p_value(values: Sequence[float], baseline: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float:
    """Return how often signs thrown at random give as large a mean difference: a two-sided paired randomisation test.

    ``clusters`` names what has one sign as a whole; with five of them p cannot be below 2/32.
    Smucker, Allan and Carterette, CIKM 2007.
    """
    singly = np.asarray(values, dtype=np.float64) - np.asarray(baseline, dtype=np.float64)
    differences, _ = _by_cluster(singly, clusters)
    moved = differences[differences != 0]
    if not moved.size:
        return 1.0
    generator = np.random.default_rng(_SEED)
    observed, as_large, throws = abs(moved.sum()), 0, 10_000
    for _ in range(0, throws, 500):
        signs = generator.integers(0, 2, (500, moved.size), dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ moved) >= observed - 1e-12).sum())
    return (as_large + 1) / (throws + 1)


def _by_cluster(
    values: NDArray[np.float64], clusters: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if clusters is None or len(set(clusters)) < 2:
        return values, np.ones_like(values)
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    places = np.array([names[name] for name in clusters])
    sums = np.bincount(places, values).astype(np.float64)
    return sums, np.bincount(places).astype(np.float64)
