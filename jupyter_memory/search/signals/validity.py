"""Prefers memories that are valid now to those that are old, have expired or are not valid yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Memory, Query

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
