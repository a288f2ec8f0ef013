"""Fusion: each term of a profile turns one ranking into contributions, and a score is their sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import NamedTuple

from jupyter_memory.types import Candidate, Evidence, Ranking, ScoredChunk
from jupyter_memory.types.protocols import Term, WeightedTerm

Contributions = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """``weight / (k + rank)``: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

    name: str
    weight: float
    k: float = 60.0
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        return {key: self.weight / (self.k + rank) for key, rank in ranking.ranks.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}/({self.k:g} + {self.name}_rank)"


@dataclass(frozen=True, slots=True)
class ReciprocalValue:
    """``weight / (k + value)``: a value that is itself a rank, such as a tier."""

    name: str
    weight: float
    k: float = 60.0
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        return {key: self.weight / (self.k + value) for key, value in ranking.scores.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}/({self.k:g} + {self.name})"


@dataclass(frozen=True, slots=True)
class Weighted:
    """``weight * value``."""

    name: str
    weight: float
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        return {key: self.weight * value for key, value in ranking.scores.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}*{self.name}"


@dataclass(frozen=True, slots=True)
class MinMax:
    """``weight * (value - worst) / (best - worst)`` over all that the retriever found; 1 for each where all are equal.

    Relative score fusion, as in seed system `memini`'s FuseScores.
    """

    name: str
    weight: float
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        best, worst = max(ranking.scores.values(), default=0.0), min(ranking.scores.values(), default=0.0)
        if best == worst:
            return dict.fromkeys(ranking.scores, self.weight)
        return {key: self.weight * (value - worst) / (best - worst) for key, value in ranking.scores.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}*minmax({self.name})"


def weights_of(terms: Iterable[Term]) -> dict[str, float]:
    """Return the weights of the terms that have one, by the term's name."""
    return {term.name: float(term.weight) for term in terms if isinstance(term, WeightedTerm)}


def with_weights(terms: Iterable[Term], weights: Mapping[str, float]) -> tuple[Term, ...]:
    """Return the terms, those that are named in ``weights`` with another weight."""
    return tuple(
        replace(term, weight=weights[term.name]) if term.name in weights else term  # type: ignore[type-var]
        for term in terms
    )


class Column(NamedTuple):
    """What one term or signal said of all candidates: values, the ranking that gives their ranks, contributions."""

    name: str
    values: Mapping[int, float]
    order: Ranking[int]
    contributions: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Table:
    """All that was said of the candidates of one search, from which the evidence for each of them is read.

    ``found`` and ``rankings`` are what each retriever found.
    """

    columns: Sequence[Column]
    found: Mapping[str, Mapping[int, ScoredChunk]]
    rankings: Mapping[str, Ranking[int]]

    def totals(self) -> dict[int, float]:
        """Return the sum of the contributions of each candidate that has any but 0."""
        sums: dict[int, float] = {}
        # Most contributions of most signals are 0.
        for column in self.columns:
            if any(column.contributions.values()):
                for key, value in column.contributions.items():
                    sums[key] = sums.get(key, 0.0) + value
        return sums

    def value(self, name: str, key: int) -> float:
        """Return what a term or signal said of a candidate, NaN where it has no value."""
        return self.values(name).get(key, nan)

    def values(self, name: str) -> Mapping[int, float]:
        """Return what a term or signal said of each candidate of which it has a value, by key."""
        return next((column.values for column in self.columns if column.name == name), {})


class Ranked(NamedTuple):
    """A candidate with its place in the fused list; the evidence that put it there is read when it is asked for."""

    rank: int
    candidate: Candidate
    score: float
    table: Table

    @property
    def evidence(self) -> dict[str, Evidence]:
        """Return what each term and signal said of it."""
        key = self.candidate.key
        return {
            name: Evidence(values.get(key, nan), order.rank(key), contributions.get(key, 0.0))
            for name, values, order, contributions in self.table.columns
        }

    @property
    def found(self) -> dict[str, ScoredChunk]:
        """Return what each retriever that found it says of it."""
        key = self.candidate.key
        return {name: found[key] for name, found in self.table.found.items() if key in found}

    @property
    def ranks(self) -> dict[str, int]:
        """Return its rank with each retriever that found it."""
        places = ((name, self.table.rankings[name].rank(self.candidate.key)) for name in self.table.found)
        return {name: place for name, place in places if place is not None}
