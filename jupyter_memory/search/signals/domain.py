"""Memories of the domain given beside the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class Domain:
    """1 if the query has a domain and the memory is of it, else 0 (seed system `vault`)."""

    label: ClassVar[str] = "being of the domain that the query is about"
    description: ClassVar[str] = "1 if the memory belongs to the domain of the query, else 0."

    name: str = "domain"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {
            candidate.key: float(query.domain is not None and candidate.memory.domain == query.domain)
            for candidate in context
        }
