"""What a client is told of the part of a store that it may see: counts, and which filters nothing there fits."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from jupyter_memory.mcp.bound import Bound
from jupyter_memory.mcp.budget import cost, stated
from jupyter_memory.mcp.quoting import quotes_for
from jupyter_memory.mcp.results import StatusResult
from jupyter_memory.types import Filters

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore

_TAGS, _NAMED = 20, 4


def status_result(store: MemoryStore, bound: Bound, client: str) -> StatusResult:
    """Return counts of what a client may see, and what it may do."""
    found = store.browsed(limit=1, filters=bound.filters(client))
    facets = found.facets
    quotes = quotes_for((*facets["tag"], *facets["lang"], bound.space, *bound.paths))
    tags = list(facets["tag"].items())[:_TAGS]
    result = StatusResult(
        memories=sum(facets["kind"].values()),
        kinds=dict(facets["kind"]),
        languages={quotes.line(name, 40): count for name, count in list(facets["lang"].items())[:_TAGS]},
        tags=[f"{quotes.line(tag, 50)} {count}" for tag, count in tags],
        bounds=_bounds(bound),
        writing=_writing(bound),
        rule=quotes.rule,
        tokens=0,
    )
    return stated(result, cost(stated(result, 9_999)))


def filter_note(store: MemoryStore, bounds: Filters, chosen: Filters | None) -> str:
    """Return which tag, kind or language nothing fits that a client may see, with what there is instead."""
    if chosen is None:
        return ""
    facets = store.browsed(limit=1, filters=bounds).facets
    quotes = quotes_for(name for counts in facets.values() for name in counts)
    for facet, values in (("tag", chosen.tag), ("kind", chosen.kind), ("lang", chosen.lang)):
        known = facets.get(facet, {})
        if values and not any(value in known for value in values):
            near = _nearest(values[0], known)
            listed = ", ".join(quotes.line(name, 50) for name in near)
            return f"Nothing found: no memory here has this {facet}." + (f" There are: {listed}." if listed else "")
    return ""


def _nearest(value: str, known: Mapping[str, int]) -> list[str]:
    """Return the names nearest to a value, or else the most frequent ones."""
    return get_close_matches(value, known, n=_NAMED) or list(known)[:_NAMED]


def _bounds(bound: Bound) -> list[str]:
    said = [f"space {bound.space}"] if bound.space else []
    said += [f"path {path}" for path in bound.paths]
    return [*said, "with what was run" if bound.history else "without what was run"]


def _writing(bound: Bound) -> str:
    if not bound.writing:
        return "no"
    return "yes; forgets anything here" if bound.forgetting_any else "yes; forgets its own notes"
