"""Memories on their way out of a store and into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import (
    Arriving,
    Became,
    Calibration,
    Engine,
    Model,
    NotedFile,
    NotedFolder,
    Prepared,
    Stored,
    content_hash,
    identity,
)
from jupyter_memory.storage.changes import Changes
from jupyter_memory.storage.sql import Session, delegated
from jupyter_memory.storage.tables import activity, files, models, runs, thumbnails
from jupyter_memory.storage.tables import memories as rows
from jupyter_memory.storage.writer import Part, changing
from jupyter_memory.types import Filters
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import Feedback

_TOGETHER = 200  # memories that are read at once


class Contents:
    """What one state of a store holds in a space, or in all of them."""

    def __init__(self, engine: Engine, session: Session, space: str) -> None:
        self._engine = engine
        self._session = session
        self._space = space

    model = delegated("_session", models.active)
    chunk_size = delegated("_session", rows.chunk_size)
    searches = delegated("_session", activity.searches)  # of the whole store: they belong to no space

    def calibration(self) -> Calibration | None:
        """Return how far that model can be trusted here, None where that was never measured."""
        model = self.model()
        return None if model is None else models.calibration(self._session, model)

    def spaces(self) -> list[str]:
        """Return the spaces that have memories, files or folders."""
        if self._space:
            return [self._space]
        of = self._session.dialect.of
        parts = (f"select space from {table} where {of(table)}" for table in ("memories", "files", "folders"))
        return [str(space) for (space,) in self._session.rows(f"{' union '.join(parts)} order by 1")]

    def memories(self, chosen: Filters | None = None, among: Sequence[str] | None = None) -> Iterator[Stored]:
        """Yield the memories, or those that are chosen among these ids, in the order in which they were stored."""
        wanted = self._filters & (chosen or Filters())
        for some in batches(rows.keys_where(self._session, wanted, among), _TOGETHER):
            loaded = rows.load(self._session, some)
            cut = rows.chunks_by_memory(self._session, some)
            tiers = rows.tiers(self._session, some)
            pictures = thumbnails.by_memory(self._session, some)
            for key in some:
                ran = runs.of_memory(self._session, key) if loaded[key].kind == "history" else []
                yield Stored(loaded[key], tiers[key], tuple(cut[key].values()), tuple(ran), pictures.get(key, ()))

    def prepared(self, memories: Sequence[Stored], /) -> list[Prepared]:
        """Return memories ready for another store; vectors and tokens are those of all chunks of one, or none."""
        session, model = self._session, self.model()
        by_id = rows.keys_by_id(session, [one.memory.id for one in memories])
        keys = [by_id[one.memory.id] for one in memories]
        owned = rows.chunks_by_memory(session, keys)
        every = [chunk for key in keys for chunk in owned[key]]
        tokens = rows.tokens_of(session, every)
        found = None if model is None else self._engine.vectors.read(session, model, every)
        embedded = {} if found is None else dict(zip(found.ids.tolist(), found.vectors, strict=True))
        defined = rows.definitions_of(session, keys)
        return [
            Prepared(
                one.draft,
                np.stack([embedded[chunk] for chunk in of_it]) if of_it and embedded.keys() >= of_it.keys() else None,
                [tokens[chunk] for chunk in of_it] if tokens.keys() >= of_it.keys() else (),
                definitions=defined.get(key),
            )
            for one, key in zip(memories, keys, strict=True)
            for of_it in (owned[key],)
        ]

    def files(self) -> Iterator[NotedFile]:
        return iter(files.every(self._session, self._space))

    def folders(self) -> Iterator[NotedFolder]:
        return iter(files.every_folder(self._session, self._space))

    def feedback(self) -> Iterator[Feedback]:
        """Yield what people said of hits."""
        for said in activity.judged(self._session):
            if rows.keys_where(self._session, self._filters, [said.memory_id]):
                yield said

    @property
    def _filters(self) -> Filters:
        return Filters(space=(self._space,)) if self._space else Filters()


class Transfer(Part):
    """Takes memories out of a store and puts them into one."""

    @contextmanager
    def contents(self, space: str, /) -> Iterator[Contents]:
        """Read what one state of the store holds in a space, in all of them if it is empty."""
        with self._engine.read() as session:
            yield Contents(self._engine, session, space)

    def begin(self, embedder: Embedder | Model, /) -> Model:
        """Return the model of an embedder before many memories are written; ``Engine.tidy`` does the rest."""
        return self._engine.change(lambda session: self._engine.vectors.register(session, embedder, indexed=False))

    def put(self, arriving: Sequence[Arriving], embedder: Embedder | Model | None, /, *, update: bool) -> list[Became]:
        """Store memories with their ids and runs, in one transaction; return what became of each.

        One whose id is there gets the runs that it lacks, pictures if it has none, and with ``update`` all else.
        """

        def put(changes: Changes) -> list[Became]:
            session, model = changes.session, changes.model(embedder)
            taken: set[object] = set(rows.keys_by_id(session, [one.id for one in arriving]))
            new: set[int] = set()
            for place, (one, held) in enumerate(zip(arriving, _same_content(session, arriving), strict=True)):
                draft = one.prepared.draft
                name = (content_hash(draft), draft.space) if draft.kind == "history" else identity(draft)
                if held is None and not taken & {one.id, name}:
                    new.add(place)
                    taken |= {one.id, name}

            changes.lock([*rows.keys_by_id(session, [one.id for one in arriving]).values()])
            changes.put_in([arriving[place] for place in sorted(new)], model)
            return [
                "added" if place in new else _settle(changes, one, embedder, update)
                for place, one in enumerate(arriving)
            ]

        became = changing(self._engine, put, yielding=True)
        if "updated" in became:
            self._engine.scrub()
        return became

    def note(self, noted: Sequence[NotedFile], folders: Sequence[NotedFolder], feedback: Sequence[Feedback], /) -> None:
        """Note files and folders that were indexed, and feedback on known memories; earlier notes are kept."""

        def note(session: Session) -> None:
            files.restore(session, noted)
            files.restore_folders(session, folders)
            activity.restore_feedback(session, feedback)

        self._engine.change(note)


def _settle(changes: Changes, one: Arriving, embedder: Embedder | Model | None, update: bool) -> Became:
    session, draft = changes.session, one.prepared.draft
    by_id = rows.keys_by_id(session, [one.id]).get(one.id)
    [by_content] = _same_content(session, [one])
    became: Became = "kept"
    if by_content is not None and by_content != by_id and (by_id is None or update):
        changes.merge(by_content, draft)
        by_id, became = by_content, "merged"
    elif update and by_id is not None:
        columns = rows.columns(identity(draft), draft, one.indexed_at, one.stored_at, one.accessed)
        if rows.differs(session, by_id, columns, draft.tags):
            changes.overwrite(by_id, one, changes.model(embedder))
            became = "updated"
    if by_id is not None:
        changes.complete(by_id, one)
    return became


def _same_content(session: Session, arriving: Sequence[Arriving]) -> list[int | None]:
    # For each the key of the memory that holds the same content in the same place; what ran is one anywhere.
    drafts = [one.prepared.draft for one in arriving]
    found = rows.find_known(session, [identity(draft) for draft in drafts])
    ran = [(content_hash(draft), draft.space) for draft in drafts if draft.kind == "history"]
    known = runs.texts_known(session, ran)
    return [
        known.get((content_hash(draft), draft.space), key) if draft.kind == "history" else key
        for draft, key in zip(drafts, found, strict=True)
    ]
