"""How near a memory lies to the moment that the question names: "what did I plot three weeks ago"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.temporal import TOLERANCE_DAYS
from jupyter_memory.types import Query

# Beyond so many tolerances nothing is left.
_REACH = 3


@dataclass(frozen=True, slots=True)
class NearTime:
    """max(0, 1 - |age - target| / (3 * tolerance)), ages in days, for the moment that the question means.

    The tolerance is 1 day where days are named, 3 for weeks, 10 for months, 60 for years; a range is meant by its
    middle (seed system `memini`; tolerances: ours). No opinion where the question names no time, or one without a
    middle, such as "before March". A date in the future counts as now.
    """

    label: ClassVar[str] = "how close it is to the time that the query names"
    description: ClassVar[str] = "1 at the moment that the query names, and less with the distance from it."

    name: str = "near_time"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        named = query.temporal
        if named is None or named.target is None or named.unit not in TOLERANCE_DAYS:
            return {}
        target, tolerance = days_between(query.now, named.target), TOLERANCE_DAYS[named.unit]
        return {one.key: closeness(days_between(query.now, one.memory.event_at), target, tolerance) for one in context}


def closeness(age: float, target: float, tolerance: float) -> float:
    """Return how close an age lies to the one that is meant, all of them in days: 1 there, 0 from 3 tolerances on."""
    return max(0.0, 1 - abs(max(0.0, age) - target) / (_REACH * tolerance))


def days_between(now: datetime, moment: datetime) -> float:
    """Return how many days before now a moment was."""
    return (now - moment).total_seconds() / 86_400
