"""Memories of one kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class OfKind:
    """1 for a memory of the kind, no opinion on the others."""

    label: ClassVar[str] = "its kind"
    description: ClassVar[str] = "1 for memories of one kind; no value for the others."

    name: str

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: 1.0 for candidate in context if candidate.memory.kind == self.name}
