"""Every change of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from jupyter_memory.storage.base import Calibration, Model, Noted, Prepared, QueryVector, RunFilter
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.shared import identity
from jupyter_memory.storage.shared import key as run_key
from jupyter_memory.storage.sqlite import checks, keyword_query, scrubbing, undo
from jupyter_memory.storage.sqlite.changes import Changes, Transactions, in_steps, with_room
from jupyter_memory.storage.sqlite.database import Database
from jupyter_memory.storage.sqlite.scrubbing import note_removal
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.sqlite.tables import activity, memories, thumbnails
from jupyter_memory.storage.sqlite.tables import runs as rows
from jupyter_memory.storage.sqlite.vectors import VectorIndex
from jupyter_memory.storage.tables import files
from jupyter_memory.text.code import Definitions
from jupyter_memory.types import Draft, Filters, Memory, Run
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.memory import Thumbnail
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Feedback, HistoryStatus, Recent

_SMALL = 500_000_000  # bytes that are read in a fraction of a second


class SqliteWriter:
    """The changes of one store; `storage.writing.Writer` says what each method does."""

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
            replaced = files.in_the_way(changes.connection, old, new)
            changes.delete(replaced)
            moved = len(files.move(changes.connection, old, new))
            if replaced:
                scrubbing.note_removal(changes.connection)
        self.tidy()
        return moved

    def note_folder(self, path: str, space: str, at: datetime, /) -> None:
        with self._database.write() as connection:
            files.note_folder(connection, path, space, at)

    def watch(self, path: str, space: str, watched: bool, /) -> None:
        with self._database.write() as connection:
            files.watch_folder(connection, path, space, watched)

    def remove_folder(self, path: str, space: str, /) -> int:
        def remove(changes: Changes) -> int:
            files.remove_folder(changes.connection, path, space)
            return changes.forget_files(list(files.under(changes.connection, path, space)), space)

        return self._transactions.removed(remove)

    def drop_vacated(self, space: str, /) -> None:
        with self._database.write() as connection:
            files.drop_vacated(connection, space)

    # -- activity ------------------------------------------------------------------------------------------------------

    def note_search(self, search: Recent, hits: Sequence[str], patience: float, /) -> None:
        with self._database.write_at_once(patience) as connection:
            activity.note_search(connection, search, hits)

    def note_access(self, memory_id: str, patience: float, /) -> bool:
        with self._database.write_at_once(patience) as connection:
            return activity.note_access(connection, memory_id)

    def forget_searches(self) -> int:
        def forget() -> int:
            with self._database.write() as connection:
                count = activity.clear_searches(connection)
                activity.clear_accesses(connection)
                scrubbing.note_removal(connection)
                return count

        with self._database.read() as connection:
            if activity.has_no_searches(connection) and activity.is_unused(connection):
                return 0
        count = with_room(self._database, forget)
        self.tidy()
        return count

    def judge(self, feedback: Feedback, /) -> None:
        with self._database.write() as connection:
            memories.known_key(connection, feedback.memory_id)
            activity.judge(connection, feedback)

    def keep_query_vectors(self, vectors: Sequence[QueryVector], /) -> None:
        with self._database.write_at_once() as connection:
            for vector in vectors:
                activity.keep_query_vector(connection, *vector)

    def clear_query_vectors(self) -> None:
        with self._database.write_at_once() as connection:
            activity.clear_query_vectors(connection)

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
            lambda connection: checks.damaged(connection, model.id, model.dimensions),
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
        return self._drop_damaged(checks.damaged_tokens, memories.drop_tokens)

    def keep_tokens(self, tokens: Mapping[int, ChunkTokens], /) -> int:
        with self._database.write(yielding=True) as connection:
            there = memories.existing_chunks(connection, list(tokens))
            memories.keep_tokens(connection, {chunk: tokens[chunk] for chunk in there})
        return len(there)

    def keep_definitions(self, found: Mapping[int, Definitions], /) -> int:
        with self._database.write(yielding=True) as connection:
            left = memories.lacking_definitions_among(connection, list(found))
            memories.insert_definitions(connection, [(key, found[key]) for key in left])
        return len(left)

    def drop_damaged_definitions(self) -> int:
        return self._drop_damaged(checks.damaged_definitions, memories.drop_definitions)

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        self._transactions.scrub()

    def rebuild(self) -> None:
        with self._database.write() as connection:
            keyword_query.rebuild(connection)
            scrubbing.note_removal(connection)
        self._transactions.scrub(compact_at=0.1)

    def _drop_damaged(self, find: Callable[[Session], list[int]], drop: Callable[[Session, list[int]], object]) -> int:
        # The check takes long, so others may write meanwhile.
        with self._database.read() as connection:
            found = find(connection)
        if found:
            with self._database.write() as connection:
                drop(connection, found)
        return len(found)


class SqliteThumbnails:
    """The thumbnails of one store; `storage.writing.Thumbnails` says what each method does."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._transactions = Transactions(database, vectors)

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        with self._database.read() as connection:
            return thumbnails.get(connection, memories.known_key(connection, memory_id), place)

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        with self._database.read() as connection:
            return thumbnails.of_file(connection, path, space)

    def size(self, without: Sequence[str], space: str, /) -> int:
        with self._database.read() as connection:
            return thumbnails.count(connection)[1] - thumbnails.size_in(connection, without, space)

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        with self._database.read() as connection:
            return thumbnails.unread(connection, paths, space)

    def clear(self) -> int:
        def clear(changes: Changes) -> int:
            removed = thumbnails.clear(changes.connection)
            note_removal(changes.connection)
            return removed

        with self._database.read() as connection:
            if not thumbnails.count(connection)[0]:
                return 0
        return self._transactions.removed(clear)


class SqliteRunLog:
    """What one store holds of the history; `storage.base.RunLog` says what each method does."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._transactions = Transactions(database, vectors)

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        texts = [_text(draft) for draft in drafts]
        with self._database.read() as connection:
            known = rows.texts_known(connection, texts)
        return [text in known for text in texts]

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        with self._transactions.changing() as changes:
            connection = changes.connection
            seen = rows.noted(connection, [run for run, _ in runs])
            drafts = [draft for run, draft in runs if run_key(run) not in seen]
            wanted = dict.fromkeys(map(_text, drafts))
            known = rows.texts_known(connection, wanted)
            new = [one for one in fresh if (text := _text(one.draft)) in wanted and text not in known]
            if new:
                keys = changes.add(new, changes.model(embedder), datetime.now(UTC))
                known |= {_text(one.draft): key for one, key in zip(new, keys, strict=True)}

            touched, failed, left = list[int](), list[int](), list[int]()
            for place, (run, draft) in enumerate(runs):
                if run_key(run) in seen:
                    memory = rows.end(connection, run)
                elif (memory := known.get(_text(draft))) is None:
                    left.append(place)
                else:
                    rows.insert(connection, memory, run)
                    seen.add(run_key(run))
                if memory is not None:
                    touched.append(memory)
                    if run.error is not None:
                        failed.append(memory)
            rows.describe(connection, dict.fromkeys(touched))
            changes.index_errors(dict.fromkeys(failed))
            return Noted(len(touched), left)

    def find(self, wanted: RunFilter, limit: int, /, *, oldest_first: bool = False) -> list[Run]:
        with self._database.read() as connection:
            return rows.find(connection, wanted, limit, oldest_first)

    def numbers(self, session: str, /) -> set[int]:
        with self._database.read() as connection:
            return rows.numbers(connection, session)

    def status(self, space: str, /) -> HistoryStatus:
        with self._database.read() as connection:
            return rows.status(connection, space)

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        with self._database.read() as connection:
            if not rows.beyond(connection, space, since, most):
                return 0

        def remove(changes: Changes) -> int:
            connection = changes.connection
            keys = rows.beyond(connection, space, since, most)
            emptied, left = rows.remove(connection, keys)
            rows.describe(connection, left)
            changes.index_errors(left)
            changes.forget_keys(emptied)
            scrubbing.note_removal(connection)
            return len(keys)

        return self._transactions.removed(remove)


def _text(draft: Draft) -> tuple[str, str]:
    return content_hash(draft), draft.space
