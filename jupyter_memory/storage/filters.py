"""Filters as SQL: a condition on a row of ``memories``, applied inside each leg."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jupyter_memory.types import Filters

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = {"kind": "kind", "lang": "lang", "space": "space", "session": "session"}
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970; exact, unlike ``timestamp()``."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return an aware UTC time."""
    return _EPOCH + timedelta(microseconds=micros)


def condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a SQL condition on ``memories`` and its parameters; ``"1"`` where nothing is filtered."""
    clauses: list[str] = []
    parameters: dict[str, Any] = {}

    def values(facet: str, wanted: tuple[str, ...]) -> str:
        names = {f"{facet}_{i}": value for i, value in enumerate(wanted)}
        parameters.update(names)
        return ", ".join(f":{name}" for name in names)

    for facet, column in _COLUMNS.items():
        if wanted := getattr(filters, facet):
            clauses.append(f"memories.{column} in ({values(facet, wanted)})")
    if filters.tier:
        clauses.append(f"{SHOWN_TIER} in ({values('tier', filters.tier)})")
    if filters.tag:
        clauses.append(f"memories.key in (select memory from tags where tag in ({values('tag', filters.tag)}))")
    if filters.path:
        clauses.append("(" + " or ".join(_below(i, path, parameters) for i, path in enumerate(filters.path)) + ")")
    if filters.since is not None:
        clauses.append("memories.event_at >= :since")
        parameters["since"] = to_micros(filters.since)
    if filters.until is not None:
        clauses.append("memories.event_at < :until")
        parameters["until"] = to_micros(filters.until)
    return " and ".join(clauses) or "1", parameters


def below(path: str) -> tuple[str, str, str]:
    """Return ``(path, low, high)``: a source is at or below a path if it equals it or lies in ``[low, high)``."""
    bare = path.rstrip("/") or "/"
    low = bare if bare == "/" else bare + "/"
    return bare, low, low[:-1] + "0"  # "0" follows "/"


def _below(index: int, path: str, parameters: dict[str, Any]) -> str:
    """A path is looked for as it is written and as a file of this machine, since a source may be either."""
    clauses = []
    for form, spelling in enumerate(_spellings(path)):
        names = [f"path_{index}_{form}_{part}" for part in ("at", "low", "high")]
        parameters.update(zip(names, below(spelling), strict=True))
        at, low, high = names
        clauses.append(f"memories.source = :{at} or (memories.source >= :{low} and memories.source < :{high})")
    return " or ".join(clauses)


def _spellings(path: str) -> Iterable[str]:
    try:
        return dict.fromkeys((path, os.path.normpath(Path(path).expanduser().absolute())))
    except RuntimeError:  # "~name" of nobody here
        return (path,)
