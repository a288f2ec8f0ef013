"""Measures of rankings, and whether two differ by more than chance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import log2

import numpy as np
from numpy.typing import NDArray

Grades = Mapping[str, float]


def ndcg(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return the normalised discounted cumulative gain at ``k``, gains being the grades (as trec_eval's ndcg_cut).

    Järvelin and Kekäläinen, ACM TOIS 2002.
    """
    ideal = sorted(grades.values(), reverse=True)
    best = _discounted(ideal[:k])
    return _discounted([grades.get(name, 0.0) for name in ranked[:k]]) / best if best else 0.0


def recall(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return which part of the relevant documents is among the first ``k``."""
    return len(set(ranked[:k]) & set(grades)) / len(grades) if grades else 0.0


def recall_any(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return 1 if any relevant document is among the first ``k``, else 0."""
    return float(any(name in grades for name in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return 1 / the rank of the first relevant document, 0 if it is not among the first ``k``."""
    return next((1 / rank for rank, name in enumerate(ranked[:k], start=1) if name in grades), 0.0)


METRICS: Mapping[str, Callable[[Sequence[str], Grades], float]] = {
    "ndcg@10": lambda ranked, grades: ndcg(ranked, grades, 10),
    "recall@5": lambda ranked, grades: recall(ranked, grades, 5),
    "recall@10": lambda ranked, grades: recall(ranked, grades, 10),
    "recall_any@5": lambda ranked, grades: recall_any(ranked, grades, 5),
    "mrr@10": lambda ranked, grades: reciprocal_rank(ranked, grades, 10),
    "success@1": lambda ranked, grades: recall_any(ranked, grades, 1),
}
DEPTH = 10
# The mean probability is compared with the share of what happened in each of so many equal bins.
_BINS = 10


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the ROC curve: the probability that a positive is above a negative, ties counting half.

    Hanley and McNeil, Radiology 1982.

    >>> auroc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    above = np.subtract.outer(np.asarray(positive, np.float64), np.asarray(negative, np.float64))
    return float((np.count_nonzero(above > 0) + np.count_nonzero(above == 0) / 2) / above.size)


def calibration_error(strengths: Sequence[float], answered: Sequence[bool]) -> float:
    """Return the expected calibration error: the mean distance of strength from the share that is answered, by bins.

    Naeini, Cooper and Hauskrecht, AAAI 2015, with ten bins of equal width.

    >>> round(calibration_error([0.9, 0.95, 0.1, 0.1], [True, False, False, False]), 3)
    0.263
    """
    bins: dict[int, list[tuple[float, bool]]] = {}
    for strength, answer in zip(strengths, answered, strict=True):
        bins.setdefault(min(int(strength * _BINS), _BINS - 1), []).append((strength, answer))
    gaps = (abs(sum(strength - answer for strength, answer in pairs)) for pairs in bins.values())
    return sum(gaps) / len(strengths)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


_RESAMPLES = 2_000
_SEED = 20_260_101  # the same numbers give the same interval


def interval(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean.

    ``clusters`` names what is drawn as a whole, such as the conversation that a question belongs to; with fewer than
    two of them questions are drawn singly.
    """
    sums, sizes = _by_cluster(np.asarray(values, dtype=np.float64), clusters)
    drawn = np.random.default_rng(_SEED).integers(0, sums.size, (_RESAMPLES, sums.size))
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
