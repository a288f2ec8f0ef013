"""How good a ranked list is, given grades: the measures of TREC and BEIR, each between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2

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


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
