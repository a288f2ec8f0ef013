"""Scores a memory by what does not depend on the query: its tier, its sources, how often it was read, and its age."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.postprocessing import normalised
from jupyter_memory.search.signals.time import Recency
from jupyter_memory.types import Memory, Query

_TIERS = {"core": 1.0, "note": 0.7, "file": 0.6, "mcp": 0.5}


@dataclass(frozen=True, slots=True)
class Quality:
    """0.4 * tier + 0.2 * c / (c + 1) + 0.2 * a / (a + 3) + 0.2 * recency, in [0, 1] (profile `memini`; numbers: ours).

    c counts the other sources among the candidates that say the same (they are found together, having the same words
    and the same vector), a how often the memory was read.
    """

    label: ClassVar[str] = "where it comes from, its age, and how often it was read"
    description: ClassVar[str] = "Its tier, the number of its sources, how often it was read, and its age."

    name: str = "quality"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        said = {key: normalised(text) for key, text in context.candidates.texts.items()}
        sources: dict[str, set[str]] = defaultdict(set)
        for one in context:
            sources[said[one.key]].add(one.memory.source)
        recent = Recency()(query, context)
        return {one.key: quality(one.memory, len(sources[said[one.key]]) - 1, recent[one.key]) for one in context}


def quality(memory: Memory, copies: int, recency: float) -> float:
    """Return what a memory is worth by itself: ``copies`` is in how many other sources its content is found."""
    read = memory.accessed
    return 0.4 * importance(memory) + 0.2 * copies / (copies + 1) + 0.2 * read / (read + 3) + 0.2 * recency


def importance(memory: Memory) -> float:
    """Return what the tier of a memory is worth, in [0, 1]."""
    return _TIERS[memory.tier]
