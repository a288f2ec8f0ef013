"""Asks the questions of a judged set by the production path, and measures the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from jupyter_memory.evaluation.beds import Bed
from jupyter_memory.evaluation.judged import JudgedSet, Question
from jupyter_memory.evaluation.metrics import DEPTH, METRICS
from jupyter_memory.progress import shown
from jupyter_memory.search.profiles.builtin import LEGS, Profile


@dataclass(frozen=True, slots=True)
class Measured:
    """One question asked of one arm: its metrics by name, and the milliseconds of the whole search."""

    arm: str
    question: Question
    metrics: Mapping[str, float]
    ms: float


def measure(
    judged: JudgedSet, beds: Mapping[str, Bed], arms: Mapping[str, Profile], progress: bool = False
) -> list[Measured]:
    """Ask every question of every arm; an arm's questions are in the set's order."""
    return [
        _asked(name, profile, question, beds[question.group])
        for name, profile, question in shown(_work(judged.questions, arms), progress, f"Asking {judged.name}")
    ]


def ranked(bed: Bed, question: Question, profile: Profile) -> list[str]:
    """Return the ids of the documents that a profile finds, best first; a single leg gives only what it found."""
    hits = bed.store.hits(question.text, limit=DEPTH, profile=profile, now=question.date).hits
    if profile.name in LEGS:
        leg = "kw_rank" if profile.name == "keyword" else "sem_rank"
        hits = tuple(hit for hit in hits if getattr(hit, leg) is not None)
    # A heading or a file that nobody judged has no name; it takes its place in the list all the same.
    return [bed.documents.get(hit.memory.id, hit.memory.id) for hit in hits]


def _work(questions: Sequence[Question], arms: Mapping[str, Profile]) -> list[tuple[str, Profile, Question]]:
    # The arms take turns, so that their times can be compared.
    return [(name, profile, question) for question in questions for name, profile in arms.items()]


def _asked(name: str, profile: Profile, question: Question, bed: Bed) -> Measured:
    begun = perf_counter()
    found = ranked(bed, question, profile)
    ms = (perf_counter() - begun) * 1000
    return Measured(name, question, {metric: of(found, question.grades) for metric, of in METRICS.items()}, ms)


def by_arm(measured: Iterable[Measured]) -> dict[str, list[Measured]]:
    """Return measurements by arm, each arm's questions in one and the same order."""
    arms: dict[str, list[Measured]] = {}
    for one in measured:
        arms.setdefault(one.arm, []).append(one)
    return arms
