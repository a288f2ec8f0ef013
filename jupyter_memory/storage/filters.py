"""Filters as SQL: a condition on a row of ``memories``, applied inside each leg."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jupyter_memory.types import FACETS, Filters

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970; exact, unlike ``timestamp()``."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return an aware UTC time."""
    return _EPOCH + timedelta(microseconds=micros)


def condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a SQL condition on ``memories`` and its parameters; ``"1"`` where nothing is filtered."""
    parameters: dict[str, Any] = {}
    clauses = [
        clause
        for depth, each in enumerate(_all_of(filters))
        for clause in _clauses(each, parameters, f"_{depth}" if depth else "")
    ]
    return " and ".join(clauses) or "1", parameters


def _all_of(filters: Filters | None) -> Iterator[Filters]:
    while filters is not None:
        yield filters
        filters = filters.also


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
        return "(" + " or ".join(_below(f"{name}_{i}", path, parameters) for i, path in enumerate(values)) + ")"
    # One parameter, however many values: SQLite takes only so many of them.
    parameters[name] = json.dumps(values)
    listed = f"select value from json_each(:{name})"
    if facet == "tag":
        return f"memories.key in (select memory from tags where tag in ({listed}))"
    column = SHOWN_TIER if facet == "tier" else f"memories.{facet}"
    return f"({column} in ({listed}))"


def below(path: str) -> tuple[str, str, str]:
    """Return ``(path, low, high)``: a source is at or below a path if it equals it or lies in ``[low, high)``."""
    bare = path.rstrip("/") or "/"
    low = bare if bare == "/" else bare + "/"
    return bare, low, low[:-1] + "0"  # "0" follows "/"


def _below(name: str, path: str, parameters: dict[str, Any]) -> str:
    """A path is looked for as it is written and as a file of this machine, since a source may be either."""
    clauses = []
    for form, spelling in enumerate(spellings(path)):
        names = [f"{name}_{form}_{part}" for part in ("at", "low", "high")]
        parameters.update(zip(names, below(spelling), strict=True))
        at, low, high = names
        clauses.append(f"memories.source = :{at} or (memories.source >= :{low} and memories.source < :{high})")
    return " or ".join(clauses)


def spellings(path: str) -> Iterable[str]:
    """Return a path as it is written and as a file of this machine."""
    try:
        return dict.fromkeys((path, os.path.normpath(Path(path).expanduser().absolute())))
    except RuntimeError:  # "~name" of nobody here
        return (path,)
