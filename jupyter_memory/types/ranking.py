"""What retrievers and signals return: scores with their ranks, found chunks, candidates and evidence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from jupyter_memory.types.memory import Memory

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Ranking(Generic[Key]):
    """Scores by key, higher is better, and the ranks that follow; equal scores share a rank.

    >>> Ranking({"b": 0.5, "a": 0.9, "c": 0.5, "d": 0.1}).ranks
    {'b': 2, 'a': 1, 'c': 2, 'd': 4}
    """

    scores: Mapping[Key, float]

    @cached_property
    def ranks(self) -> dict[Key, int]:
        """Return 1-based competition ranks (1, 2, 2, 4), in the order of the scores."""
        worst_first = self._worst_first
        # Of equal scores the last one written stays, which is the best rank.
        places = dict(zip(worst_first, range(len(worst_first), 0, -1), strict=True))
        return {key: places[score] for key, score in self.scores.items()}

    def rank(self, key: Key) -> int | None:
        """Return the rank of one key, None if it has no score; faster than ranking all keys."""
        score = self.scores.get(key)
        return None if score is None else len(self._worst_first) - bisect_right(self._worst_first, score) + 1

    @cached_property
    def _worst_first(self) -> list[float]:
        return sorted(self.scores.values())

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.scores)


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A memory that a retriever found by its best chunk; keys are the store's integers, ``score`` higher is better."""

    memory: int
    chunk: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory of the pool with its best chunk, as signals and the answer see it."""

    key: int
    memory: Memory
    chunk: int
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one signal or retriever says of a hit: its raw value, its rank, and what it adds to the score."""

    value: float
    rank: int | None
    contribution: float
