"""Memories that share the tags given beside the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class Tags:
    """Jaccard similarity of the query's tags and the memory's, whatever their case; 0 where the query has none."""

    label: ClassVar[str] = "the tags that it shares with the query"
    description: ClassVar[str] = "The share of tags that the memory and the query have in common."

    name: str = "tags"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        wanted = {tag.casefold() for tag in query.tags}
        return {
            candidate.key: _jaccard(wanted, {tag.casefold() for tag in candidate.memory.tags}) for candidate in context
        }


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
