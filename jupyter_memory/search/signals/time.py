"""Prefers memories from the time that the query names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
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
