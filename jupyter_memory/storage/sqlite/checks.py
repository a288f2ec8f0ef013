"""What `doctor` finds in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import Any, get_args
from unicodedata import normalize

import apsw

from jupyter_memory.errors import StoreDamaged
from jupyter_memory.storage.cell_matching import fingerprint
from jupyter_memory.storage.sqlite.copies import migrations, sweep
from jupyter_memory.storage.sqlite.database import Database
from jupyter_memory.storage.sqlite.file import Session
from jupyter_memory.storage.sqlite.keyword import check_postings
from jupyter_memory.storage.sqlite.vectors import VectorIndex
from jupyter_memory.storage.tables import memories, models
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Outcome
from jupyter_memory.types.memory import LARGEST_THUMBNAIL


def text_findings(connection: Session) -> Iterator[str]:
    changed: list[str] = []
    outside: list[str] = []
    rows: Any = connection.execute(
        """
        select memories.id, memories.content_hash, cast(title as blob), cast(texts.text as blob),
            chunks.start, chunks.stop, cast(chunks.text as blob),
            cast(kind || space || source || location || lang || coalesce(session, '') || coalesce(domain, '') as blob),
            cast(coalesce(chunks.context, '') || coalesce(chunks.ident, '') as blob)
        from memories join texts on texts.memory = key left join chunks on chunks.memory = key
        order by key
        """
    )
    last, text, broken = "", "", False
    for id_, hash_, title_bytes, text_bytes, start, stop, part_bytes, others, of_chunk in rows:
        try:
            of_chunk.decode()
            part = None if part_bytes is None else part_bytes.decode()
            if id_ != last:
                others.decode()
                last, text = id_, text_bytes.decode()
                broken = fingerprint(title_bytes.decode(), text) != hash_
                if broken:
                    changed.append(id_)
        except UnicodeDecodeError:
            if id_ not in changed[-1:]:
                changed.append(id_)
            last, broken = id_, True
            continue
        if start is not None and not broken and id_ not in outside[-1:]:
            held = text[start:stop]
            if held != (text if part is None else part) or not held:
                outside.append(id_)
    if changed:
        yield f"{_memories(changed)} another text or title than was stored. {_cure_of_memories(changed)}"
    if outside:
        yield f"{_memories(outside)} chunks that are no part of the text. {_cure_of_memories(outside)}"


def findings_of_names(connection: Session) -> Iterator[str]:
    if count := len(damaged_definitions(connection)):
        them = "1 memory" if count == 1 else f"{count:,} memories"
        yield f"The names that {them} should define are not in the text. Read them anew with store.rebuild()."


def _cure_of_memories(ids: Sequence[str]) -> str:
    named = " ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
    return f"Restore a backup with `jupyter-memory restore`, or forget them: jupyter-memory forget {named}"


def _memories(ids: Sequence[str]) -> str:
    return "1 memory has" if len(ids) == 1 else f"{len(ids):,} memories have"


def damaged_definitions(connection: Session) -> list[int]:
    """Return the memories with a definition that their text does not hold."""
    rows: Any = connection.execute(
        """
        select memory, cast(text as blob), cast(defined || ' ' || assigned || ' ' || nested as blob)
        from definitions join texts using (memory) order by memory
        """
    )
    found: list[int] = []
    for key, text, names in rows:
        try:
            held = normalize("NFKC", text.decode())  # Python knows names in their plain characters
            if not all(name in held for name in names.decode().split()):
                found.append(key)
        except UnicodeDecodeError:
            found.append(key)
    return found


def vector_findings(connection: Session) -> Iterator[str]:
    for model in models.every(connection):
        if count := len(VectorIndex.damaged(connection, model)):
            them = "1 vector" if count == 1 else f"{count:,} vectors"
            yield (
                f"{them} of {model.name} {'is' if count == 1 else 'are'} damaged, or of chunks that are not there. "
                "Compute them anew with store.reembed()."
            )
    if count := len(memories.damaged_tokens(connection)):
        yield f"The tokens of {count:,} chunks are damaged. Compute them anew with store.rebuild()."


# SQLite's own check sees broken pages and indexes. It cannot see a changed letter in a text or a vector that lacks its
# end. Each check yields a sentence for each kind of damage, with what to do about it.

_RESTORE = "Restore a backup with `jupyter-memory restore`."
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


def table_findings(connection: Session) -> Iterator[str]:
    """Yield what is wrong with what a store holds, each with what to do; nothing for a sound store."""
    there = {name for (name,) in connection.execute("select name from sqlite_schema")}
    missing = [f"The {kind} {name} is missing. {_RESTORE}" for kind, name in sorted(_expected()) if name not in there]
    yield from missing
    if missing:
        return  # the other checks read these
    wrong_types = list(_wrong_types(connection))
    yield from wrong_types
    checks: tuple[Callable[[Session], Iterator[str]], ...] = (
        _orphans,
        _wrong_values,
        _wrong_times,
        _wrong_models,
        _lost_rows,
        text_findings,
        findings_of_names,
        vector_findings,
    )
    for check in checks:
        try:
            yield from check(connection)
        except (ValueError, TypeError, apsw.SQLError, apsw.MismatchError):
            # What a check could not read has the wrong type, which was named above; or else it is named now.
            if not wrong_types:
                yield f"Some values cannot be read. {_RESTORE}"


@cache
def _expected() -> frozenset[tuple[str, str]]:
    with closing(apsw.Connection(":memory:")) as empty:
        for step in migrations():
            empty.execute(step.sql).fetchall()
        rows: list[Any] = empty.execute(
            "select type, name from sqlite_schema where name not glob 'sqlite_*' and name not glob 'keyword_*'"
        ).fetchall()
    return frozenset((str(kind), str(name)) for kind, name in rows)


def _wrong_types(connection: Session) -> Iterator[str]:
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
                yield f"{_rows(count)} of {table} {_have(count)} no {type_} in {column}. {_RESTORE}"


def _orphans(connection: Session) -> Iterator[str]:
    found: list[Any] = connection.execute(
        'select "table", parent, count(*) from pragma_foreign_key_check group by 1, 2 order by 1, 2'
    ).fetchall()
    for table, parent, count in found:
        yield f"{_rows(count)} of {table} {'belongs' if count == 1 else 'belong'} to no row of {parent}. {_RESTORE}"


def _wrong_values(connection: Session) -> Iterator[str]:
    for table, conditions in _WRONG.items():
        for what, condition in conditions:
            if count := _count(connection, table, condition):
                yield f"{_rows(count)} of {table} {_have(count)} {what}. {_cure(connection, table, condition)}"


def _wrong_times(connection: Session) -> Iterator[str]:
    for table, columns in _TIMES.items():
        for column in columns:
            condition = f"{column} not between {_FIRST} and {_LAST}"
            if count := _count(connection, table, condition):
                said = f"{_rows(count)} of {table} {_have(count)} a time beyond the calendar in {column}."
                yield f"{said} {_cure(connection, table, condition)}"


def _cure(connection: Session, table: str, condition: str) -> str:
    if table in ("searches", "feedback"):
        return "Forget the recent searches with store.forget_recent()."
    if table == "thumbnails":
        return "Remove all pictures: index with the setting thumbnails off, then with it on to have them anew."
    if table == "runs":
        return "Forget what was run with store.history.clear()."
    if table != "memories":
        return _RESTORE
    rows = connection.execute(f"select id from memories where {condition} order by key limit 3").fetchall()
    return _cure_of_memories([str(row[0]) for row in rows])


def _wrong_models(connection: Session) -> Iterator[str]:
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
        yield f"{active} models are in use instead of one. {_RESTORE}"
    for table in sorted(models - tables):
        yield f"The table {table} is missing. {_RESTORE}"
    for table in sorted(tables - models):
        yield f"The vectors in {table} belong to no model. {_RESTORE}"


def _lost_rows(connection: Session) -> Iterator[str]:
    for what, table in (("text", "texts"), ("chunk", "chunks")):
        without = f"not exists (select 1 from {table} where memory = key)"
        if count := _count(connection, "memories", without):
            yield f"{_rows(count)} of memories {_have(count)} no {what}. {_cure(connection, 'memories', without)}"
    if not _count(connection, "counters", "name = 'removals'"):
        yield f"The counter of removals is missing. {_RESTORE}"
    if _count(connection, "query_keys", "length(key) = 32") != 1:
        yield f"The key of the stored questions is missing. {_RESTORE}"


def _count(connection: Session, table: str, condition: str) -> int:
    return int(connection.execute(f"select count(*) from {table} where {condition}").get)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def problems(database: Database, vectors: VectorIndex) -> Iterator[str]:
    try:
        found = list(damage(database))
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
            check_postings(snapshot)
    except StoreDamaged:
        yield "The keyword index does not match the memories. Repair it with store.rebuild()."
    with database.read() as snapshot:
        active = models.active(snapshot)
        if active is not None and (lacking := len(vectors.missing(snapshot, active, 1_000_000))):
            yield (
                f"{lacking} chunks have no vector, so the search by meaning cannot find them. "
                "Compute the vectors with store.reembed()."
            )
    if not database.read_only:
        database.scrub()
        yield from (
            f"An interrupted copy of the store is left and cannot be removed. Remove it with: rm '{copy}'"
            for copy in sweep(database.path)
        )
    path = database.path
    if os.name == "posix" and path.stat().st_mode & 0o077:
        yield f"Other users of this machine can read {path}. Close it to them with: chmod 600 '{path}'"


def damage(database: Database) -> Iterator[str]:
    """Yield the damage that SQLite sees; if it sees none, the damage in what the store holds."""
    with database.read() as connection:
        findings = [row[0] for row in connection.execute("pragma integrity_check(5)") if row[0] != "ok"]
        for finding in findings:
            of_index = finding.startswith("fts5:") or "FTS5" in finding
            cure = "Build the keyword index anew with store.rebuild()." if of_index else _RESTORE
            yield f"SQLite found damage: {finding}. {cure}"
        if not findings:
            yield from table_findings(connection)


def refuse_broken(database: Database) -> None:
    """Refuse to copy a store whose pages are damaged: the copy would be, too."""
    with database.read() as connection:
        if connection.execute("pragma quick_check(1)").get != "ok":
            raise StoreDamaged(
                f"{database.path} is damaged, so no backup was made. `jupyter-memory doctor` shows what is wrong. "
                "Restore an earlier backup with `jupyter-memory restore`."
            )
