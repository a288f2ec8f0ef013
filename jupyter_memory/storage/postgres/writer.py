"""Every change of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np

from jupyter_memory.errors import InputError, Interrupted, StoreError
from jupyter_memory.storage.base import Model, Noted, Prepared, QueryVector, RunFilter
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.postgres import checks, postings, vectors
from jupyter_memory.storage.postgres.changes import Changes
from jupyter_memory.storage.postgres.database import Database, Session, of
from jupyter_memory.storage.postgres.tables import activity, memories
from jupyter_memory.storage.postgres.tables import runs as rows
from jupyter_memory.storage.shared import identity
from jupyter_memory.storage.shared import key as run_key
from jupyter_memory.storage.tables import files
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Draft, Filters, Memory, Run
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Feedback, HistoryStatus, Recent

Result = TypeVar("Result")


class PostgresWriter:
    """The write side of a PostgreSQL store. What a method does may run twice, so nothing outside changes within it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- memories ------------------------------------------------------------------------------------------------------

    def add(self, prepared: Sequence[Prepared], embedder: Embedder | None, /) -> list[Memory]:
        def add(changes: Changes) -> list[Memory]:
            keys = changes.add(prepared, changes.model(embedder), datetime.now(UTC))
            loaded = memories.load(changes.session, list(dict.fromkeys(keys)))
            return [loaded[key] for key in keys]

        return self._changing(add)

    def merge(self, drafts: Sequence[Draft], /) -> list[Memory | None]:
        identities = [identity(draft) for draft in drafts]

        def merge(changes: Changes) -> list[Memory | None]:
            keys = memories.find_known(changes.session, identities)
            changes.lock_known(keys)
            for key, draft in zip(keys, drafts, strict=True):
                if key is not None:
                    changes.merge(key, draft)
            loaded = memories.load(changes.session, [key for key in keys if key is not None])
            return [None if key is None else loaded[key] for key in keys]

        with self._database.read() as session:
            if not any(memories.find_known(session, identities)):
                return [None] * len(drafts)
        return self._changing(merge)

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
        return self._changing(lambda writing: writing.update(memory_id, changes, tags, prepared, embedder))

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
        if until is not None:
            raise InputError(
                "What is forgotten on a server cannot be taken back, so nothing was forgotten. Forget it for good with "
                "--now (now=True), or set undo_minutes to 0."
            )
        return self._changing(lambda changes: changes.forget(chosen, among, everything))

    # -- files and folders ---------------------------------------------------------------------------------------------

    def replace_files(
        self, files_read: Sequence[tuple[FileState, Sequence[Prepared]]], embedder: Embedder | None, space: str, /
    ) -> None:
        now = datetime.now(UTC)

        def replace(changes: Changes) -> None:
            contents = {state.path: of_it for state, of_it in files_read}
            # Two that read the same files write them one after the other, whether they are noted already or not.
            changes.session.execute(
                """
                select pg_advisory_xact_lock(locked.number)
                from (
                    select distinct hashtextextended(:space || chr(1) || path, 0) as number
                    from unnest(cast(:paths as text[])) as path order by 1
                ) as locked
                """,
                space=space,
                paths=list(contents),
            )
            changes.replace_files(contents, changes.model(embedder), now, space)
            files.note(changes.session, [state for state, _ in files_read], now, space)

        self._changing(replace)

    def touch_file(self, state: FileState, space: str, /) -> None:
        self._database.change(lambda session: files.note(session, [state], datetime.now(UTC), space))

    def forget_files(self, paths: Sequence[str], space: str, /) -> int:
        return self._changing(lambda changes: changes.forget_files(paths, space))

    def rename(self, old: str, new: str, /) -> int:
        def rename(changes: Changes) -> int:
            changes.delete(files.in_the_way(changes.session, old, new))
            moved = files.move(changes.session, old, new)
            memories.identify(changes.session, moved)
            return len(moved)

        return self._changing(rename)

    def note_folder(self, path: str, space: str, at: datetime, /) -> None:
        self._database.change(lambda session: files.note_folder(session, path, space, at))

    def watch(self, path: str, space: str, watched: bool, /) -> None:
        self._database.change(lambda session: files.watch_folder(session, path, space, watched))

    def remove_folder(self, path: str, space: str, /) -> int:
        def remove(changes: Changes) -> int:
            files.remove_folder(changes.session, path, space)
            return changes.forget_files(list(files.under(changes.session, path, space)), space)

        return self._changing(remove)

    def drop_vacated(self, space: str, /) -> None:
        self._database.change(lambda session: files.drop_vacated(session, space))

    # -- activity ------------------------------------------------------------------------------------------------------

    def note_search(self, search: Recent, hits: Sequence[str], patience: float, /) -> None:
        self._at_once(lambda session: activity.note_search(session, search, hits), patience)

    def note_access(self, memory_id: str, patience: float, /) -> bool:
        counted = f"update memories set accessed = accessed + 1 where {of('memories')} and id = :id"
        return self._at_once(lambda session: session.changed(counted, id=storable(memory_id)), patience) > 0

    def forget_searches(self) -> int:
        def forget(session: Session) -> int:
            session.execute(f"update memories set accessed = 0 where {of('memories')} and accessed > 0")
            return activity.clear_searches(session)

        asked = (
            f"select exists (select 1 from searches where {activity.OWN}) "
            f"or exists (select 1 from feedback where {activity.OWN})"
        )
        used = f"select exists (select 1 from memories where {of('memories')} and accessed > 0)"
        with self._database.read() as session:
            if not session.value(asked, space=session.space) and not session.value(used):
                return 0
        return self._database.change(forget)

    def judge(self, feedback: Feedback, /) -> None:
        def judge(session: Session) -> None:
            memories.known_key(session, feedback.memory_id)
            activity.judge(session, feedback)

        self._database.change(judge)

    def keep_query_vectors(self, given: Sequence[QueryVector], /) -> None:
        kept = list(given)

        def keep(session: Session) -> None:
            for one in kept:
                activity.keep_query_vector(session, *one)

        self._at_once(keep, 0)

    def clear_query_vectors(self) -> None:
        self._at_once(activity.clear_query_vectors, 0)

    # -- models --------------------------------------------------------------------------------------------------------

    def register_model(self, embedder: Embedder, /) -> Model:
        return self._database.change(lambda session: vectors.register(session, embedder))

    def add_vectors(self, embedder: Embedder, given: Mapping[int, Vectors], /) -> int:
        def add(session: Session) -> int:
            model = vectors.register(session, embedder)
            return vectors.add(session, model, list(given), np.stack(list(given.values())))

        return self._database.change(add)

    def drop_damaged_vectors(self, embedder: Embedder, /) -> int:
        def drop(session: Session) -> int:
            model = vectors.known(session, embedder.fingerprint)
            damaged = [] if model is None else checks.damaged_vectors(session, model)
            if model is not None and damaged:
                session.execute(
                    f"delete from vectors where {of('vectors')} and model = :model and chunk = any(:chunks)",
                    model=model.id,
                    chunks=damaged,
                )
            return len(damaged)

        return self._database.change(drop)

    def activate_model(self, embedder: Embedder, /) -> bool:
        return self._database.change(lambda session: vectors.activate(session, embedder))

    def drop_models(self, models: Sequence[Model], /) -> int:
        def drop(session: Session) -> int:
            active = vectors.active(session)
            idle = [model for model in vectors.models(session) if model in models and model != active]
            return sum(vectors.drop(session, model) for model in idle)

        return self._database.change(drop)

    def keep_calibration(self, model: Model, chunks: int, value: float, /) -> None:
        def keep(session: Session) -> None:
            session.execute(
                """
                insert into trust (space, model, chunks, value)
                select :space, id, :chunks, :value from models where id = :model
                on conflict (space, model) do update set chunks = excluded.chunks, value = excluded.value
                """,
                space=session.space,
                model=model.id,
                chunks=chunks,
                value=value,
            )

        self._database.change(keep)

    def note_once(self, what: str, /) -> bool:
        def note(session: Session) -> bool:
            noted = {"space": session.space, "what": what}
            return session.changed("insert into done values (:space, :what) on conflict do nothing", **noted) > 0

        return self._database.change(note)

    def drop_damaged_tokens(self) -> int:
        def drop(session: Session) -> int:
            damaged = checks.damaged_tokens(session)
            session.execute(
                f"delete from chunk_tokens where {of('chunk_tokens')} and chunk = any(:chunks)",
                chunks=damaged,
            )
            return len(damaged)

        return self._database.change(drop)

    def keep_tokens(self, tokens: Mapping[int, ChunkTokens], /) -> int:
        return self._database.change(lambda session: memories.keep_tokens(session, tokens))

    def keep_definitions(self, found: Mapping[int, Definitions], /) -> int:
        return self._database.change(lambda session: memories.insert_definitions(session, found))

    def drop_damaged_definitions(self) -> int:
        def drop(session: Session) -> int:
            damaged = checks.damaged_definitions(session)
            memories.drop_definitions(session, damaged)
            return len(damaged)

        return self._database.change(drop)

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        self._database.change(postings.fold)
        self._database.change(vectors.index)

    def rebuild(self) -> None:
        self._database.change(postings.rebuild)

    def _changing(self, work: Callable[[Changes], Result]) -> Result:
        return changed_and_folded(self._database, work)

    def _at_once(self, work: Callable[[Session], Result], patience: float) -> Result:
        # Without waiting for its disk, nor long for another writer.
        return self._database.change(work, patience=patience, durable=False)


def changed_and_folded(database: Database, work: Callable[[Changes], Result]) -> Result:
    """Change memories in one transaction, and fold what many of them appended."""

    def change(session: Session) -> tuple[Result, bool]:
        return work(Changes(session)), postings.is_unfolded(session)

    result, unfolded = database.change(change)
    if unfolded:
        # The change is stored, whatever becomes of the fold; the next change tries it again.
        with suppress(StoreError, Interrupted):
            database.change(postings.fold)
    return result


class PostgresRunLog:
    """What a PostgreSQL store holds of the history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        texts = [_text(draft) for draft in drafts]
        with self._database.read() as session:
            known = rows.texts_known(session, texts)
        return [text in known for text in texts]

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        def note(session: Session) -> Noted:
            changes, seen = Changes(session), rows.noted(session, [run for run, _ in runs])
            wanted = dict.fromkeys(_text(draft) for run, draft in runs if run_key(run) not in seen)
            known = rows.texts_known(session, wanted)
            new = [one for one in fresh if (text := _text(one.draft)) in wanted and text not in known]
            if new:
                keys = changes.add(new, changes.model(embedder), datetime.now(UTC))
                known |= {_text(one.draft): key for one, key in zip(new, keys, strict=True)}

            changes.lock_known([*known.values()])
            touched: list[int] = []
            failed: list[int] = []
            left: list[int] = []
            for place, (run, draft) in enumerate(runs):
                if run_key(run) in seen:
                    memory = rows.end(session, run)
                elif (memory := known.get(_text(draft))) is None:
                    left.append(place)
                else:
                    rows.insert(session, memory, run)
                    seen.add(run_key(run))
                if memory is not None:
                    touched.append(memory)
                    if run.error is not None:
                        failed.append(memory)
            rows.describe(session, dict.fromkeys(touched))
            changes.index_errors(dict.fromkeys(failed))
            return Noted(len(touched), left)

        return self._database.change(note)

    def find(self, wanted: RunFilter, limit: int, /, *, oldest_first: bool = False) -> list[Run]:
        with self._database.read() as session:
            return rows.find(session, wanted, limit, oldest_first)

    def numbers(self, session: str, /) -> set[int]:
        with self._database.read() as reading:
            return rows.numbers(reading, session)

    def status(self, space: str, /) -> HistoryStatus:
        with self._database.read() as session:
            return rows.status(session, space)

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        def remove(session: Session) -> int:
            changes = Changes(session)
            keys = rows.beyond(session, space, since, most)
            emptied, left = rows.remove(session, keys)
            rows.describe(session, left)
            changes.index_errors(left)
            changes.forget_keys(emptied)
            return len(keys)

        with self._database.read() as session:
            if not rows.beyond(session, space, since, most):
                return 0
        return self._database.change(remove)


def _text(draft: Draft) -> tuple[str, str]:
    return content_hash(draft), draft.space
