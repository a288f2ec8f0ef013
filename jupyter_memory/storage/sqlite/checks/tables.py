"""Checks of what a store holds: its tables are there, their rows fit each other, and no value is damaged.

SQLite's own check sees broken pages and indexes. It cannot see a changed letter in a text or a vector that lacks its
end. Each check yields a sentence for each kind of damage, with what to do about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from typing import Any, get_args

import apsw

from jupyter_memory.storage.sqlite.checks import texts, vectors
from jupyter_memory.storage.sqlite.connection.migrations import migrations
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Outcome
from jupyter_memory.types.memory import LARGEST_THUMBNAIL

RESTORE = "Restore a backup with `jupyter-memory restore`."
_TYPES = {"integer": ("integer",), "text": ("text",), "blob": ("blob",), "real": ("real", "integer")}
# Microseconds of the first and the last moment that a date of Python can have.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
_TIMES = {
    "memories": ("event_at", "indexed_at", "valid_from", "valid_until"),
    "files": ("indexed_at",),
    "folders": ("indexed_at",),
    "searches": ("at",),
    "feedback": ("at",),
    "runs": ("started",),
}
# Conditions that no row of a table fulfils in a sound store.
_WRONG = {
    "memories": (
        ("metadata that is no JSON object", "not json_valid(metadata) or json_type(metadata) <> 'object'"),
        ("an unknown kind", f"kind not in {KINDS}"),
        ("an unknown tier", f"tier not in {TIERS}"),
        ("an unknown severity", f"severity not in {SEVERITIES}"),
        ("a pin that is neither on nor off", "pinned not in (0, 1)"),
    ),
    "searches": (("a list of hits that is no JSON", "not json_valid(hits) or json_type(hits) <> 'array'"),),
    "feedback": (("a judgement that is neither yes nor no", "accepted not in (0, 1)"),),
    "runs": (("an unknown outcome", f"outcome not in {get_args(Outcome)}"),),
    "thumbnails": (
        ("a picture of an unknown kind", "media_type not in ('image/webp', 'image/png')"),
        ("a picture of another size than is kept", f"length(image) not between 1 and {LARGEST_THUMBNAIL}"),
    ),
    "models": (("dimensions that are no number", "dimensions < 1"),),
    "query_vectors": (
        (
            "a vector of another length than its model's",
            "length(embedding) <> 4 * (select dimensions from models where id = model)",
        ),
    ),
}


def findings(connection: apsw.Connection) -> Iterator[str]:
    """Yield what is wrong with what a store holds, each with what to do; nothing for a sound store."""
    missing = list(_missing(connection))
    yield from missing
    if missing:
        return  # the other checks read these
    wrong_types = list(_wrong_types(connection))
    yield from wrong_types
    checks: tuple[Callable[[apsw.Connection], Iterator[str]], ...] = (
        _orphans,
        _wrong_values,
        _wrong_times,
        _wrong_models,
        _lost_rows,
        texts.findings,
        texts.findings_of_names,
        vectors.findings,
    )
    for check in checks:
        try:
            yield from check(connection)
        except (ValueError, TypeError, apsw.SQLError, apsw.MismatchError):
            # What a check could not read has the wrong type, which was named above; or else it is named now.
            if not wrong_types:
                yield f"Some values cannot be read. {RESTORE}"


def _missing(connection: apsw.Connection) -> Iterator[str]:
    """Name the tables, indexes and views that a store of this version has, and this one lacks."""
    there = {name for (name,) in connection.execute("select name from sqlite_schema")}
    for kind, name in sorted(_expected()):
        if name not in there:
            yield f"The {kind} {name} is missing. {RESTORE}"


@cache
def _expected() -> frozenset[tuple[str, str]]:
    with closing(apsw.Connection(":memory:")) as empty:
        for step in migrations():
            empty.execute(step.sql).fetchall()
        rows: list[Any] = empty.execute(
            "select type, name from sqlite_schema where name not glob 'sqlite_*' and name not glob 'keyword_*'"
        ).fetchall()
    return frozenset((str(kind), str(name)) for kind, name in rows)


def _wrong_types(connection: apsw.Connection) -> Iterator[str]:
    """Name columns with values of another type than was ever written there: SQLite accepts any in each column."""
    for kind, table in sorted(_expected()):
        if kind != "table" or table == "keyword":
            continue
        columns: list[Any] = connection.execute(
            'select name, lower(type), "notnull" from pragma_table_info(?)', (table,)
        ).fetchall()
        for column, type_, required in columns:
            allowed = (*_TYPES[type_], *(() if required else ("null",)))
            fits = ", ".join(f"'{name}'" for name in allowed)
            if count := _count(connection, table, f"typeof({column}) not in ({fits})"):
                yield f"{_rows(count)} of {table} {_have(count)} no {type_} in {column}. {RESTORE}"


def _orphans(connection: apsw.Connection) -> Iterator[str]:
    """Name rows that belong to nothing."""
    found: list[Any] = connection.execute(
        'select "table", parent, count(*) from pragma_foreign_key_check group by 1, 2 order by 1, 2'
    ).fetchall()
    for table, parent, count in found:
        yield f"{_rows(count)} of {table} {'belongs' if count == 1 else 'belong'} to no row of {parent}. {RESTORE}"


def _wrong_values(connection: apsw.Connection) -> Iterator[str]:
    for table, conditions in _WRONG.items():
        for what, condition in conditions:
            if count := _count(connection, table, condition):
                yield f"{_rows(count)} of {table} {_have(count)} {what}. {_cure(connection, table, condition)}"


def _wrong_times(connection: apsw.Connection) -> Iterator[str]:
    for table, columns in _TIMES.items():
        for column in columns:
            condition = f"{column} not between {_FIRST} and {_LAST}"
            if count := _count(connection, table, condition):
                said = f"{_rows(count)} of {table} {_have(count)} a time beyond the calendar in {column}."
                yield f"{said} {_cure(connection, table, condition)}"


def _cure(connection: apsw.Connection, table: str, condition: str) -> str:
    """Return what to do; for memories, with the ids of a few."""
    if table in ("searches", "feedback"):
        return "Forget the recent searches with store.forget_recent()."
    if table == "thumbnails":
        return "Remove all pictures: index with the setting thumbnails off, then with it on to have them anew."
    if table == "runs":
        return "Forget what was run with store.history.clear()."
    if table != "memories":
        return RESTORE
    rows = connection.execute(f"select id from memories where {condition} order by key limit 3").fetchall()
    return texts.cure([str(row[0]) for row in rows])


def _wrong_models(connection: apsw.Connection) -> Iterator[str]:
    """Check that one model is in use, if there are any, and that its tables are those that are there."""
    active = connection.execute("select count(*) from models where active").get
    models = {
        f"{kind}_{row[0]}" for row in connection.execute("select id from models") for kind in ("vectors", "codes")
    }
    tables = {
        row[0]
        for row in connection.execute(
            "select name from sqlite_schema where type = 'table' and (name glob 'vectors_*' or name glob 'codes_*')"
        )
    }
    if active > 1 or (models and not active):
        yield f"{active} models are in use instead of one. {RESTORE}"
    for table in sorted(models - tables):
        yield f"The table {table} is missing. {RESTORE}"
    for table in sorted(tables - models):
        yield f"The vectors in {table} belong to no model. {RESTORE}"


def _lost_rows(connection: apsw.Connection) -> Iterator[str]:
    """Check that memories have texts and chunks, and the rows that every store has."""
    for what, table in (("text", "texts"), ("chunk", "chunks")):
        without = f"not exists (select 1 from {table} where memory = key)"
        if count := _count(connection, "memories", without):
            yield f"{_rows(count)} of memories {_have(count)} no {what}. {_cure(connection, 'memories', without)}"
    if not _count(connection, "counters", "name = 'removals'"):
        yield f"The counter of removals is missing. {RESTORE}"
    if _count(connection, "query_key", "length(key) = 32") != 1:
        yield f"The key of the stored questions is missing. {RESTORE}"


def _count(connection: apsw.Connection, table: str, condition: str) -> int:
    return int(connection.execute(f"select count(*) from {table} where {condition}").get)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
