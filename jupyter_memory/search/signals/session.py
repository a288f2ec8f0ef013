"""Scores a memory by how well the best other memory of its session matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.signals.neighbour import evidence
from jupyter_memory.types import Candidate, Query


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
