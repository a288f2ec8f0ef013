"""Newer memories before older ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class Recency:
    """Hyperbolic decay of the event's age, 1 / (1 + age / half_life): 1 now, 0.5 after a year, never 0.

    A date in the future counts as now.
    """

    half_life_hours: float = 8760.0
    name: str = "recency"
    lower_is_better: bool = False

    def __call__(self, query: Query, pool: Sequence[Candidate], /) -> Mapping[int, float]:
        return {
            candidate.key: 1 / (1 + max(0.0, _hours(query, candidate)) / self.half_life_hours) for candidate in pool
        }


def _hours(query: Query, candidate: Candidate) -> float:
    return (query.now - candidate.memory.event_at).total_seconds() / 3600
