"""Every change of a store, and what it holds of history and pictures. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from jupyter_memory.runtime import portions
from jupyter_memory.storage.base import Engine, Model, Noted, Prepared, content_hash, identity
from jupyter_memory.storage.changes import Changes
from jupyter_memory.storage.sql import Session
from jupyter_memory.storage.tables import activity, checks, memories, models, thumbnails
from jupyter_memory.storage.tables import files as rows
from jupyter_memory.storage.tables import runs as log
from jupyter_memory.types import Draft, Filters, Memory, Run
from jupyter_memory.types.memory import Thumbnail
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Recent

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_STEP = 128  # memories of new files that are written in one transaction: some 50 ms, in which no one else can write
_FileRead = tuple[FileState, Sequence[Prepared]]  # a file that was read, and its memories


def changing(engine: Engine, work: Callable[[Changes], Result], *, yielding: bool = False) -> Result:
    """Change memories in one transaction. ``work`` may run twice, so it changes nothing outside."""
    return engine.change(partial(_whole, engine, work), yielding=yielding)


def removing(engine: Engine, work: Callable[[Changes], Result]) -> Result:
    """Run what removes memories, also on a full disk, and tidy up after it."""
    return engine.remove(partial(_whole, engine, work))


def _whole(engine: Engine, work: Callable[[Changes], Result], session: Session) -> Result:
    changes = Changes(engine, session)
    result = work(changes)
    changes.finish()
    return result


class Part:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine


def _reading(
    read: Callable[Concatenate[Session, Parameters], Result],
) -> Callable[Concatenate[Part, Parameters], Result]:
    @wraps(read)
    def of_store(part: Part, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with part._engine.read() as session:
            return read(session, *args, **kwargs)

    return of_store


def _writing(
    work: Callable[Concatenate[Session, Parameters], Result], *, at_once: float | None = None, yielding: bool = False
) -> Callable[Concatenate[Part, Parameters], Result]:
    @wraps(work)
    def of_store(part: Part, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return part._engine.change(lambda session: work(session, *args, **kwargs), at_once=at_once, yielding=yielding)

    return of_store


class Writer(Part):
    """Everything that changes a store. Each method is one transaction: it happens whole or not at all.

    Every method raises ``StoreReadOnly`` where nothing can be written, and ``StoreLocked`` where another writer keeps
    the store busy for too long; what takes an id ``UnknownMemory``, and what takes an embedder ``EmbeddingMismatch`` if
    the store holds the vectors of another model. What is forgotten leaves no trace in the store's files. Some methods
    are functions of `storage.tables`, with their docstrings.
    """

    # -- memories ------------------------------------------------------------------------------------------------------

    def add(self, prepared: Sequence[Prepared], embedder: Embedder | None, /) -> list[Memory]:
        """Store memories; known content gets the new tags and metadata instead of a second copy."""

        def add(changes: Changes) -> list[Memory]:
            keys = changes.add(prepared, changes.model(embedder), datetime.now(UTC))
            loaded = memories.load(changes.session, list(dict.fromkeys(keys)))
            return [loaded[key] for key in keys]

        return changing(self._engine, add)

    def merge(self, drafts: Sequence[Draft], /) -> list[Memory | None]:
        """Give known memories the tags, metadata and pin of these drafts; None for each draft that is not known."""
        identities = [identity(draft) for draft in drafts]

        def merge(changes: Changes) -> list[Memory | None]:
            keys = memories.find_known(changes.session, identities)
            changes.lock([key for key in keys if key is not None])
            for key, draft in zip(keys, drafts, strict=True):
                if key is not None:
                    changes.merge(key, draft)
            loaded = memories.load(changes.session, [key for key in keys if key is not None])
            return [None if key is None else loaded[key] for key in keys]

        with self._engine.read() as session:
            if not any(memories.find_known(session, identities)):
                return [None] * len(drafts)
        return changing(self._engine, merge)

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
        """Change a memory: ``changes`` are fields of `Memory`, ``prepared`` has its new words and tags."""
        memory = changing(self._engine, lambda writing: writing.update(memory_id, changes, tags, prepared, embedder))
        self._engine.scrub()
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
        moved: Sequence[str] = (),
    ) -> int:
        """Remove memories by id or by filter, with what was noted about them; return the number removed.

        With ``among``, a filter removes none but these ids. With ``everything`` all searches go as well. With
        ``until``, ``Forgotten`` can take it back, noted under ``space`` with where it was ``moved``.
        """

        def forget(changes: Changes) -> int:
            if until is None:
                return changes.forget(chosen, among, everything)
            forgetting = partial(changes.forget, chosen, among, everything)
            return self._engine.kept(changes.session, until, space, list(moved), forgetting)

        return removing(self._engine, forget)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def replace_files(self, files: Sequence[_FileRead], embedder: Embedder | None, space: str, /) -> None:
        """Store files in place of what they were: a cell that is still there keeps its id, pin and tags."""
        now = datetime.now(UTC)
        with self._engine.read() as session:
            # Files that hold memories are written together, since cells may move between them.
            known = rows.memories_of_paths(session, [state.path for state, _ in files], space)
        for some in [files] if known else portions(files, lambda one: len(one[1]), _STEP):

            def replace(changes: Changes, some: Sequence[_FileRead] = some) -> None:
                states = [state for state, _ in some]
                # Two that read the same files write them one after the other.
                changes.session.lock_files([state.path for state in states], space)
                contents = {state.path: of_it for state, of_it in some}
                replaced = changes.replace_files(contents, changes.model(embedder), now, space)
                if replaced:
                    changes.session.note_removal()
                rows.note(changes.session, states, now, space)

            changing(self._engine, replace, yielding=True)

    def touch_file(self, state: FileState, space: str, /) -> None:
        """Note that a file has a new modification time but the content it had."""
        self._engine.change(lambda session: rows.note(session, [state], datetime.now(UTC), space))

    def forget_files(self, paths: Sequence[str], space: str, /) -> int:
        """Remove files and their memories from a space; return how many memories went."""
        return removing(self._engine, lambda changes: changes.forget_files(paths, space))

    def rename(self, old: str, new: str, /) -> int:
        """Give all memories of the file or folder ``old`` the path ``new``, in every space; return how many."""

        def rename(changes: Changes) -> int:
            replaced = rows.in_the_way(changes.session, old, new)
            changes.delete(replaced)
            if replaced:
                changes.session.note_removal()
            return len(rows.move(changes.session, old, new))

        moved = changing(self._engine, rename)
        self._engine.scrub()
        return moved

    note_folder = _writing(rows.note_folder)
    watch = _writing(rows.watch_folder)
    drop_vacated = _writing(rows.drop_vacated)

    def describe_folder(self, path: str, space: str, said: Mapping[str, Any], /) -> None:
        """Note the ``description`` of a folder, or whether it is ``hidden``; what was noted before leaves no trace."""
        self._engine.remove(lambda session: rows.describe_folder(session, path, space, said))

    def remove_folder(self, path: str, space: str, /) -> int:
        """Take a folder off the list, with those below it, and forget its files; return how many memories went."""

        def remove(changes: Changes) -> int:
            rows.drop_below(changes.session, "folders", path, space)
            return changes.forget_files(list(rows.under(changes.session, path, space)), space)

        return removing(self._engine, remove)

    # -- activity ------------------------------------------------------------------------------------------------------

    def note_search(self, search: Recent, hits: Sequence[str], patience: float, /) -> None:
        """Note a recent search without waiting for the disk; wait ``patience`` seconds at most for other writers."""
        self._engine.change(lambda session: activity.note_search(session, search, hits), at_once=patience)

    def note_access(self, memory_id: str, patience: float, /) -> bool:
        """Count that a person used a memory, waiting as ``note_search`` does; return whether there is such a memory."""
        return self._engine.change(lambda session: activity.note_access(session, memory_id), at_once=patience)

    def forget_searches(self) -> int:
        """Forget the recent searches, all feedback and how often memories were used; return how many searches went."""

        def forget(session: Session) -> int:
            count = activity.clear_searches(session)
            activity.clear_accesses(session)
            session.note_removal()
            return count

        with self._engine.read() as session:
            if not activity.is_any(session):
                return 0
        return self._engine.remove(forget)

    def drop_searches(self, hits: Sequence[str]) -> int:
        """Forget the searches that found one of these hits of other stores; return how many."""

        def drop(session: Session) -> int:
            if count := activity.drop_searches(session, hits):
                session.note_removal()
            return count

        return self._engine.remove(drop)

    judge = _writing(activity.judge)
    # Neither waits for the disk, nor for another writer.
    keep_query_vectors = _writing(activity.keep_query_vectors, at_once=0)
    clear_query_vectors = _writing(activity.clear_query_vectors, at_once=0)
    note_once = _writing(activity.note_once)

    # -- models --------------------------------------------------------------------------------------------------------

    def register_model(self, embedder: Embedder, /) -> Model:
        """Return the model of an embedder, added where the store has no such model; its first one is the active one."""
        return self._engine.change(lambda session: self._engine.vectors.register(session, embedder))

    def add_vectors(self, embedder: Embedder, vectors: Mapping[int, Vectors], /) -> int:
        """Store the vectors of those of these chunks that are still there and lack one; return how many."""

        def add(session: Session) -> int:
            model = self._engine.vectors.register(session, embedder)
            # What was forgotten meanwhile must not leave a vector behind.
            lacking = self._engine.vectors.missing(session, model, len(vectors), min(vectors) - 1)
            left = [chunk for chunk in lacking if chunk in vectors]
            if not left:
                return 0
            return self._engine.vectors.add(session, model, left, np.stack([vectors[chunk] for chunk in left]))

        return self._engine.change(add, yielding=True)

    def drop_damaged_vectors(self, embedder: Embedder, /) -> int:
        """Remove the damaged vectors of an embedder's model, which then count as missing; return how many."""
        with self._engine.read() as session:
            model = models.known(session, embedder.fingerprint)
        if model is None:
            return 0
        return self._drop_damaged(
            lambda session: self._engine.vectors.damaged(session, model),
            lambda session, chunks: self._engine.vectors.remove(session, chunks, [model]),
        )

    def activate_model(self, embedder: Embedder, /) -> bool:
        """Make searches use the model of an embedder, unless a chunk lacks its vector; return whether they do."""
        # In one transaction: nobody can add a chunk in between.
        return self._engine.change(lambda session: self._engine.vectors.activate(session, embedder))

    def drop_models(self, chosen: Sequence[Model], /) -> int:
        """Remove those of these models that are not in use, with their vectors; return how many vectors went."""

        def drop(session: Session) -> int:
            active = models.active(session)
            idle = [model for model in models.every(session) if model in chosen and model != active]
            if idle:
                session.note_removal()
            return sum(self._engine.vectors.drop(session, model) for model in idle)

        return self._engine.remove(drop, compact_at=0.1)

    keep_calibration = _writing(models.keep_calibration)
    keep_tokens = _writing(memories.keep_tokens, yielding=True)
    keep_definitions = _writing(memories.insert_definitions, yielding=True)

    def drop_damaged_tokens(self) -> int:
        """Remove the damaged tokens of chunks, which then count as missing; return how many chunks had such."""
        return self._drop_damaged(memories.damaged_tokens, memories.drop_tokens)

    def drop_damaged_definitions(self) -> int:
        """Remove definitions that their texts do not hold, which then count as missing; return of how many memories."""
        return self._drop_damaged(checks.damaged_definitions, memories.drop_definitions)

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Build the keyword index anew, and rid the store's files of all traces of what was removed."""

        def rebuild(session: Session) -> None:
            self._engine.keywords.rebuild(session)
            session.note_removal()

        self._engine.change(rebuild)
        self._engine.tidy(compact_at=0.1)

    def _drop_damaged(self, find: Callable[[Session], list[int]], drop: Callable[[Session, list[int]], object]) -> int:
        # The check takes long, so others may write meanwhile.
        with self._engine.read() as session:
            found = find(session)
        if found:
            self._engine.change(lambda session: drop(session, found))
        return len(found)


class RunLog(Part):
    """What a store holds of the history. Each method is one transaction."""

    find = _reading(log.find)
    durations = _reading(log.durations)
    numbers = _reading(log.numbers)
    status = _reading(log.status)

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        """Return for each draft whether history has a memory of its text, in its space."""
        texts = [_text(draft) for draft in drafts]
        with self._engine.read() as session:
            known = log.texts_known(session, texts)
        return [text in known for text in texts]

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        """Note runs, each with the draft of its text; ``fresh`` has the texts that the store may lack.

        A run is known by session, number and start: one that was noted without an outcome gets it. One whose text is
        neither in the store nor in ``fresh``, since somebody forgot it meanwhile, is left.
        """

        def note(changes: Changes) -> Noted:
            session, seen = changes.session, log.noted(changes.session, [run for run, _ in runs])
            wanted = dict.fromkeys(_text(draft) for run, draft in runs if log.key(run) not in seen)
            known = log.texts_known(session, wanted)
            new = [one for one in fresh if (text := _text(one.draft)) in wanted and text not in known]
            if new:
                keys = changes.add(new, changes.model(embedder), datetime.now(UTC))
                known |= {_text(one.draft): key for one, key in zip(new, keys, strict=True)}

            changes.lock([*known.values()])
            touched, failed, left = list[int](), list[int](), list[int]()
            for place, (run, draft) in enumerate(runs):
                if log.key(run) in seen:
                    memory = log.end(session, run)
                elif (memory := known.get(_text(draft))) is None:
                    left.append(place)
                else:
                    log.insert(session, memory, run)
                    seen.add(log.key(run))
                if memory is not None:
                    touched.append(memory)
                    if run.error is not None:
                        failed.append(memory)
            log.describe(session, dict.fromkeys(touched))
            changes.index_errors(dict.fromkeys(failed))
            return Noted(len(touched), left)

        return changing(self._engine, note)

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        """Remove the runs that began before ``since``, and all but the ``most`` newest; return the number removed.

        Memories go with the last of their runs. Those with a pin or a tag stay, with all their runs.
        """

        def remove(changes: Changes) -> int:
            keys = log.beyond(changes.session, space, since, most)
            emptied, left = log.remove(changes.session, keys)
            log.describe(changes.session, left)
            changes.index_errors(left)
            changes.forget_keys(emptied)
            changes.session.note_removal()
            return len(keys)

        with self._engine.read() as session:
            if not log.beyond(session, space, since, most):
                return 0
        return removing(self._engine, remove)


def _text(draft: Draft) -> tuple[str, str]:
    return content_hash(draft), draft.space


class Thumbnails(Part):
    """What a store holds of pictures. Each method is one transaction. ``Writer`` stores them with their memories."""

    size = _reading(thumbnails.size)
    unread = _reading(thumbnails.unread)

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        """Return a picture of a memory by its place, counted from 0; None where there is none."""
        with self._engine.read() as session:
            return thumbnails.get(session, memories.known_key(session, memory_id), place)

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        """Return the pictures of a file in a space by their origin."""
        with self._engine.read() as session:
            of_file = thumbnails.by_memory(session, rows.memories_of_paths(session, [path], space))
        return {one.origin: one for pictures in of_file.values() for one in pictures}

    def add(self, files: Sequence[tuple[FileState, Sequence[Prepared], bool]], space: str, /) -> None:
        """Give the memories of files the pictures of their drafts, and note the files that have all of theirs."""

        def add(session: Session) -> None:
            session.lock_files([state.path for state, _, _ in files], space)
            drafts = [one.draft for _, of_file, _ in files for one in of_file]
            keys = memories.find_known(session, [identity(draft) for draft in drafts])
            found = {key: draft for key, draft in zip(keys, drafts, strict=True) if key is not None}
            # Not those that were forgotten meanwhile, on a server.
            for key in session.lock(list(found)):
                thumbnails.put(session, key, found[key], replacing=True)
            for state, _, is_whole in files:
                if is_whole:
                    thumbnails.note_read(session, state.path, state.content_hash, space)

        if files:
            self._engine.change(add, yielding=True)

    def clear(self) -> int:
        """Remove all pictures without a trace, so that their files count as unread; return the number removed."""

        def clear(session: Session) -> int:
            session.note_removal()
            return thumbnails.clear(session)

        with self._engine.read() as session:
            if not thumbnails.count(session)[0]:
                return 0
        return self._engine.remove(clear)
