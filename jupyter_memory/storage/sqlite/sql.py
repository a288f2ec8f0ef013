"""SQL in pieces: parameters, filters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import apsw

from jupyter_memory.storage.shared import all_of, below, spellings, to_micros
from jupyter_memory.types import FACETS, Filters

# Rows that one statement writes: more rows gain nothing, and the statement takes longer to compile than to run.
TOGETHER = 100
# FTS5 flushes before each statement of several rows, so there should be few such statements.
OF_WORDS = 5_000


def insert(
    connection: apsw.Connection,
    table: str,
    columns: Sequence[str],
    written: Sequence[tuple[Any, ...]],
    *,
    replacing: bool = False,
    together: int = TOGETHER,
) -> None:
    """Write rows, ``together`` with one statement; ``replacing`` those with the same key."""
    begin = f"insert {'or replace ' if replacing else ''}into {table} ({', '.join(columns)}) values "
    for start in range(0, len(written), together):
        part = written[start : start + together]
        connection.execute(begin + places(part), list(chain.from_iterable(part)), can_cache=is_usual(part))


def places(written: Sequence[tuple[Any, ...]]) -> str:
    return ", ".join([f"({', '.join('?' * len(written[0]))})"] * len(written))


def is_usual(written: Sequence[tuple[Any, ...]]) -> bool:
    return len(written) in (1, TOGETHER)


def last_key(connection: apsw.Connection, table: str) -> int:
    """Return the highest key that a table ever gave out."""
    return int(connection.execute("select seq from sqlite_sequence where name = ?", (table,)).get or 0)


def version(connection: apsw.Connection) -> str:
    """Return a value that differs between any two states of the keyword index, and so of the chunks."""
    # FTS5 writes its averages (1) and its structure (10) anew with every change. An index built anew may look just
    # like an earlier one, so rebuilding counts as a removal.
    return str(
        connection.execute(
            """
            select group_concat(part) from (
                select hex(block) as part from keyword_data where id in (1, 10)
                union all select value from counters where name = 'removals'
            )
            """
        ).get
    )


def removals(connection: apsw.Connection) -> str:
    """Return a value that differs between two states of the store, unless chunks were only added in between."""
    return str(connection.execute("select value from counters where name = 'removals'").get)


# Filters as SQL: a condition on a row of ``memories``, applied inside each retriever.

# The tier that people see: a pinned memory is core, whatever it was.
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"
# Paths that a condition names one by one.
_FEW = 50


def condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a SQL condition on ``memories`` and its parameters; ``"1"`` where nothing is filtered."""
    parameters: dict[str, Any] = {}
    clauses: list[str] = []
    for place, each in enumerate(all_of(filters)):
        depth = f"_{place}" if place else ""
        for facet in FACETS:
            if wanted := getattr(each, facet):
                clauses.append(_has(facet, wanted, parameters, facet + depth))
            if unwanted := getattr(each, f"not_{facet}"):
                # A memory that has no value here is not one that has an unwanted one: "not in" alone would lose it.
                clauses.append(f"not coalesce({_has(facet, unwanted, parameters, f'not_{facet}{depth}')}, 0)")
        if each.not_word:
            parameters[f"not_word{depth}"] = " OR ".join('"' + word.replace('"', '""') + '"' for word in each.not_word)
            clauses.append(
                "memories.key not in (select chunks.memory from keyword as held join chunks on chunks.id = held.rowid "
                f"where held.keyword match :not_word{depth})"
            )
        for bound, comparison in (("since", ">="), ("until", "<")):
            moment = getattr(each, bound)
            if moment is not None:
                parameters[bound + depth] = to_micros(moment)
                clauses.append(f"memories.event_at {comparison} :{bound}{depth}")
    return " and ".join(clauses) or "1", parameters


def _has(facet: str, values: tuple[str, ...], parameters: dict[str, Any], name: str) -> str:
    if facet == "path":
        # A few are written out, which is the fastest way; SQLite plans hundreds for seconds, so these are
        # looked up in turn.
        places = [below(form) for path in values for form in spellings(path)]
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
    # One parameter, however many values: SQLite takes only so many of them.
    parameters[name] = json.dumps(values)
    listed = f"select value from json_each(:{name})"
    if facet == "tag":
        return f"memories.key in (select memory from tags where tag in ({listed}))"
    column = SHOWN_TIER if facet == "tier" else f"memories.{facet}"
    return f"({column} in ({listed}))"
