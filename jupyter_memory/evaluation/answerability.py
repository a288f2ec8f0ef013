"""Measures how well strength separates the questions that a store can answer from those that it cannot.

Each question of a judged set is searched for in its own store and in a store with other content: that of the set's next
group, or of the next set if there is only one group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.evaluation.datasets import JudgedSet, Question, read_set
from jupyter_memory.evaluation.runner import Bed, beds
from jupyter_memory.progress import shown
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.confidence import verdict
from jupyter_memory.text.layout import columns


@dataclass(frozen=True, slots=True)
class Answerability:
    """The strengths of the answers to one set's questions: from the right store, and from another."""

    set: str
    right: Sequence[float]
    other: Sequence[float]

    @property
    def auroc(self) -> float:
        """Return how often a question has the greater strength where it is answered; ties count half."""
        return auroc(self.right, self.other)

    @property
    def lost(self) -> float:
        """Return the share of answerable questions that are called ``none``."""
        return _share(self.right, "none")

    @property
    def refused(self) -> float:
        """Return the share of unanswerable questions that are called ``none``."""
        return _share(self.other, "none")

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {
            "set": self.set,
            "queries": len(self.right),
            "auroc": self.auroc,
            "answerable_none": self.lost,
            "unanswerable_none": self.refused,
            "unanswerable_strong": _share(self.other, "strong"),
        }


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the ROC curve: the probability that a positive is above a negative, ties counting half.

    Hanley and McNeil, Radiology 1982.

    >>> auroc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    order = sorted([(value, 0) for value in negative] + [(value, 1) for value in positive])
    wins, below, place = 0.0, 0, 0
    while place < len(order):
        end = place
        while end < len(order) and order[end][0] == order[place][0]:
            end += 1
        ups = sum(side for _, side in order[place:end])
        downs = end - place - ups
        wins += ups * (below + downs / 2)
        below, place = below + downs, end
    return wins / (len(positive) * len(negative))


def answerability(
    folders: Sequence[Path],
    embedder: str | Embedder,
    *,
    notebooks: Path | None = None,
    files: Path | None = None,
    work: Path | None = None,
    progress: bool = False,
) -> list[Answerability]:
    """Return, for each judged set, the strengths of its answers by the default profile.

    Raises:
        InputError: a set has one group only and is alone, so there is no other store to ask.
    """
    sets = [read_set(folder, notebooks) for folder in folders]
    for judged in sets:
        if len(judged.groups) < 2 and len(sets) < 2:
            raise InputError(
                f"{judged.name} is one collection: name a second set, whose store its questions cannot be answered by."
            )
    with ExitStack() as opened:
        stores = [
            opened.enter_context(beds(judged, embedder, notebooks=notebooks, files=files, work=work, progress=progress))
            for judged in sets
        ]
        return [
            _measured(judged, stores[place], _others(judged, place, sets, stores), progress)
            for place, judged in enumerate(sets)
        ]


def table(found: Sequence[Answerability]) -> str:
    """Return the rows as text in columns."""
    head = ("set", "queries", "AUROC", "answerable called none", "unanswerable called none")
    rows = [
        (one.set, str(len(one.right)), f"{one.auroc:.3f}", f"{one.lost:.1%}", f"{one.refused:.1%}") for one in found
    ]
    return columns([head, *rows])


def _others(
    judged: JudgedSet, place: int, sets: Sequence[JudgedSet], stores: Sequence[Mapping[str, Bed]]
) -> dict[str, Bed]:
    """Return the store to ask wrongly, by group."""
    groups = judged.groups
    if len(groups) > 1:
        return {group: stores[place][groups[number - 1]] for number, group in enumerate(groups)}
    after = (place + 1) % len(sets)
    return {groups[0]: stores[after][sets[after].groups[0]]}


def _measured(judged: JudgedSet, own: Mapping[str, Bed], others: Mapping[str, Bed], progress: bool) -> Answerability:
    questions = shown(judged.questions, progress, f"Asking {judged.name}")
    pairs = [(_strength(own[one.group], one), _strength(others[one.group], one)) for one in questions]
    return Answerability(judged.name, [right for right, _ in pairs], [other for _, other in pairs])


def _strength(bed: Bed, question: Question) -> float:
    answer = bed.store.hits(question.text, now=question.date, profile="auto")
    return answer.strength if answer.hits else 0.0


def _share(strengths: Sequence[float], called: str) -> float:
    return sum(verdict(one) == called for one in strengths) / len(strengths)
