"""The contributions of a search as they come about, and the steps that change them once all of them are known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from jupyter_memory.search.pool import Pool
from jupyter_memory.search.postprocessing.copies import Shingles, alike, best_first, normalised, shingles, stem
from jupyter_memory.types import Candidate, Query

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
        named = [self.contributions[name] for name in terms or self.contributions if name in self.contributions]
        # Most of what signals say of most queries is 0.
        chosen = [values for values in named if any(values.values())]
        sums = dict.fromkeys((one.key for one in self.pool), 0.0)
        for values in chosen:
            for key, value in values.items():
                if key in sums:
                    sums[key] += value
        return {key: total for key, total in sums.items() if key not in self.copies} if self.copies else sums


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
        for one in best_first(left, totals):
            said = normalised(tally.pool.texts[one.key])
            if said in kept:
                copies[one.key] = kept[said]
            else:
                kept[said] = one.key
        return replace(tally, copies=copies)

    def __str__(self) -> str:
        return "of memories that say the same, the best stays"


@dataclass(frozen=True, slots=True)
class FoldCopiedFiles:
    """Drop, among the best, what a better candidate from another copy of the same file says too.

    Copies are known by their names (``a.ipynb``, ``a-Copy1.ipynb``, ``old/a.ipynb``) and by having this ``share`` of
    their pairs of neighbouring words in common (Jaccard; Broder, SEQUENCES 1997). Only the best ``depth`` candidates,
    or twice the limit, are compared: what is further down is not shown.
    """

    share: float = 0.9
    depth: int = 30

    def __call__(self, tally: Tally, /) -> Tally:
        totals = tally.totals()
        left = [one for one in tally.pool if one.key in totals]
        count = max(self.depth, 2 * tally.query.limit)
        best = [one for one in best_first(left, totals)[:count] if one.memory.source]
        stems = {source: stem(source) for source in {one.memory.source for one in best}}
        shared = Counter(stems.values())
        kept: dict[str, list[tuple[Candidate, Shingles]]] = defaultdict(list)
        copies = dict(tally.copies)
        for one in best:
            name = stems[one.memory.source]
            if shared[name] > 1:
                said = shingles(one.memory.text)
                same = next((other for other, its in kept[name] if self._same(one, said, other, its)), None)
                if same is None:
                    kept[name].append((one, said))
                else:
                    copies[one.key] = same.key
        return replace(tally, copies=copies) if len(copies) > len(tally.copies) else tally

    def _same(self, one: Candidate, said: Shingles, other: Candidate, its: Shingles) -> bool:
        return one.memory.source != other.memory.source and alike(said, its, self.share)

    def __str__(self) -> str:
        return "of cells in copies of one notebook, and of copied files, the best stays"


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
