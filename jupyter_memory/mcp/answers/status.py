"""What a client is told of the part of a store that it may see: counts, its bounds, what it may do."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_memory.mcp.answers.budget import cost, stated
from jupyter_memory.mcp.answers.results import StatusResult
from jupyter_memory.mcp.bound import Bound
from jupyter_memory.search.prompt import quotes_for
from jupyter_memory.text.paths import is_missing

Facets = Mapping[str, Mapping[str, int]]
_NAMED = 20


def status_result(facets: Facets, bound: Bound) -> StatusResult:
    """Return counts of what a client may see, and what it may do."""
    quotes = quotes_for((*facets["tag"], *facets["lang"], bound.space, *bound.paths))
    tags = list(facets["tag"].items())[:_NAMED]
    result = StatusResult(
        memories=sum(facets["kind"].values()),
        kinds=dict(facets["kind"]),
        languages={quotes.line(name, 40): count for name, count in list(facets["lang"].items())[:_NAMED]},
        tags=[f"{quotes.line(tag, 50)} {count}" for tag, count in tags],
        bounds=_bounds(bound),
        writing=_writing(bound),
        rule=quotes.rule,
        tokens=0,
    )
    return stated(result, cost(stated(result, 9_999)))


def _bounds(bound: Bound) -> list[str]:
    said = [f"space {bound.space}"] if bound.space else []
    said += [f"path {path}{' (nothing is there now)' if is_missing(path) else ''}" for path in bound.paths]
    return [*said, "with what was run" if bound.history else "without what was run"]


def _writing(bound: Bound) -> str:
    if not bound.writing:
        return "no"
    return "yes; forgets anything here" if bound.forgetting_any else "yes; forgets its own notes"
