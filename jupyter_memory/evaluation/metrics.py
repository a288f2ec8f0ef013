"""How good a ranked list is, given grades: the measures of TREC and BEIR, each between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean, median
from typing import Any

from jupyter_memory.evaluation.runner import Measured, by_arm
from jupyter_memory.evaluation.significance import interval, p_value
from jupyter_memory.text.layout import columns

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


# Measurements summed up: a row for each set, profile and type of question, as table and as JSON.

MAIN = "ndcg@10"


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the questions of one type (``all`` for every type), each with its 95 % interval.

    ``against`` is the baseline's name, ``difference`` that of ndcg@10, ``p`` how likely chance alone gives as much.
    """

    set: str
    profile: str
    embedder: str
    type: str
    queries: int
    metrics: Mapping[str, float]
    ci95: Mapping[str, tuple[float, float]]
    p50_ms: float
    against: str = ""
    difference: float = 0.0
    p: float = 1.0

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {
            "set": self.set,
            "profile": self.profile,
            "embedder": self.embedder,
            "type": self.type,
            "queries": self.queries,
            **self.metrics,
            "p50_ms": self.p50_ms,
            "ci95": {name: list(bounds) for name, bounds in self.ci95.items()},
            **({"against": self.against, "difference": self.difference, "p": self.p} if self.against else {}),
        }


def rows(
    measured: Sequence[Measured],
    name: str,
    embedder: str,
    *,
    by_type: bool = False,
    folds: str = "query",
    baseline: str = "",
    against: Sequence[Measured] = (),
) -> Iterator[Row]:
    """Yield a row for each arm, and with ``by_type`` one for each of its types.

    Differences are counted from the arm ``baseline``, or from ``against``: the same questions measured elsewhere.
    ``folds="group"`` draws whole groups for the intervals and turns their signs together for ``p``: questions about
    one conversation are not independent.
    """
    arms = by_arm(measured)
    for arm, ones in arms.items():
        base = against or (arms.get(baseline, []) if arm != baseline else [])
        types = sorted({one.question.type for one in ones} - {""}) if by_type else []
        for kind in ("all", *types):
            chosen = [place for place, one in enumerate(ones) if kind in ("all", one.question.type)]
            yield _row(
                [ones[i] for i in chosen], [base[i] for i in chosen] if base else [], kind, name, embedder, folds
            )


def table(found: Sequence[Row]) -> str:
    """Return the rows as text in columns."""
    kinds = len({row.type for row in found}) > 1
    compared = any(row.against for row in found)
    head = ["set", "profile", *(["type"] if kinds else []), "queries", *METRICS, "p50 ms"]
    lines = [[*head, *([f"to {next(row.against for row in found if row.against)} (p)"] if compared else [])]]
    for row in found:
        low, high = row.ci95[MAIN]
        lines.append(
            [
                row.set,
                row.profile,
                *([row.type] if kinds else []),
                str(row.queries),
                f"{row.metrics[MAIN]:.3f} [{low:.3f} {high:.3f}]",
                *(f"{row.metrics[name]:.3f}" for name in METRICS if name != MAIN),
                f"{row.p50_ms:.1f}",
                *([f"{row.difference:+.3f} ({row.p:.2g})" if row.against else ""] if compared else []),
            ]
        )
    return columns([tuple(line) for line in lines])


def _row(ones: Sequence[Measured], against: Sequence[Measured], kind: str, name: str, embedder: str, folds: str) -> Row:
    clusters = [one.question.group for one in ones] if folds == "group" else None
    values = {metric: [one.metrics[metric] for one in ones] for metric in METRICS}
    base = [one.metrics[MAIN] for one in against]
    return Row(
        set=name,
        profile=ones[0].arm,
        embedder=embedder,
        type=kind,
        queries=len(ones),
        metrics={metric: fmean(found) for metric, found in values.items()},
        ci95={metric: interval(found, clusters) for metric, found in values.items()},
        p50_ms=median(one.ms for one in ones),
        against=against[0].arm if against else "",
        difference=fmean(values[MAIN]) - fmean(base) if base else 0.0,
        p=p_value(values[MAIN], base, clusters) if base else 1.0,
    )
