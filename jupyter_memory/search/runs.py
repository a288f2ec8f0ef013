"""Searches as they ran, with all their candidates: kept to explain a hit, and weighed anew without another search."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter
from uuid import uuid4

from jupyter_memory.errors import InputError
from jupyter_memory.search.confidence.strength import strength_of, verdict
from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.pipeline import Result, Scored, fuse
from jupyter_memory.search.presentation.explanation import ranks_without
from jupyter_memory.search.presentation.reasons import judged_by
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.storage.cache import Lock
from jupyter_memory.types import Answer, Hit
from jupyter_memory.types.protocols import Term

# Searches that can still be asked about as they were, each a pool of some hundred memories.
_KEPT = 8
# What may differ between two profiles that weigh the same evidence.
_WEIGHED = ("name", "summary", "terms", "keyword_only")


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


@dataclass(frozen=True, slots=True)
class Pooled:
    """An answer and what it was weighed from; ``everyone`` holds a hit for each candidate, by the store's key."""

    answer: Answer
    profile: Profile
    scored: Scored
    everyone: Mapping[int, Hit]

    @property
    def hybrid(self) -> bool:
        """Return whether meaning was searched, and not words alone."""
        return self.scored.hybrid

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the terms that count in this search."""
        return self.profile.terms_for(self.hybrid)

    def speaks(self, term: Term) -> bool:
        """Return whether a term has anything to say of any candidate, whatever its weight."""
        [whole] = with_weights([term], dict.fromkeys(weights_of([term]), 1.0))
        adds = whole.contributions(self.scored.rankings[term.reads or term.name])
        return any(value for value in adds.values())

    def ranks(self, profile: Profile) -> dict[str, int]:
        """Return the rank of every candidate that is left by a profile with other weights, by the memory's id."""
        return {one.candidate.memory.id: one.rank for one in self._weighed(profile).ranked}

    def weighed(self, profile: Profile) -> Answer:
        """Return the answer that a new search by a profile with other weights would give.

        Raises:
            InputError: it differs in more than its weights, so that a search by it would look at something else.
        """
        begun = perf_counter()
        result = self._weighed(profile)
        hits = [
            replace(
                self.everyone[one.candidate.key],
                rank=one.rank,
                score=one.score,
                signals=one.evidence,
            )
            for one in result.ranked[: result.limit]
        ]
        judged = self.answer.verdict is not None
        strength = strength_of([hit.strength for hit in hits]) if judged else nan
        return replace(
            self.answer,
            hits=tuple(hits),
            profile=profile.name,
            terms=tuple(term.name for term in profile.terms),
            counts={**self.answer.counts, "fused": len(result.ranked)},
            timings={"rank": (elapsed := (perf_counter() - begun) * 1000), "total": elapsed},
            query_id=uuid4().hex,
            strength=strength,
            verdict=verdict(strength) if judged else None,
        )

    def _weighed(self, profile: Profile) -> Result:
        ours = self.profile.replace(**{name: getattr(profile, name) for name in _WEIGHED})
        if ours != profile:
            raise InputError(
                f"{profile.name} differs from {self.profile.name} in more than its weights, so it has to search by "
                "itself: store.search(…, profile=…)."
            )
        return fuse(self.scored, profile)
