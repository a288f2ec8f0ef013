"""What is told of a search that has run: its lists by the ids and titles that people know, and other ranks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from jupyter_memory.search.counterfactual import ranks_without
from jupyter_memory.search.pipeline import Gathered, Result
from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.storage.locks import Lock
from jupyter_memory.types import Answer, Memory, Ranking
from jupyter_memory.types.answer import Listed, Trace

# Characters of a memory's first line that are listed.
_BEGINS = 80
# Searches that can still be asked about as they were, each a pool of some hundred memories.
_KEPT = 8


class Runs:
    """The last searches as they ran, by query id; safe to share between threads."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, tuple[Gathered, Profile]] = OrderedDict()
        self._lock = Lock()

    def keep(self, query_id: str, gathered: Gathered, profile: Profile) -> None:
        """Keep a search in place of the oldest."""
        with self._lock:
            self._runs[query_id] = (gathered, profile)
            while len(self._runs) > _KEPT:
                self._runs.popitem(last=False)

    def without(self, query_id: str, memory_id: str) -> Mapping[str, int]:
        """Return the ranks of a hit without each term, nothing once newer searches have taken the place of its own."""
        with self._lock:
            run = self._runs.get(query_id)
        if run is None:
            return {}
        gathered, profile = run
        keys = [one.key for one in gathered.pool if one.memory.id == memory_id]
        return next(iter(ranks_without(gathered, profile, keys).values()), {})


def traced(answer: Answer, result: Result, profile: Profile) -> Trace:
    """Return an answer with the lists that it was made of."""
    memories = {one.key: one.memory for one in result.pool}
    legs = {}
    for name, found in result.found.items():
        scores = {one.memory: one.score for one in found}
        ranks = Ranking(scores).ranks
        legs[name] = tuple(_listed(memories[key], ranks[key], score) for key, score in scores.items())
    fused = tuple(_listed(one.candidate.memory, one.rank, one.score) for one in result.scored)
    shown = [one.candidate.key for one in result.scored[: result.limit]]
    without = {memories[key].id: ranks for key, ranks in ranks_without(result.gathered, profile, shown).items()}
    return Trace(answer, legs["keyword"], legs["vector"], fused, without)


def _listed(memory: Memory, rank: int, score: float) -> Listed:
    begins = memory.text[: 2 * _BEGINS].lstrip().split("\n", 1)[0][:_BEGINS]
    return Listed(memory.id, memory.title, rank, score, begins)
