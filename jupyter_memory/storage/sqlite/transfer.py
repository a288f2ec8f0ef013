"""Memories that leave a SQLite store and come into one; `storage.writing.Transfer` says what each method does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from jupyter_memory.storage.base import Calibration, Model, Prepared
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.shared import identity
from jupyter_memory.storage.sqlite.changes import Changes, Transactions
from jupyter_memory.storage.sqlite.database import Database
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.sqlite.tables import activity, arrivals, memories, runs, thumbnails
from jupyter_memory.storage.sqlite.vectors import VectorIndex
from jupyter_memory.storage.tables import files
from jupyter_memory.storage.writing import Arriving, Became, Contents, NotedFile, NotedFolder, NotedSearch, Stored
from jupyter_memory.types import Filters
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import Feedback

# Memories that are read at once.
_TOGETHER = 200


class SqliteContents:
    """What one state of a store holds in a space, or in all of them."""

    def __init__(self, connection: Session, vectors: VectorIndex, space: str) -> None:
        self._connection = connection
        self._vectors = vectors
        self._space = space

    def model(self) -> Model | None:
        return self._vectors.active(self._connection)

    def calibration(self) -> Calibration | None:
        model = self.model()
        return None if model is None else self._vectors.calibration(self._connection, model)

    def spaces(self) -> list[str]:
        if self._space:
            return [self._space]
        every = "select space from memories union select space from files union select space from folders order by 1"
        return [str(space) for (space,) in self._connection.execute(every)]

    def memories(self) -> Iterator[Stored]:
        keys = sorted(memories.keys_where(self._connection, self._filters))
        for start in range(0, len(keys), _TOGETHER):
            some = keys[start : start + _TOGETHER]
            loaded = memories.load(self._connection, some)
            cut = memories.chunks_by_memory(self._connection, some)
            tiers = arrivals.tiers(self._connection, some)
            pictures = thumbnails.by_memory(self._connection, some)
            for key in some:
                memory = loaded[key]
                ran = runs.of_memory(self._connection, key) if memory.kind == "history" else []
                yield Stored(memory, tiers[key], tuple(cut.get(key, ())), tuple(ran), pictures.get(key, ()))

    def prepared(self, stored: Sequence[Stored], /) -> list[Prepared]:
        connection, model = self._connection, self.model()
        by_id = arrivals.keys_by_id(connection, [one.memory.id for one in stored])
        keys = [by_id[one.memory.id] for one in stored]
        owned = memories.chunk_ids_by_memory(connection, keys)
        every = [chunk for key in keys for chunk in owned[key]]
        tokens = memories.tokens_of(connection, every)
        found = None if model is None else memories.chunk_vectors(connection, model, every)
        embedded = {} if found is None else dict(zip(found.ids.tolist(), found.vectors, strict=True))
        defined = memories.definitions_of(connection, keys)
        return [
            Prepared(
                one.draft,
                np.stack([embedded[chunk] for chunk in of_it]) if of_it and embedded.keys() >= set(of_it) else None,
                [tokens[chunk] for chunk in of_it] if tokens.keys() >= set(of_it) else (),
                definitions=defined.get(key),
            )
            for one, key in zip(stored, keys, strict=True)
            for of_it in (owned[key],)
        ]

    def files(self) -> Iterator[NotedFile]:
        return iter(files.every(self._connection, self._space))

    def folders(self) -> Iterator[NotedFolder]:
        return iter(files.every_folder(self._connection, self._space))

    def feedback(self) -> Iterator[Feedback]:
        for said in activity.judged(self._connection):
            if memories.keys_where(self._connection, self._filters, [said.memory_id]):
                yield said

    def searches(self) -> Iterator[NotedSearch]:
        return activity.every_search(self._connection)

    @property
    def _filters(self) -> Filters:
        return Filters(space=(self._space,)) if self._space else Filters()


class SqliteTransfer:
    """Takes memories out of a SQLite store and puts them into one."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._vectors = vectors
        self._transactions = Transactions(database, vectors)

    @contextmanager
    def contents(self, space: str, /) -> Iterator[Contents]:
        with self._database.read() as connection:
            yield SqliteContents(connection, self._vectors, space)

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        return []

    def begin(self, embedder: Embedder, /) -> Model:
        with self._database.write() as connection:
            return self._vectors.register(connection, embedder)

    def finish(self) -> None:
        pass

    def put(self, arriving: Sequence[Arriving], embedder: Embedder | None, /, *, update: bool) -> list[Became]:
        with self._transactions.changing(yielding=True) as changes:
            connection, model = changes.connection, changes.model(embedder)
            taken: set[object] = set(arrivals.keys_by_id(connection, [one.id for one in arriving]))
            new: set[int] = set()
            there = arrivals.same_content(connection, arriving)
            for place, (one, known) in enumerate(zip(arriving, there, strict=True)):
                draft = one.prepared.draft
                name = (content_hash(draft), draft.space) if draft.kind == "history" else identity(draft)
                if known is None and not taken & {one.id, name}:
                    new.add(place)
                    taken |= {one.id, name}
            changes.put_in([arriving[place] for place in new], model)
            became: list[Became] = ["added"] * len(arriving)
            for place, one in enumerate(arriving):
                if place not in new:
                    became[place] = _settle(changes, one, embedder, update)
        if "updated" in became:
            self._transactions.scrub()
        return became

    def note(
        self,
        files_read: Sequence[NotedFile],
        folders_read: Sequence[NotedFolder],
        feedback: Sequence[Feedback],
        /,
    ) -> None:
        with self._database.write() as connection:
            files.restore(connection, files_read)
            files.restore_folders(connection, folders_read)
            activity.restore_feedback(connection, feedback)


def _settle(changes: Changes, one: Arriving, embedder: Embedder | None, update: bool) -> Became:
    connection = changes.connection
    by_id = arrivals.keys_by_id(connection, [one.id]).get(one.id)
    [by_content] = arrivals.same_content(connection, [one])
    became: Became = "kept"
    if by_content is not None and by_content != by_id and (by_id is None or update):
        changes.merge(by_content, one.prepared.draft)
        by_id, became = by_content, "merged"
    elif update and by_id is not None and arrivals.differs(connection, by_id, one):
        changes.overwrite(by_id, one, changes.model(embedder))
        became = "updated"
    if by_id is not None:
        changes.complete(by_id, one)
    return became
