"""The contributions of a search as they come about, and the steps that change them once all of them are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from jupyter_memory.ranking.copies import newer_first, normalised
from jupyter_memory.ranking.pool import Pool
from jupyter_memory.types import Query

Contributions = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Tally:
    """Contributions by term and candidate; ``copies`` maps candidates that were folded away to the one that stays."""

    query: Query
    pool: Pool
    contributions: Contributions
    copies: Mapping[int, int] = field(default_factory=dict)

    def totals(self, terms: Iterable[str] = ()) -> dict[int, float]:
        """Return the sum for each candidate that is left, of all terms or of those named."""
        chosen = [self.contributions[name] for name in terms or self.contributions if name in self.contributions]
        keys = [one.key for one in self.pool if one.key not in self.copies]
        return {key: sum(values.get(key, 0.0) for values in chosen) for key in keys}


class Step(Protocol):
    """Changes a tally: what depends on all candidates together."""

    def __call__(self, tally: Tally, /) -> Tally: ...


@dataclass(frozen=True, slots=True)
class FoldCopies:
    """Drop a candidate that says the same as a better one; ``by`` names the terms that tell which is better, or all."""

    by: tuple[str, ...] = ()

    def __call__(self, tally: Tally, /) -> Tally:
        totals = tally.totals(self.by)
        kept: dict[str, int] = {}
        copies = dict(tally.copies)
        left = [one for one in tally.pool if one.key in totals]
        for one in sorted(left, key=lambda one: (-totals[one.key], *newer_first(one.memory))):
            said = normalised(tally.pool.texts[one.key])
            if said in kept:
                copies[one.key] = kept[said]
            else:
                kept[said] = one.key
        return replace(tally, copies=copies)

    def __str__(self) -> str:
        return "of memories that say the same, the best stays"


@dataclass(frozen=True, slots=True)
class Relevance:
    """Scale the terms of relevance together so that the best candidate has ``share`` (seed system `memini`)."""

    terms: tuple[str, ...]
    share: float

    def __call__(self, tally: Tally, /) -> Tally:
        best = max(tally.totals(self.terms).values(), default=0.0)
        scaled = {
            name: {key: value / best * self.share for key, value in values.items()} if best > 0 else values
            for name, values in tally.contributions.items()
            if name in self.terms
        }
        return replace(tally, contributions={**tally.contributions, **scaled})

    def __str__(self) -> str:
        return f"{' + '.join(self.terms)} scaled so that the best has {self.share:g}"


@dataclass(frozen=True, slots=True)
class Alone:
    """Where this term says anything, no other counts: the score is fixed (seed system `vault`: session history)."""

    term: str

    def __call__(self, tally: Tally, /) -> Tally:
        fixed = set(tally.contributions.get(self.term, ()))
        others = {
            name: {key: value for key, value in values.items() if name == self.term or key not in fixed}
            for name, values in tally.contributions.items()
        }
        return replace(tally, contributions=others)

    def __str__(self) -> str:
        return f"where there is {self.term}, it alone"
