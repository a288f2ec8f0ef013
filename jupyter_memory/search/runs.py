"""The last searches of a store, kept as they ran for whoever asks why a hit ranks where it does."""

from __future__ import annotations

from collections import OrderedDict

from jupyter_memory.search.explanation import judged_by, ranks_without
from jupyter_memory.search.pipeline import Scored
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.storage.cache import Lock

# Searches that can still be asked about as they were, each a pool of some hundred memories.
_KEPT = 8


class Runs:
    """The last searches as they ran, by query id; safe to share between threads."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, tuple[Scored, Profile]] = OrderedDict()
        self._lock = Lock()

    def keep(self, query_id: str, scored: Scored, profile: Profile) -> None:
        """Keep a search in place of the oldest."""
        with self._lock:
            self._runs[query_id] = (scored, profile)
            while len(self._runs) > _KEPT:
                self._runs.popitem(last=False)

    def told(self, query_id: str, memory_id: str) -> tuple[dict[str, int], dict[str, str]]:
        """Return the ranks of a hit without each term, and what its signals judged it by.

        Both are empty once newer searches have taken the place of its own.
        """
        with self._lock:
            run = self._runs.get(query_id)
        if run is not None:
            scored, profile = run
            for key in (one.key for one in scored.context if one.memory.id == memory_id):
                return ranks_without(scored, profile, [key])[key], judged_by(scored, profile, key)
        return {}, {}
