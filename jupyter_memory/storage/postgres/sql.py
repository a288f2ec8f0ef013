"""SQL in pieces: parameters, filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.runtime import batches
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.postings import keyed, stems
from jupyter_memory.storage.shared import all_of, below, spellings, to_micros
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import FACETS, Filters
from jupyter_memory.types.protocols import Vectors

# Rows that one statement writes.
TOGETHER = 5_000
_JSON = json.JSONEncoder(ensure_ascii=False)


def insert(session: Session, table: str, written: Sequence[Mapping[str, Any]], *, conflict: str = "") -> int:
    """Write rows of the same columns; ``conflict`` says what to do with known ones. Return how many went in."""
    # As one value, JSON: as many parameters as there are values would take longer to read than to store.
    count = 0
    for part in batches(written, TOGETHER):
        columns = ", ".join(part[0])
        count += session.changed(
            f"insert into {table} ({columns}) "
            f"select {columns} from json_populate_recordset(null::{table}, %(rows)s::json) {conflict}",
            {"rows": _JSON.encode(part)},
        )
    return count


def next_numbers(session: Session, sequence: str, count: int) -> list[int]:
    rows = session.rows(
        "select nextval(%(sequence)s::regclass) from generate_series(1, %(count)s) order by 1",
        {"sequence": sequence, "count": count},
    )
    return [row[0] for row in rows]


def as_vector(vector: Vectors) -> str:
    """Return a vector as pgvector reads it: the shortest digits that give every float32 back."""
    return "[" + ",".join(map(str, vector)) + "]"


def from_vectors(written: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """Return vectors, ``(n, dimensions)``, from what ``vector_send`` gives: two numbers of 16 bits, then the values."""
    values = b"".join(one[4:] for one in written)
    return np.frombuffer(values, ">f4").astype(np.float32).reshape(-1, dimensions)


# Filters as SQL: a condition on a row of ``memories``, applied inside each retriever.

# The tier that people see: a pinned memory is core, whatever it was.
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"


def condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a SQL condition on ``memories`` in the spaces of a session, and its parameters."""
    parameters: dict[str, Any] = {}
    clauses = [of("memories")]
    for number, each in enumerate(all_of(filters)):
        depth = f"_{number}" if number else ""
        for facet in FACETS:
            if wanted := getattr(each, facet):
                clauses.append(_has(facet, wanted, parameters, facet + depth))
            if unwanted := getattr(each, f"not_{facet}"):
                # A memory without a value here does not have an unwanted one: "not in" alone would lose it.
                clauses.append(f"not coalesce({_has(facet, unwanted, parameters, f'not_{facet}{depth}')}, false)")
        for place, word in enumerate(each.not_word):
            clauses.append(f"not {_holds(word, parameters, f'not_word{place}{depth}')}")
        for bound, comparison in (("since", ">="), ("until", "<")):
            moment = getattr(each, bound)
            if moment is not None:
                parameters[bound + depth] = to_micros(moment)
                clauses.append(f"memories.event_at {comparison} %({bound}{depth})s")
    return " and ".join(clauses), parameters


def _has(facet: str, values: tuple[str, ...], parameters: dict[str, Any], name: str) -> str:
    if facet == "path":
        return at_or_below("memories.source", name, [form for path in values for form in spellings(path)], parameters)
    parameters[name] = [storable(value) for value in values]
    if facet == "tag":
        return (
            "exists (select 1 from tags where tags.space = memories.space and tags.memory = memories.key "
            f"and tags.tag = any(%({name})s))"
        )
    column = SHOWN_TIER if facet == "tier" else f"memories.{facet}"
    return f"({column} = any(%({name})s))"


def at_or_below(column: str, name: str, paths: Sequence[str], parameters: dict[str, Any]) -> str:
    """Return the condition that a path is one of these or lies below one."""
    clauses = []
    for i, place in enumerate(below(storable(path)) for path in paths):
        names = [f"{name}_{i}_{part}" for part in ("at", "low", "high")]
        parameters.update(zip(names, place, strict=True))
        at, low, high = names
        clauses.append(f"{column} = %({at})s or ({column} >= %({low})s and {column} < %({high})s)")
    return "(" + " or ".join(clauses or ["false"]) + ")"


def _holds(word: str, parameters: dict[str, Any], name: str) -> str:
    terms = [keyed(stem) for stem in stems(word)]
    if not terms:
        return "false"
    parameters[name] = terms
    return f"""
        exists (
            select 1 from chunks where chunks.space = memories.space and chunks.memory = memories.key and exists (
                select 1
                from unnest(%({name})s::text[]) with ordinality as wanted (term, place)
                join postings on postings.space = chunks.space and postings.term = wanted.term
                    and postings.chunk = chunks.id
                cross join unnest(postings.places) as held (at)
                group by held.at - wanted.place having count(*) = cardinality(%({name})s::text[])
            )
        )
    """
