"""The profiles: named recipes that say which evidence counts and how much."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from jupyter_memory.errors import UnknownProfile
from jupyter_memory.protocols import Signal, Term
from jupyter_memory.ranking.signals import Recency, Tier, Title
from jupyter_memory.ranking.terms import ReciprocalRank, ReciprocalValue, Weighted


@dataclass(frozen=True, slots=True)
class OverFetch:
    """How many memories each leg brings for ``limit`` hits: ``max(factor * limit, minimum)``."""

    factor: int = 4
    minimum: int = 20

    def __call__(self, limit: int, /) -> int:
        return max(self.factor * limit, self.minimum)


@dataclass(frozen=True, slots=True)
class Profile:
    """A ranking: what the legs fetch, which signals judge, and the terms whose sum is the score.

    ``columns`` are the BM25 weights of the keyword index; a column that is not among them is not searched.
    ``threshold`` tells whether finds below the embedder's (or the user's) cosine threshold are dropped.
    """

    name: str
    summary: str
    terms: tuple[Term, ...]
    columns: Mapping[str, float]
    signals: tuple[Signal, ...] = ()
    fetch: OverFetch = OverFetch()
    threshold: bool = False

    @property
    def formula(self) -> str:
        """Return the score as a sum that a person can check."""
        return " + ".join(map(str, self.terms))

    def replace(self, **changes: Any) -> Profile:
        """Return a copy with other values, such as ``columns={"title": 3, "text": 1}``."""
        return dataclasses.replace(self, **changes)

    def with_signal(self, signal: Signal, weight: float) -> Profile:
        """Return a copy, called ``name+signal``, in which ``weight * value`` of one more signal counts."""
        return dataclasses.replace(
            self,
            name=f"{self.name}+{signal.name}",
            signals=(*self.signals, signal),
            terms=(*self.terms, Weighted(signal.name, weight)),
        )


def _covalence_terms() -> tuple[Term, ...]:
    """0.90 * (1/(60+vec) + 1/(60+kw) + 0.20/(60+tier) + 0.01*title) + 0.10 * recency * 0.033, multiplied out."""
    return (
        ReciprocalRank("vector", 0.90),
        ReciprocalRank("keyword", 0.90),
        ReciprocalValue("tier", 0.90 * 0.20),
        Weighted("title", 0.90 * 0.01),
        Weighted("recency", 0.10 * 0.033),
    )


covalence = Profile(
    name="covalence",
    summary="Five signals by reciprocal ranks: meaning, words, tier, title, recency.",
    terms=_covalence_terms(),
    columns=MappingProxyType({"title": 5.0, "text": 1.0}),
    signals=(Tier(), Title(), Recency()),
    threshold=True,
)

trovella = Profile(
    name="trovella",
    summary="Two signals by reciprocal ranks: words and meaning, nothing else.",
    terms=(ReciprocalRank("keyword", 1.0), ReciprocalRank("vector", 1.0)),
    columns=MappingProxyType({"title": 1.0, "context": 1.0, "text": 1.0}),
)

# Covalence's sum over every column of the index, so that a part of an identifier, a tag or the Markdown above a cell
# finds it; its own weights come with its own issue.
auto = covalence.replace(
    name="auto",
    summary="The default: covalence's five signals over every column of the keyword index.",
    columns=MappingProxyType({"title": 5.0, "context": 1.0, "text": 1.0, "tags": 1.0, "ident": 1.0}),
)

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in (auto, covalence, trovella)})


def profile_named(name: str | Profile) -> Profile:
    """Return a profile by its name, or the profile itself.

    Raises:
        UnknownProfile: no profile has this name.
    """
    if isinstance(name, Profile):
        return name
    if name in PROFILES:
        return PROFILES[name]
    near = get_close_matches(name, PROFILES, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownProfile(f"There is no profile {name!r}.{guess} Known: {', '.join(PROFILES)}.")
