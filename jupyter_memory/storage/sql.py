"""One transaction over the tables that both databases have, the words in which they differ, and filters as SQL.

Statements are written once, with ``:name`` for a parameter and ``cast(x as type)``. A list as a parameter is a set of
values, or a table if it holds tuples. In PostgreSQL each row has its space, and a statement is about some spaces only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jupyter_memory.storage.shared import all_of, below, spellings, to_micros
from jupyter_memory.storage.words import keyed, stems
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types import FACETS, Filters

# The tier that people see: a pinned memory is core, whatever it was.
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"
_JSON = json.JSONEncoder(ensure_ascii=False)


class Dialect(Protocol):
    """The words of SQL in which the databases differ."""

    # An aggregate that makes a JSON array.
    json_list: str

    def among(self, column: str, name: str) -> str:
        """Return the condition that a column has one of the values of a parameter."""

    def each(self, name: str, **columns: str) -> str:
        """Return a parameter, a list of tuples, as a table of this name, with the types of its columns."""

    def of(self, *tables: str) -> str:
        """Return the condition that rows are of the spaces that the transaction is about."""

    def own(self, table: str) -> str:
        """Return the condition that rows are of the person and the space for which the store was opened."""

    def join(self, table: str, other: str, on: str) -> str:
        """Return the join of a table with another one that is there already."""

    def unique(self, table: str) -> str:
        """Return what a row of a table is known by, as ``on conflict`` names it."""

    def below(self, column: str, name: str, paths: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """Return the condition that a path is one of these or lies below one, and its parameters."""

    def holding(self, name: str, word: str) -> tuple[str, dict[str, Any]]:
        """Return the condition that any chunk of a memory holds a word, and its parameters."""

    def value(self, value: object) -> object:
        """Return a value as the driver takes it."""


class Session(Protocol):
    """One transaction."""

    @property
    def dialect(self) -> Dialect:
        """Return the words of its database."""

    @property
    def space(self) -> str:
        """Return the space that the store was opened with, empty for all of it."""

    def rows(self, sql: str, /, **parameters: Any) -> list[Any]:
        """Return all rows of a statement."""

    def value(self, sql: str, /, **parameters: Any) -> Any:
        """Return the first column of the first row, None without a row."""

    def changed(self, sql: str, /, **parameters: Any) -> int:
        """Run a statement and return how many rows it changed."""

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, known: str = "") -> int:
        """Write rows of the same columns and return how many went in.

        ``known`` says what to do with a row that is there: ``do nothing``, or ``do update set`` and columns. Each row
        has its space, which a table of a file may lack.
        """

    def new_keys(self, table: str, count: int) -> list[int]:
        """Return keys for new rows of ``memories`` or ``chunks``, ascending."""

    def lock(self, keys: Sequence[int]) -> list[int]:
        """Keep others from changing memories until the transaction ends; return those that are there, in order."""

    def include(self, space: str) -> None:
        """Let statements be about a space that this transaction writes into."""

    def note_removal(self) -> None:
        """Note that something was removed whose traces must go."""

    def forget_asked(self, keys: Sequence[int]) -> bool:
        """Forget everybody's searches that showed one of these memories, and the feedback; return whether any did."""


class SqliteDialect:
    """SQLite: lists are JSON, and a file is not divided into spaces."""

    json_list = "json_group_array"

    def among(self, column: str, name: str) -> str:
        return f"{column} in (select value from json_each(:{name}))"

    def each(self, name: str, **columns: str) -> str:
        read = ", ".join(f"value ->> {place} as {column}" for place, column in enumerate(columns))
        return f"(select {read} from json_each(:{name})) as {name}"

    def of(self, *tables: str) -> str:
        return "true"

    def own(self, table: str) -> str:
        return "true"

    def join(self, table: str, other: str, on: str) -> str:
        return f"join {table} on {on}"

    def unique(self, table: str) -> str:
        return {"files": "path, space", "folders": "path, space", "feedback": "memory, query"}.get(table, "")

    def below(self, column: str, name: str, paths: Sequence[str]) -> tuple[str, dict[str, Any]]:
        # A few are written out, which is the fastest way; SQLite plans hundreds for seconds, so these are looked up.
        if len(paths) <= _FEW:
            return _written_out(column, name, paths)
        table = column.partition(".")[0]
        found = f"select held.rowid from json_each(:{name}) as place cross join {table} as held on held."
        path = column.rpartition(".")[2]
        at, low, high = (f"value ->> {place}" for place in range(3))
        places = f"{found}{path} = {at} union all {found}{path} >= {low} and held.{path} < {high}"
        return f"{table}.rowid in ({places})", {name: [below(path) for path in paths]}

    def holding(self, name: str, word: str) -> tuple[str, dict[str, Any]]:
        held = f"select rowid from keyword where keyword match :{name}"
        quoted = '"' + word.replace('"', '""') + '"'
        return f"memories.key in (select memory from chunks where id in ({held}))", {name: quoted}

    def value(self, value: object) -> object:
        if isinstance(value, str):
            return encodable(value)
        return _JSON.encode(value) if isinstance(value, (list, tuple)) else value


class PostgresDialect:
    """PostgreSQL: lists are arrays, and the space is the first part of each key."""

    json_list = "json_agg"

    def among(self, column: str, name: str) -> str:
        return f"{column} = any(:{name})"

    def each(self, name: str, **columns: str) -> str:
        read = ", ".join(
            f"cast(value ->> {place} as {type_}) as {column}" for place, (column, type_) in enumerate(columns.items())
        )
        return f"(select {read} from json_array_elements(cast(:{name} as json)) as value) as {name}"

    def of(self, *tables: str) -> str:
        return " and ".join(f"{table}.space = any(:spaces)" for table in tables)

    def own(self, table: str) -> str:
        return f"{table}.space = :space and {table}.who = current_user"

    def join(self, table: str, other: str, on: str) -> str:
        return f"join {table} on {table}.space = {other}.space and {on}"

    def unique(self, table: str) -> str:
        known = {"files": "md5(path)", "folders": "md5(path)", "feedback": "who, memory, md5(query)"}
        return f"space, {known[table]}" if table in known else ""

    def below(self, column: str, name: str, paths: Sequence[str]) -> tuple[str, dict[str, Any]]:
        return _written_out(column, name, paths)

    def holding(self, name: str, word: str) -> tuple[str, dict[str, Any]]:
        if not (terms := [keyed(stem) for stem in stems(word)]):
            return "false", {}
        # The places of each word, as far from the first as it should be.
        clause = f"""
            exists (
                select 1 from chunks where chunks.space = memories.space and chunks.memory = memories.key and exists (
                    select 1
                    from unnest(cast(:{name} as text[])) with ordinality as wanted (term, place)
                    join postings on postings.space = chunks.space and postings.term = wanted.term
                        and postings.chunk = chunks.id
                    cross join unnest(postings.places) as held (at)
                    group by held.at - wanted.place having count(*) = {len(terms)}
                )
            )
        """
        return clause, {name: terms}

    def value(self, value: object) -> object:
        if isinstance(value, str):
            return storable(value)
        if not isinstance(value, (list, tuple)):
            return value
        listed = [self.value(one) if isinstance(one, (str, list, tuple)) else one for one in value]
        return _JSON.encode(listed) if listed and isinstance(value[0], (list, tuple)) else listed


# Paths that a condition names one by one in SQLite.
_FEW = 50


def _written_out(column: str, name: str, paths: Sequence[str]) -> tuple[str, dict[str, Any]]:
    clauses, parameters = list[str](), dict[str, Any]()
    for number, place in enumerate(map(below, paths)):
        at, low, high = (f"{name}_{number}_{part}" for part in ("at", "low", "high"))
        parameters |= dict(zip((at, low, high), place, strict=True))
        clauses.append(f"{column} = :{at} or ({column} >= :{low} and {column} < :{high})")
    return f"({' or '.join(clauses or ['false'])})", parameters


SQLITE, POSTGRES = SqliteDialect(), PostgresDialect()


def condition(dialect: Dialect, filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a condition on a row of ``memories`` and its parameters; each retriever applies it inside."""
    parameters: dict[str, Any] = {}
    clauses = [dialect.of("memories")]

    def add(name: str, clause: tuple[str, dict[str, Any]], unwanted: bool = False) -> None:
        # A memory that has no value here is not one that has an unwanted one: "not in" alone would lose it.
        clauses.append(f"not coalesce({clause[0]}, false)" if unwanted else clause[0])
        parameters.update(clause[1])

    for depth, each in enumerate(all_of(filters)):
        for facet in FACETS:
            for name, unwanted in ((facet, False), (f"not_{facet}", True)):
                if values := getattr(each, name):
                    add(name, _has(dialect, facet, values, f"{name}_{depth}"), unwanted)
        for place, word in enumerate(each.not_word):
            add("not_word", dialect.holding(f"not_word{place}_{depth}", word), unwanted=True)
        for bound, comparison in (("since", ">="), ("until", "<")):
            if (moment := getattr(each, bound)) is not None:
                name = f"{bound}_{depth}"
                add(name, (f"memories.event_at {comparison} :{name}", {name: to_micros(moment)}))
    return " and ".join(clauses), {name: dialect.value(value) for name, value in parameters.items()}


def _has(dialect: Dialect, facet: str, values: Sequence[str], name: str) -> tuple[str, dict[str, Any]]:
    if facet == "path":
        return dialect.below("memories.source", name, [form for path in values for form in spellings(path)])
    if facet == "tag":
        tagged = f"select tags.memory from tags where {dialect.of('tags')} and {dialect.among('tags.tag', name)}"
        return f"memories.key in ({tagged})", {name: list(values)}
    column = SHOWN_TIER if facet == "tier" else f"memories.{facet}"
    return dialect.among(column, name), {name: list(values)}
