"""Measures verdicts: whether strength separates the questions that a store can answer, and can be taken at its word."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.evaluation.datasets import HALVES, Question, read_set
from jupyter_memory.evaluation.metrics import auroc, calibration_error
from jupyter_memory.evaluation.runner import Bed, beds
from jupyter_memory.runtime import shown
from jupyter_memory.search.confidence import verdict
from jupyter_memory.text.display import columns
from jupyter_memory.types.protocols import Embedder

# So many hits have a percent that anybody reads.
_RANKS = 10

# The strength of each of the first hits, and whether it is right.
Judged = Sequence[tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class Answerability:
    """The answers to one set's questions: from the right store, and from one that does not answer.

    The strength of an answer is that of its first hit, and it is found if that hit is right.
    """

    set: str
    answers: Sequence[Judged]
    others: Sequence[Judged]
    half: str = ""

    @property
    def right(self) -> list[float]:
        return [_first(one)[0] for one in self.answers]

    @property
    def other(self) -> list[float]:
        """Return the strengths of the answers from a store that does not answer."""
        return [_first(one)[0] for one in self.others]

    @property
    def figures(self) -> dict[str, Any]:
        """Return the measures by name: the area under the ROC curve, errors of calibration, and shares by verdict.

        An error of calibration is how far strength is from the probability that a hit is right: of the first hits, and
        for each rank.
        """
        every = [*self.answers, *self.others]
        ranks = [[one[rank] for one in every if len(one) > rank] for rank in range(_RANKS)]
        ranks[0] = list(map(_first, every))
        errors = [calibration_error(*zip(*ones, strict=True)) for ones in ranks if ones]
        found = [strength for strength, is_right in map(_first, self.answers) if is_right]
        return {
            "queries": len(self.right),
            "found": len(found),
            "unanswerable": len(self.other),
            "auroc": auroc(self.right, self.other),
            "calibration_error": errors[0],
            "rank_errors": errors,
            "answerable_none": _share(self.right, "none"),
            "found_none": _share(found, "none"),
            "found_strong": _share(found, "strong"),
            "unanswerable_none": _share(self.other, "none"),
            "unanswerable_strong": _share(self.other, "strong"),
        }

    def to_json(self) -> dict[str, Any]:
        return {"set": self.set, "half": self.half, **self.figures}


def answerability(
    folders: Sequence[Path],
    embedder: str | Embedder,
    *,
    notebooks: Sequence[Path] = (),
    files: Path | None = None,
    work: Path | None = None,
    progress: bool = False,
) -> list[Answerability]:
    """Return, for each judged set, the strengths of its answers by the default profile.

    ``notebooks`` are the folders whose cells the sets without a corpus judge: one for all of them, or one for each.
    A set with unanswerable questions gives a row for each half, and several of them two more for all. The questions of
    other sets are also searched for in a store with other content: that of the next group, or else of the next set.
    """
    sets = [read_set(folder, next(iter(notebooks), None)) for folder in folders]
    needing = sum(judged.unit == "cell" for judged in sets)
    if len(notebooks) > 1 and len(notebooks) != needing:
        raise InputError(
            f"{needing} sets judge notebook cells, and --notebooks names {len(notebooks)} folders: name one for all of "
            "the sets, or one for each."
        )
    left = iter(notebooks if len(notebooks) > 1 else [*notebooks] * needing)
    indexed = [next(left, None) if judged.unit == "cell" else None for judged in sets]
    for judged in sets:
        if len(judged.groups) < 2 and len(sets) < 2 and not judged.unanswerable:
            raise InputError(f"{judged.name} is one collection: name a second set, to ask it the same questions.")
    with ExitStack() as opened:
        stores = [
            opened.enter_context(beds(judged, embedder, notebooks=folder, files=files, work=work, progress=progress))
            for judged, folder in zip(sets, indexed, strict=True)
        ]
        rows: list[Answerability] = []
        for place, judged in enumerate(sets):
            own = stores[place]
            if judged.unanswerable:
                every = shown([*judged.questions, *judged.unanswerable], progress, f"Asking {judged.name}")
                asked = [(one, _asked(own[one.group], one)) for one in every]
                for half in HALVES:
                    of_half = [(bool(one.grades), hits) for one, hits in asked if one.half == half]
                    right, other = ([hits for kind, hits in of_half if kind == wanted] for wanted in (True, False))
                    rows.append(Answerability(judged.name, right, other, half))
            else:
                groups, after = judged.groups, (place + 1) % len(sets)
                if len(groups) > 1:
                    others = {group: own[groups[number - 1]] for number, group in enumerate(groups)}
                else:
                    others = {groups[0]: stores[after][sets[after].groups[0]]}
                questions = shown(judged.questions, progress, f"Asking {judged.name}")
                pairs = [(_asked(own[one.group], one), _asked(others[one.group], one)) for one in questions]
                rows.append(Answerability(judged.name, [right for right, _ in pairs], [other for _, other in pairs]))
    for half in HALVES:
        parts = [row for row in rows if row.half == half]
        if len(parts) > 1:
            answers = [one for row in parts for one in row.answers]
            rows.append(Answerability("all", answers, [one for row in parts for one in row.others], half))
    return rows


def table(found: Sequence[Answerability]) -> str:
    head = ("set", "queries", "AUROC", "ECE", "by rank", "unanswerable called strong", "none", "right called none")
    shares = ("unanswerable_strong", "unanswerable_none", "found_none", "found_strong")
    rows: list[tuple[str, ...]] = [(*head, "strong")]
    for one in found:
        told = one.figures
        rows.append(
            (
                f"{one.set}, {one.half}" if one.half else one.set,
                f"{told['queries']}+{told['unanswerable']}",
                *(f"{told[name]:.3f}" for name in ("auroc", "calibration_error")),
                f"{fmean(told['rank_errors']):.3f}",
                *(f"{told[name]:.1%}" for name in shares),
            )
        )
    return columns(rows)


def _asked(bed: Bed, question: Question) -> Judged:
    answer = bed.store.hits(question.text, limit=_RANKS, now=question.date, profile="auto")
    return [(hit.strength, bed.documents.get(hit.memory.id) in question.grades) for hit in answer.hits]


def _first(hits: Judged) -> tuple[float, bool]:
    return hits[0] if hits else (0.0, False)


def _share(strengths: Sequence[float], called: str) -> float:
    return sum(verdict(one) == called for one in strengths) / len(strengths) if strengths else nan
