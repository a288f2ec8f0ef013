"""What `doctor` finds in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from typing import get_args

import apsw

from jupyter_memory.errors import StoreDamaged, StoreFull
from jupyter_memory.storage.base import VectorIndex
from jupyter_memory.storage.sqlite import postings
from jupyter_memory.storage.sqlite.copies import migrations, sweep
from jupyter_memory.storage.sqlite.database import Database
from jupyter_memory.storage.sqlite.file import Session, is_cut, version_of
from jupyter_memory.storage.sqlite.keyword import frequencies
from jupyter_memory.storage.tables import checks as shared
from jupyter_memory.text.display import count_of
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Outcome
from jupyter_memory.types.memory import LARGEST_THUMBNAIL

# SQLite's own check sees broken pages and indexes. It cannot see a changed letter in a text or a vector that lacks its
# end.

_BACKUP = "Restore a backup with `jupyter-memory restore`"
_RESTORE = f"{_BACKUP}."
_TYPES = {"integer": ("integer",), "text": ("text",), "blob": ("blob",), "real": ("real", "integer")}
# Microseconds of the first and the last moment that a date of Python can have.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
_TIMES = {
    "memories": ("event_at", "indexed_at", "stored_at", "valid_from", "valid_until"),
    "files": ("indexed_at",),
    "folders": ("indexed_at",),
    "searches": ("at",),
    "feedback": ("at",),
    "runs": ("started",),
}
# Conditions that no row of a table fulfils in a sound store.
_WRONG = {
    "memories": (
        ("metadata that is not a JSON object", "not json_valid(metadata) or json_type(metadata) <> 'object'"),
        ("an unknown kind", f"kind not in {KINDS}"),
        ("an unknown tier", f"tier not in {TIERS}"),
        ("an unknown severity", f"severity not in {SEVERITIES}"),
        ("a pin that is neither on nor off", "pinned not in (0, 1)"),
    ),
    "searches": (("a list of hits that is not JSON", "not json_valid(hits) or json_type(hits) <> 'array'"),),
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
# What to do about wrong values in tables of which no backup is needed.
_CURES = {
    "searches": "Forget the recent searches with store.forget_recent().",
    "feedback": "Forget the recent searches with store.forget_recent().",
    "thumbnails": "Remove all pictures: index with the setting thumbnails off, then with it on to have them anew.",
    "runs": "Forget what was run with store.history.clear().",
}


def _findings(connection: Session, vectors: VectorIndex) -> Iterator[str]:
    there = set(connection.column("select name from sqlite_schema"))
    wanted = sorted(_expected())
    missing = [f"The {kind} {name} is missing. {_RESTORE}" for kind, name, _ in wanted if name not in there]
    yield from missing
    if missing:
        return  # the other checks read these
    wrong_types: list[str] = []
    for table in (name for kind, name, _ in wanted if kind == "table" and name != "keyword"):
        columns = connection.rows('select name, lower(type), "notnull" from pragma_table_info(:table)', table=table)
        for column, type_, required in columns:
            allowed = (*_TYPES[type_], *(() if required else ("null",)))
            fits = ", ".join(f"'{name}'" for name in allowed)
            if count := _count(connection, table, f"typeof({column}) not in ({fits})"):
                lack = count_of(count, f"row of {table} has", f"rows of {table} have")
                wrong_types.append(f"{lack} no {type_} in {column}. {_RESTORE}")
    yield from wrong_types
    checks = (
        _orphans(connection),
        _wrong_values(connection),
        _wrong_models_and_counters(connection),
        shared.lost_rows(connection, _BACKUP),
        shared.texts(connection, _BACKUP),
        shared.names(connection),
        shared.vectors(connection, vectors),
    )
    for check in checks:
        try:
            yield from check
        except (ValueError, TypeError, apsw.SQLError, apsw.MismatchError):
            # What a check could not read has the wrong type, which was named above; or else it is named now.
            if not wrong_types:
                yield f"Some values cannot be read. {_RESTORE}"


def foreign(connection: Session) -> Iterator[str]:
    """Yield the tables and triggers that no store has; a newer version may have more of them."""
    if version_of(connection) > migrations()[-1].version:
        return
    rows = connection.rows(
        f"""
        {_OBJECTS} where type = 'trigger' or not (
            name glob 'sqlite_*' or name glob 'vectors_[0-9]*' or name glob 'codes_[0-9]*'
            or name in ('keyword_config', 'keyword_data', 'keyword_docsize', 'keyword_idx')
        )
        """
    )
    for kind, name, _ in sorted(set(rows) - _expected()):
        yield (
            f"The {kind} {name} comes from elsewhere, and may keep what you forget. To be rid of it, move the memories "
            "to a new store with `jupyter-memory export` and `import`."
        )


# A trigger of ours may have been replaced by another one.
_OBJECTS = "select type, name, case type when 'trigger' then sql else '' end from sqlite_schema"


@cache
def _expected() -> frozenset[tuple[str, str, str]]:
    with closing(Session(":memory:")) as empty:
        for step in migrations():
            empty.execute(step.sql).fetchall()
        return frozenset(empty.rows(f"{_OBJECTS} where name not glob 'sqlite_*' and name not glob 'keyword_*'"))


def _orphans(connection: Session) -> Iterator[str]:
    found = 'select "table", parent, count(*) from pragma_foreign_key_check group by 1, 2 order by 1, 2'
    for table, parent, count in connection.rows(found):
        belong = count_of(count, f"row of {table} belongs", f"rows of {table} belong")
        yield f"{belong} to no row of {parent}. {_RESTORE}"


def _wrong_values(connection: Session) -> Iterator[str]:
    times = (
        (table, f"a time beyond the calendar in {column}", f"{column} not between {_FIRST} and {_LAST}")
        for table, columns in _TIMES.items()
        for column in columns
    )
    values = ((table, *one) for table, conditions in _WRONG.items() for one in conditions)
    for table, what, condition in (*times, *values):
        if count := _count(connection, table, condition):
            cure = _CURES.get(table, _RESTORE)
            if table == "memories":
                ids = connection.column(f"select id from memories where {condition} order by key limit 3")
                cure = shared.cure(list(map(str, ids)), _BACKUP)
            yield f"{count_of(count, f'row of {table} has', f'rows of {table} have')} {what}. {cure}"


def _wrong_models_and_counters(connection: Session) -> Iterator[str]:
    active = _count(connection, "models", "active")
    models = {f"{kind}_{id_}" for id_ in connection.column("select id from models") for kind in ("vectors", "codes")}
    ours = "select name from sqlite_schema where type = 'table' and (name glob 'vectors_*' or name glob 'codes_*')"
    tables = set(connection.column(ours))
    if active > 1 or (models and not active):
        yield f"{active} models are in use instead of one. {_RESTORE}"
    for table in sorted(models - tables):
        yield f"The table {table} is missing. {_RESTORE}"
    for table in sorted(tables - models):
        yield f"The vectors in {table} belong to no model. {_RESTORE}"
    if not _count(connection, "counters", "name = 'removals'"):
        yield f"The counter of removals is missing. {_RESTORE}"
    if _count(connection, "query_keys", "length(key) = 32") != 1:
        yield f"The key of the stored questions is missing. {_RESTORE}"


def _count(connection: Session, table: str, condition: str) -> int:
    return int(connection.value(f"select count(*) from {table} where {condition}"))


def problems(database: Database, vectors: VectorIndex) -> Iterator[str]:
    try:
        found = list(damage(database, vectors))
    except StoreDamaged as error:
        found = [f"SQLite found damage: {error}"]
    if found:
        yield from found
        return
    try:
        if not database.read_only:
            with database.write() as connection:
                connection.execute("insert into keyword (keyword, rank) values ('integrity-check', 1)")
        with database.read() as snapshot:
            postings.check(snapshot, dict(frequencies(snapshot)))
    except StoreFull as error:
        yield str(error)
    except StoreDamaged:
        yield "The keyword index does not match the memories. Repair it with store.rebuild()."
    with database.read() as snapshot:
        yield from shared.missing_vectors(snapshot, vectors)
    if not database.read_only:
        database.scrub()
        yield from (
            f"An interrupted copy of the store is left and cannot be removed. Remove it with: rm '{copy}'"
            for copy in sweep(database.path)
        )
    path = database.path
    if os.name == "posix" and path.stat().st_mode & 0o077:
        yield f"Other users of this machine can read {path}. Close it to them with: chmod 600 '{path}'"


def damage(database: Database, vectors: VectorIndex) -> Iterator[str]:
    """Yield the damage that SQLite sees; if it sees none, the damage in what the store holds."""
    with database.read() as connection:
        if is_cut(connection, database.path):
            yield f"The file lacks its last bytes. {_RESTORE}"
            return
        findings = connection.check("integrity_check(5)")
        for finding in findings:
            of_index = finding.startswith("fts5:") or "FTS5" in finding
            cure = "Build the keyword index anew with store.rebuild()." if of_index else _RESTORE
            yield f"SQLite found damage: {finding}. {cure}"
        yield from foreign(connection)
        if not findings:
            yield from _findings(connection, vectors)
