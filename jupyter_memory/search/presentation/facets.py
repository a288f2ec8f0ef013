"""How many candidates have a value, by facet: what a person can narrow an answer by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from jupyter_memory.types import Memory

COUNTED = ("kind", "lang", "tier", "tag")


def facets(memories: Iterable[Memory]) -> dict[str, dict[str, int]]:
    """Return counts by value for each facet, the most frequent value first; what has no value is not counted."""
    of_each = list(memories)
    counts = {facet: Counter(map(attrgetter(facet), of_each)) for facet in COUNTED if facet != "tag"}
    counts["tag"] = Counter(chain.from_iterable(memory.tags for memory in of_each))
    return {facet: in_order(found) for facet, found in counts.items()}


def in_order(counts: dict[str, int]) -> dict[str, int]:
    """Return counts with the most frequent value first, equal ones by name, the empty value left out."""
    return dict(sorted(((value, count) for value, count in counts.items() if value), key=lambda row: (-row[1], row[0])))
