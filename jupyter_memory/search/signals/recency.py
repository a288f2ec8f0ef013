"""Newer memories before older ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query

A_YEAR = 8760.0  # hours


@dataclass(frozen=True, slots=True)
class Recency:
    """Hyperbolic decay of the event's age, 1 / (1 + age / half_life): 1 now, 0.5 after a year, never 0.

    A date in the future counts as now.
    """

    label: ClassVar[str] = "how recent it is"
    description: ClassVar[str] = "1 for a memory of now, 0.5 for one of a year ago."

    half_life_hours: float = A_YEAR
    name: str = "recency"
    lower_is_better: bool = False

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        # Moments of one zone are compared at once, those of two by asking both zones.
        now = query.now.astimezone(UTC)
        return {one.key: recency(one.memory.event_at, now, self.half_life_hours) for one in context}


def recency(event_at: datetime, now: datetime, half_life_hours: float = A_YEAR) -> float:
    """Return 1 / (1 + age / half_life) of a moment."""
    age = (now - event_at).total_seconds() / 3600
    return 1 / (1 + (age if age > 0 else 0.0) / half_life_hours)
