"""Everything that changes a SQLite store; `storage.base.Writer` says what each method does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import apsw
import numpy as np

from jupyter_memory.storage.base import Calibration, Model, Prepared, QueryVector
from jupyter_memory.storage.shared.rows import identity
from jupyter_memory.storage.sqlite.checks import texts as text_checks
from jupyter_memory.storage.sqlite.checks import vectors as vector_checks
from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.connection.room import with_room
from jupyter_memory.storage.sqlite.indexes import keyword_upkeep
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import chunks as chunk_rows
from jupyter_memory.storage.sqlite.tables import (
    definitions,
    files,
    folders,
    memories,
    moves,
    query_vectors,
    searches,
)
from jupyter_memory.storage.sqlite.writing import undo
from jupyter_memory.storage.sqlite.writing.changes import Changes
from jupyter_memory.storage.sqlite.writing.steps import in_steps
from jupyter_memory.storage.sqlite.writing.transactions import Transactions
from jupyter_memory.text.code import Definitions
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Feedback, Recent

_SMALL = 500_000_000  # bytes that are read in a fraction of a second


class SqliteWriter:
    """The write side of a SQLite store."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._vectors = vectors
        self._transactions = Transactions(database, vectors)

    # -- memories ------------------------------------------------------------------------------------------------------

    def add(self, prepared: Sequence[Prepared], embedder: Embedder | None, /) -> list[Memory]:
        with self._transactions.changing() as changes:
            keys = changes.add(prepared, changes.model(embedder), datetime.now(UTC))
        with self._database.read() as connection:
            loaded = memories.load(connection, list(dict.fromkeys(keys)))
        return [loaded[key] for key in keys]

    def merge(self, drafts: Sequence[Draft], /) -> list[Memory | None]:
        identities = [identity(draft) for draft in drafts]
        with self._database.read() as connection:
            if not any(memories.find_known(connection, identities)):
                return [None] * len(drafts)
        with self._transactions.changing() as changes:
            keys = memories.find_known(changes.connection, identities)
            for key, draft in zip(keys, drafts, strict=True):
                if key is not None:
                    changes.merge(key, draft)
            loaded = memories.load(changes.connection, [key for key in keys if key is not None])
        return [None if key is None else loaded[key] for key in keys]

    def update(
        self,
        memory_id: str,
        changes: Mapping[str, Any],
        /,
        *,
        tags: Sequence[str] | None = None,
        prepared: Prepared | None = None,
        embedder: Embedder | None = None,
    ) -> Memory:
        with self._transactions.changing() as writing:
            memory = writing.update(memory_id, changes, tags, prepared, embedder)
        self.tidy()
        return memory

    def forget(
        self,
        chosen: Sequence[str] | Filters,
        /,
        *,
        among: Sequence[str] | None = None,
        everything: bool = False,
        until: datetime | None = None,
        space: str = "",
    ) -> int:
        def forget(changes: Changes) -> int:
            if until is None:
                return changes.forget(chosen, among, everything)
            return undo.kept(changes.connection, until, space, lambda: changes.forget(chosen, among, everything))

        return self._transactions.removed(forget)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def replace_files(
        self, files_read: Sequence[tuple[FileState, Sequence[Prepared]]], embedder: Embedder | None, space: str, /
    ) -> None:
        now = datetime.now(UTC)
        with self._database.read() as connection:
            steps = in_steps(connection, files_read, space)
        for some in steps:
            with self._transactions.changing(yielding=True) as changes:
                contents = {state.path: of_it for state, of_it in some}
                replaced = changes.replace_files(contents, changes.model(embedder), now, space)
                # Every file that is saved comes here. In a large store, what was edited out of it waits for the next
                # time that something is forgotten.
                if replaced and self._database.path.stat().st_size < _SMALL:
                    scrubbing.note_removal(changes.connection)
                files.note(changes.connection, [state for state, _ in some], now, space)

    def touch_file(self, state: FileState, space: str, /) -> None:
        with self._database.write() as connection:
            files.note(connection, [state], datetime.now(UTC), space)

    def forget_files(self, paths: Sequence[str], space: str, /) -> int:
        return self._transactions.removed(lambda changes: changes.forget_files(paths, space))

    def rename(self, old: str, new: str, /) -> int:
        with self._transactions.changing() as changes:
            replaced = moves.in_the_way(changes.connection, old, new)
            changes.delete(replaced)
            moved = moves.move(changes.connection, old, new)
            if replaced:
                scrubbing.note_removal(changes.connection)
        self.tidy()
        return moved

    def note_folder(self, path: str, space: str, at: datetime, /) -> None:
        with self._database.write() as connection:
            folders.note(connection, path, space, at)

    def watch(self, path: str, space: str, watched: bool, /) -> None:
        with self._database.write() as connection:
            folders.watch(connection, path, space, watched)

    def remove_folder(self, path: str, space: str, /) -> int:
        def remove(changes: Changes) -> int:
            folders.remove(changes.connection, path, space)
            return changes.forget_files(list(files.under(changes.connection, path, space)), space)

        return self._transactions.removed(remove)

    def drop_vacated(self, space: str, /) -> None:
        with self._database.write() as connection:
            moves.drop_vacated(connection, space)

    # -- activity ------------------------------------------------------------------------------------------------------

    def note_search(self, search: Recent, hits: Sequence[str], patience: float, /) -> None:
        with self._database.write_at_once(patience) as connection:
            searches.note(connection, search, hits)

    def note_access(self, memory_id: str, patience: float, /) -> bool:
        with self._database.write_at_once(patience) as connection:
            return searches.note_access(connection, memory_id)

    def forget_searches(self) -> int:
        def forget() -> int:
            with self._database.write() as connection:
                count = searches.clear(connection)
                searches.clear_accesses(connection)
                scrubbing.note_removal(connection)
                return count

        with self._database.read() as connection:
            if searches.is_empty(connection) and searches.is_unused(connection):
                return 0
        count = with_room(self._database, forget)
        self.tidy()
        return count

    def judge(self, feedback: Feedback, /) -> None:
        with self._database.write() as connection:
            memories.known_key(connection, feedback.memory_id)
            searches.judge(connection, feedback)

    def keep_query_vectors(self, vectors: Sequence[QueryVector], /) -> None:
        with self._database.write_at_once() as connection:
            for vector in vectors:
                query_vectors.put(connection, *vector)

    def clear_query_vectors(self) -> None:
        with self._database.write_at_once() as connection:
            query_vectors.clear(connection)

    # -- models --------------------------------------------------------------------------------------------------------

    def register_model(self, embedder: Embedder, /) -> Model:
        with self._database.write() as connection:
            return self._vectors.register(connection, embedder)

    def add_vectors(self, embedder: Embedder, vectors: Mapping[int, Vectors], /) -> int:
        with self._database.write(yielding=True) as connection:
            model = self._vectors.register(connection, embedder)
            # What was forgotten meanwhile must not leave a vector behind.
            lacking = self._vectors.missing(connection, model, len(vectors), min(vectors) - 1)
            left = [chunk for chunk in lacking if chunk in vectors]
            if left:
                self._vectors.add(connection, model, left, np.stack([vectors[chunk] for chunk in left]))
        return len(left)

    def drop_damaged_vectors(self, embedder: Embedder, /) -> int:
        with self._database.read() as connection:
            model = self._vectors.known(connection, embedder.fingerprint)
        if model is None:
            return 0
        return self._drop_damaged(
            lambda connection: vector_checks.damaged(connection, model.id, model.dimensions),
            lambda connection, chunks: self._vectors.remove(connection, chunks, [model]),
        )

    def activate_model(self, embedder: Embedder, /) -> bool:
        # In one transaction: nobody can add a chunk in between.
        with self._database.write() as connection:
            model = self._vectors.register(connection, embedder)
            if self._vectors.missing(connection, model, 1):
                return False
            if self._vectors.active(connection) != model:
                self._vectors.activate(connection, model)
        return True

    def drop_models(self, models: Sequence[Model], /) -> int:
        def drop() -> int:
            with self._database.write() as connection:
                active = self._vectors.active(connection)
                idle = [model for model in self._vectors.models(connection) if model in models and model != active]
                count = sum(self._vectors.count(connection, model) for model in idle)
                for model in idle:
                    self._vectors.drop(connection, model)
                if idle:
                    scrubbing.note_removal(connection)
                return count

        count = with_room(self._database, drop)
        self._transactions.scrub(compact_at=0.1)
        return count

    def keep_calibration(self, model: Model, chunks: int, value: float, /) -> None:
        with self._database.write() as connection:
            self._vectors.keep_calibration(connection, model, Calibration(chunks, value))

    def note_once(self, what: str, /) -> bool:
        with self._database.write() as connection:
            connection.execute("insert or ignore into counters (name, value) values (?, 1)", (what,))
            return connection.changes() > 0

    def drop_damaged_tokens(self) -> int:
        return self._drop_damaged(vector_checks.damaged_tokens, chunk_rows.drop_tokens)

    def keep_tokens(self, tokens: Mapping[int, ChunkTokens], /) -> int:
        with self._database.write(yielding=True) as connection:
            there = chunk_rows.existing(connection, list(tokens))
            chunk_rows.keep_tokens(connection, {chunk: tokens[chunk] for chunk in there})
        return len(there)

    def keep_definitions(self, found: Mapping[int, Definitions], /) -> int:
        with self._database.write(yielding=True) as connection:
            left = definitions.lacking_among(connection, list(found))
            definitions.insert(connection, [(key, found[key]) for key in left])
        return len(left)

    def drop_damaged_definitions(self) -> int:
        return self._drop_damaged(text_checks.damaged_definitions, definitions.drop)

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        self._transactions.scrub()

    def rebuild(self) -> None:
        with self._database.write() as connection:
            keyword_upkeep.rebuild(connection)
            scrubbing.note_removal(connection)
        self._transactions.scrub(compact_at=0.1)

    def _drop_damaged(
        self, find: Callable[[apsw.Connection], list[int]], drop: Callable[[apsw.Connection, list[int]], object]
    ) -> int:
        """Remove what a check finds damaged; return how much. The check takes long, so others may write meanwhile."""
        with self._database.read() as connection:
            found = find(connection)
        if found:
            with self._database.write() as connection:
                drop(connection, found)
        return len(found)
