"""Filters as SQL: a condition on a row of ``memories``, applied inside each retriever."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from jupyter_memory.storage.shared.paths import all_of, below, spellings
from jupyter_memory.storage.shared.rows import to_micros
from jupyter_memory.types import FACETS, Filters

# The tier that people see: a pinned memory is core, whatever it was.
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"
# Paths that a condition names one by one.
_FEW = 50


def condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a SQL condition on ``memories`` and its parameters; ``"1"`` where nothing is filtered."""
    parameters: dict[str, Any] = {}
    clauses = [
        clause
        for depth, each in enumerate(all_of(filters))
        for clause in _clauses(each, parameters, f"_{depth}" if depth else "")
    ]
    return " and ".join(clauses) or "1", parameters


def _clauses(filters: Filters, parameters: dict[str, Any], depth: str) -> Iterator[str]:
    for facet in FACETS:
        if wanted := getattr(filters, facet):
            yield _has(facet, wanted, parameters, facet + depth)
        if unwanted := getattr(filters, f"not_{facet}"):
            # A memory that has no value here is not one that has an unwanted one: "not in" alone would lose it.
            yield f"not coalesce({_has(facet, unwanted, parameters, f'not_{facet}{depth}')}, 0)"
    if filters.not_word:
        parameters[f"not_word{depth}"] = " OR ".join('"' + word.replace('"', '""') + '"' for word in filters.not_word)
        yield (
            "memories.key not in (select chunks.memory from keyword as held join chunks on chunks.id = held.rowid "
            f"where held.keyword match :not_word{depth})"
        )
    for bound, comparison in (("since", ">="), ("until", "<")):
        moment = getattr(filters, bound)
        if moment is not None:
            parameters[bound + depth] = to_micros(moment)
            yield f"memories.event_at {comparison} :{bound}{depth}"


def _has(facet: str, values: tuple[str, ...], parameters: dict[str, Any], name: str) -> str:
    """Return the condition that a memory has one of these values."""
    if facet == "path":
        return _below(name, [below(form) for path in values for form in spellings(path)], parameters)
    # One parameter, however many values: SQLite takes only so many of them.
    parameters[name] = json.dumps(values)
    listed = f"select value from json_each(:{name})"
    if facet == "tag":
        return f"memories.key in (select memory from tags where tag in ({listed}))"
    column = SHOWN_TIER if facet == "tier" else f"memories.{facet}"
    return f"({column} in ({listed}))"


def _below(name: str, places: Sequence[tuple[str, str, str]], parameters: dict[str, Any]) -> str:
    """Return the condition that a source is at or below one of some places.

    A few are written out, which is the fastest way; SQLite plans hundreds for seconds, so these are looked up in turn.
    """
    if len(places) > _FEW:
        parameters[name] = json.dumps(places)
        at, low, high = (f"json_extract(place.value, '$[{i}]')" for i in range(3))
        found = f"select held.key from json_each(:{name}) as place cross join memories as held"
        return (
            f"memories.key in ({found} on held.source = {at} "
            f"union all {found} on held.source >= {low} and held.source < {high})"
        )
    clauses = []
    for i, place in enumerate(places):
        names = [f"{name}_{i}_{part}" for part in ("at", "low", "high")]
        parameters.update(zip(names, place, strict=True))
        at, low, high = names
        clauses.append(f"memories.source = :{at} or (memories.source >= :{low} and memories.source < :{high})")
    return "(" + " or ".join(clauses) + ")"
