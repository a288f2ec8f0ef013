"""Summarises measurements: one row for each set, profile and type of question, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from jupyter_memory.evaluation.datasets import read_set
from jupyter_memory.evaluation.metrics import METRICS
from jupyter_memory.evaluation.runner import Measured, beds, by_arm, measure
from jupyter_memory.evaluation.significance import interval, p_value
from jupyter_memory.search.profiles import Profile
from jupyter_memory.text.display import columns
from jupyter_memory.types.protocols import Embedder

MAIN = "ndcg@10"


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the questions of one type (``all`` for every type), each with its 95 % interval.

    ``against`` is the baseline's name, ``difference`` the difference of ndcg@10 to it, ``p`` the
    probability that chance alone gives as much.
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


def evaluate(
    folder: Path,
    arms: Mapping[str, Profile],
    embedder: str | Embedder,
    *,
    notebooks: Path | None = None,
    files: Path | None = None,
    work: Path | None = None,
    by_type: bool = False,
    folds: str = "query",
    baseline: str = "",
    progress: bool = False,
) -> tuple[list[Row], list[str]]:
    """Return a row for each arm (and type of question), and what a reader of them should know.

    ``notebooks`` is the folder that a set without a corpus judges the cells of; ``files`` has the folders of which
    it judges the files.

    Raises:
        InputError: a file of the set is missing or cannot be read.
    """
    judged = read_set(folder, notebooks)
    notices = [f"{judged.name}: {judged.unjudged} questions without an answer are left out."] if judged.unjudged else []
    name = embedder if isinstance(embedder, str) else embedder.name
    with beds(judged, embedder, notebooks=notebooks, files=files, work=work, progress=progress) as opened:
        measured = measure(judged, opened, arms, progress)
    return list(rows(measured, judged.name, name, by_type=by_type, folds=folds, baseline=baseline)), notices
