"""Forgetting that can be taken back: what it removed is kept as a changeset of SQLite, and applied in reverse."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

import apsw

from jupyter_memory.errors import InputError, StoreError
from jupyter_memory.storage.base import Engine, Forgotten, Identity, from_micros, to_micros
from jupyter_memory.storage.changes import Changes
from jupyter_memory.storage.sqlite.database import Database
from jupyter_memory.storage.sqlite.file import Session, outdate
from jupyter_memory.storage.tables import memories, runs
from jupyter_memory.storage.writer import changing
from jupyter_memory.types import Draft
from jupyter_memory.types.report import Undoable

# What is made anew, or must not come back: the keyword index, counters, vectors of questions, and this table.
_LEFT_OUT = ("keyword", "word_", "counters", "query_", "forgotten")


class SqliteForgotten(Forgotten):
    def __init__(self, database: Database, engine: Engine) -> None:
        self._database = database
        self._engine = engine

    def pending(self, space: str, /) -> list[Undoable]:
        kept = "select memories, until, moved from forgotten where space = :space or :space = '' order by number desc"
        with self._database.read() as session:
            rows = session.rows(kept, space=space)
        return [Undoable(number, from_micros(until), tuple(json.loads(moved))) for number, until, moved in rows]

    def undo(self, space: str, /) -> int:
        def undo(changes: Changes) -> int:
            session = changes.session
            assert isinstance(session, Session)
            last = session.rows(
                "select number, memories, at, changes from forgotten where space = :space or :space = '' "
                "order by number desc limit 1",
                space=space,
            )
            if not last:
                return 0
            [(number, count, at, changeset)] = last

            lost, chunks, memories_with_runs = _read(session, changeset)
            twins = _without_twins(changes, lost)
            changes.remove_words(chunks)
            # What is there now gives way; what an earlier row belongs to may be gone.
            replaced = (apsw.SQLITE_CHANGESET_DATA, apsw.SQLITE_CHANGESET_CONFLICT)
            apsw.Changeset.apply(
                apsw.Changeset.invert(changeset),
                session,
                conflict=lambda reason, _: (
                    apsw.SQLITE_CHANGESET_REPLACE if reason in replaced else apsw.SQLITE_CHANGESET_OMIT
                ),
            )
            back = [key for key, _, _ in lost]
            changes.put_words(sorted({*chunks, *memories.chunks_of(session, back)}))
            for key, draft in twins:
                changes.merge(key, draft)
            # Of texts that were forgotten for good since, the runs stay away.
            session.changed("delete from runs where memory not in (select key from memories)")
            having = f"select distinct memory from runs where {session.dialect.among('memory', 'keys')}"
            ran = session.column(having, keys=list(memories_with_runs))
            runs.describe(session, ran)
            changes.index_errors(ran)
            # These files are read again.
            session.changed(
                f"""
                update files set size = -1, content_hash = '' where indexed_at > :at and (path, space) in (
                    select source, space from memories where kind <> 'note' and {session.dialect.among("key", "keys")}
                )
                """,
                at=at,
                keys=back,
            )
            outdate(session)
            session.changed("delete from forgotten where number = :number", number=number)
            return int(count)

        return changing(self._engine, undo)

    def drop(self, until: datetime | None, /) -> int:
        last = None if until is None else to_micros(until)
        chosen = "until <= :last or :last is null"

        def drop(session: Session) -> int:
            count = session.value(f"select total(memories) from forgotten where {chosen}", last=last)
            if session.changed(f"delete from forgotten where {chosen}", last=last):
                session.note_removal()
            return int(count)

        with self._database.read() as session:
            there = session.value(f"select exists (select 1 from forgotten where {chosen})", last=last)
        # A store that nobody may write keeps what it has.
        return self._engine.remove(drop) if there and not self._database.read_only else 0


def kept(connection: Session, until: datetime, space: str, moved: list[str], forget: Callable[[], int]) -> int:
    """Run what forgets, within the caller's transaction, and keep what it removed; return how many memories went."""
    if "ENABLE_SESSION" not in apsw.compile_options:
        raise StoreError(
            "This build of SQLite cannot keep what is forgotten, so nothing was forgotten. Forget it for good with "
            "--now, or set undo_minutes to 0."
        )
    with closing(apsw.Session(connection, "main")) as session:
        session.config(apsw.SQLITE_SESSION_OBJCONFIG_SIZE, True)
        session.table_filter(lambda table: not table.startswith(_LEFT_OUT))
        session.attach()
        count = forget()
        if session.is_empty:
            return count
        # SQLite holds it in memory, and in one row: 500 MB, unless it was built for less.
        if session.changeset_size > connection.limit(apsw.SQLITE_LIMIT_LENGTH) // 2:
            raise InputError(
                "This is too much to keep for `undo`, so nothing was forgotten. Forget it for good with --now "
                "(now=True), or in parts."
            )
        changeset = session.changeset()
    connection.execute(
        "insert into forgotten (space, memories, at, until, moved, changes) values (?, ?, ?, ?, ?, ?)",
        (space, count, to_micros(datetime.now(UTC)), to_micros(until), json.dumps(moved), changeset),
    )
    return count


_Lost = tuple[int, str, Identity]  # the key, id and identity of a memory


def _read(connection: Session, changeset: bytes) -> tuple[list[_Lost], list[int], set[int]]:
    # Return the memories that come back, the chunks that get other words, and the memories that get runs.
    named = "select name from pragma_table_info(:table)"
    columns = {table: connection.column(named, table=table) for table in ("memories", "runs")}
    lost, chunks, ran = list[_Lost](), list[int](), set[int]()
    for change in apsw.Changeset.iter(changeset):
        if change.op == "UPDATE" and change.name == "chunks" and change.old is not None:
            chunks.append(int(str(change.old[0])))
        if change.op != "DELETE" or change.old is None or change.name not in columns:
            continue
        # A table may have more columns by now, at its end.
        row = dict(zip(columns[change.name], change.old, strict=False))
        if change.name == "runs":
            ran.add(int(str(row["memory"])))
        else:
            names = ("source", "kind", "space", "location", "content_hash")
            source, kind, space, place, content = (str(row[name]) for name in names)
            lost.append((int(str(row["key"])), str(row["id"]), (source, kind, space, place, content)))
    return lost, chunks, ran


def _without_twins(changes: Changes, lost: list[_Lost]) -> list[tuple[int, Draft]]:
    # Return the keys of such memories with what they are still to be given: tags, metadata and a pin.
    connection, given = changes.session, list[tuple[int, Draft]]()
    assert isinstance(connection, Session)
    # The rows that runs belong to from here on follow within this transaction.
    connection.execute("pragma defer_foreign_keys = on")
    for key, id_, named in lost:
        _, kind, space, _, content = named
        same = {*memories.find_known(connection, [named]), memories.key_of(connection, id_)}
        if kind == "history":
            same.update(runs.texts_known(connection, [(content, space)]).values())
        for twin in same - {None}:
            assert twin is not None
            memory = memories.load(connection, [twin])[twin]
            connection.execute("update runs set memory = ? where memory = ?", (key, twin))
            connection.execute("update or replace feedback set memory = ? where memory = ?", (id_, memory.id))
            changes.delete([twin])
            given.append((key, Draft(memory.text, tags=memory.tags, metadata=memory.metadata, pinned=memory.pinned)))
    return given
