"""Scores a memory by how well those next to it match, or those of its session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.signals.semantic_margin import semantic_margins
from jupyter_memory.search.signals.weights import SEMANTIC_MARGIN, WORDS
from jupyter_memory.types import Candidate, Memory, Query


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The evidence of words and meaning for the better of the two memories beside a candidate; 0 where it has none."""

    label: ClassVar[str] = "the memories next to it"
    description: ClassVar[str] = "How well the better of the two memories next to it matches by words and meaning."

    name: str = "neighbour"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return neighbour_evidence(context.shared(evidence), context.candidates)


def evidence(context: SearchContext) -> dict[int, float]:
    """Return what the words and the meaning of each candidate add up to, by key."""
    scores = context.keyword_scores
    return {
        key: WORDS * scores.get(key, 0.0) + (0.0 if isnan(value) else SEMANTIC_MARGIN * value)
        for key, value in context.shared(semantic_margins).items()
    }


def neighbour_evidence(evidence: Mapping[int, float], candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return the evidence of the better of each candidate's two neighbours, by key; 0 where it is none or against.

    Neighbours are cells of one notebook or memories of one session that were stored one after the other. Only those of
    the candidates count: what no retriever found has little to say.
    """
    memories = {one.key: one.memory for one in candidates}
    found = dict.fromkeys(memories, 0.0)
    for key, memory in memories.items():
        if (after := key + 1) in memories and belong(memory, memories[after]):
            found[key] = max(found[key], evidence.get(after, 0.0))
            found[after] = max(found[after], evidence.get(key, 0.0))
    return found


def belong(one: Memory, other: Memory) -> bool:
    """Return whether two memories are of one notebook or one session."""
    if one.space != other.space or one.kind != other.kind:
        return False
    if one.kind == "cell":
        return one.source == other.source
    return one.session is not None and one.session == other.session


@dataclass(frozen=True, slots=True)
class Session:
    """The best evidence of words and meaning among the other memories of a candidate's session; 0 where it has none."""

    label: ClassVar[str] = "what was noted in the same session"
    description: ClassVar[str] = "How well the best other memory of its session matches by words and meaning."

    name: str = "session"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return session_evidence(context.shared(evidence), context.candidates)


def session_evidence(evidence: Mapping[int, float], candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return the evidence of the best other memory of each candidate's session, by key; 0 where it is none or against.

    Only candidates count, and only within a space. The session of a kernel says little: it may last for weeks, so what
    was run in it has no evidence here.
    """
    best: dict[tuple[str, str], list[tuple[float, int]]] = {}
    sessions = {
        one.key: (one.memory.space, one.memory.session)
        for one in candidates
        if one.memory.session is not None and one.memory.kind != "history"
    }
    for key, (space, session) in sessions.items():
        two = best.setdefault((space, str(session)), [])
        two.append((evidence.get(key, 0.0), key))
        two.sort(reverse=True)
        del two[2:]
    found = dict.fromkeys((one.key for one in candidates), 0.0)
    for key, (space, session) in sessions.items():
        others = [value for value, other in best[space, str(session)] if other != key]
        found[key] = max([0.0, *others])
    return found
