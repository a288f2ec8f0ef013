"""What stands next to a good match is more likely to answer: the reply to a question, the code under its heading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from jupyter_memory.ranking.pool import Pool
from jupyter_memory.ranking.signals.meaning import Meaning
from jupyter_memory.ranking.weights import MEANING, WORDS
from jupyter_memory.types import Candidate, Memory, Query


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The evidence of words and meaning for the better of the two memories beside a candidate; 0 where it has none."""

    name: str = "neighbour"

    def __call__(self, query: Query, pool: Sequence[Candidate], /) -> Mapping[int, float]:
        return neighbour_evidence(cast(Pool, pool).once(evidence, query), pool)


def evidence(query: Query, pool: Pool) -> dict[int, float]:
    """Return what words and meaning together say for each candidate, by key."""
    words, meant = pool.surroundings.bm25, Meaning()(query, pool)
    return {
        one.key: WORDS * words.get(one.key, 0.0) + (MEANING * meant[one.key] if meant[one.key] == meant[one.key] else 0)
        for one in pool
    }


def neighbour_evidence(evidence: Mapping[int, float], pool: Sequence[Candidate]) -> dict[int, float]:
    """Return the evidence of the better of each candidate's two neighbours, by key; 0 where it is none or against.

    Neighbours are cells of one notebook or memories of one session that were stored one after the other. Only those of
    the pool count: what no leg brought has little to say.
    """
    memories = {one.key: one.memory for one in pool}
    found = {}
    for key, memory in memories.items():
        beside = (other for other in (key - 1, key + 1) if other in memories and belong(memory, memories[other]))
        found[key] = max((evidence.get(other, 0.0) for other in beside), default=0.0)
    return {key: max(0.0, value) for key, value in found.items()}


def belong(one: Memory, other: Memory) -> bool:
    """Return whether two memories are of one notebook or one session."""
    if one.space != other.space or one.kind != other.kind:
        return False
    if one.kind == "cell":
        return one.source == other.source
    return one.session is not None and one.session == other.session
