"""The time of a memory: near the one that the query names, recent, or valid now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.temporal import TOLERANCE_DAYS
from jupyter_memory.types import Filters, Memory, Query


@dataclass(frozen=True, slots=True)
class NamedTime:
    """How certain it is that the query means this time, for memories from then; 0 for the others.

    No opinion where the query names no time.
    """

    label: ClassVar[str] = "being from the time that the query names"
    description: ClassVar[str] = "How certain the time in the query is, for memories from that time; 0 for the others."

    name: str = "time"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        temporal, then = query.temporal, query.time_filters
        if temporal is None or then is None:
            return {}
        return {one.key: temporal.sure * _is_of(one.memory, then) for one in context}


def _is_of(memory: Memory, then: Filters) -> bool:
    if then.session:
        return memory.session in then.session
    return (then.since is None or memory.event_at >= then.since) and (
        then.until is None or memory.event_at < then.until
    )


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


_LAST_PART = 0.25


@dataclass(frozen=True, slots=True)
class Validity:
    """Exponential decay of the event's age, or, for a memory that holds until a date, of what is left of its window.

    exp(-ln 2 * age / half_life): 1 now, 0.5 after a year. With a window: 1 while at least a quarter of it remains, then
    the remaining part of that quarter; 0 after its end and before its start (seed system `vault`). A window without a
    start begins with the event; one without an end only keeps back what has not begun.
    """

    label: ClassVar[str] = "being recent, or still valid"
    description: ClassVar[str] = (
        "1 for a new or valid memory, less for an older one or one that soon expires, 0 for an expired one."
    )

    half_life_days: float = 365.0
    name: str = "validity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: self._of(candidate.memory, query.now) for candidate in context}

    def _of(self, memory: Memory, now: datetime) -> float:
        begins = memory.valid_from or memory.event_at
        if memory.valid_from is not None and now < begins:
            return 0.0
        if memory.valid_until is None:
            days = max(0.0, (now - memory.event_at).total_seconds() / 86_400)
            return float(2.0 ** (-days / self.half_life_days))
        left, window = (memory.valid_until - now).total_seconds(), (memory.valid_until - begins).total_seconds()
        if left <= 0 or window <= 0:
            return 0.0
        return min(1.0, left / (_LAST_PART * window))
