"""An answer together with the whole pool that it was chosen from, so that other weights need no other search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter
from uuid import uuid4

from jupyter_memory.errors import InputError
from jupyter_memory.protocols import Term
from jupyter_memory.search.confidence import strength_of, verdict
from jupyter_memory.search.pipeline import Result, Scored, fuse
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.types import Answer, Hit

# What may differ between two profiles that weigh the same evidence.
_WEIGHED = ("name", "summary", "terms", "keyword_only")


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
        whole = replace(term, weight=1.0) if hasattr(term, "weight") else term  # type: ignore[type-var]
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
