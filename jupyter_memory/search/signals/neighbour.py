"""What stands next to a good match is more likely to answer: the reply to a question, the code under its heading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import cast

from jupyter_memory.search.evidence import MEANING, WORDS
from jupyter_memory.search.pool import Pool
from jupyter_memory.search.signals.semantic_margin import meant
from jupyter_memory.types import Candidate, Memory, Query


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The evidence of words and meaning for the better of the two memories beside a candidate; 0 where it has none."""

    name: str = "neighbour"

    def __call__(self, query: Query, pool: Sequence[Candidate], /) -> Mapping[int, float]:
        return neighbour_evidence(cast(Pool, pool).once(evidence, query), pool)


def evidence(query: Query, pool: Pool) -> dict[int, float]:
    """Return what words and meaning together say for each candidate, by key."""
    words = pool.words
    return {
        key: WORDS * words.get(key, 0.0) + (0.0 if isnan(value) else MEANING * value)
        for key, value in pool.once(meant, query).items()
    }


def neighbour_evidence(evidence: Mapping[int, float], pool: Sequence[Candidate]) -> dict[int, float]:
    """Return the evidence of the better of each candidate's two neighbours, by key; 0 where it is none or against.

    Neighbours are cells of one notebook or memories of one session that were stored one after the other. Only those of
    the pool count: what no leg brought has little to say.
    """
    memories = {one.key: one.memory for one in pool}
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
