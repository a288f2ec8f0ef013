"""The summands that profiles are made of: each turns what one leg or signal said into contributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_memory.types import Ranking


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
    """``weight * (value - worst) / (best - worst)`` over all that the leg brought; 1 for each where all are equal.

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
