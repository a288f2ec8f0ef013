"""What a PostgreSQL store holds, on its way into a folder or another store; `storage.base.Contents` says what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jupyter_memory.storage.base import Calibration, Model, NotedFile, NotedFolder, NotedSearch, Prepared, Stored
from jupyter_memory.storage.postgres.connection.session import Session
from jupyter_memory.storage.postgres.indexes import vectors
from jupyter_memory.storage.postgres.tables import (
    arrivals,
    chunks,
    definitions,
    files,
    folders,
    memories,
    runs,
    searches,
    thumbnails,
)
from jupyter_memory.types import Filters
from jupyter_memory.types.report import Feedback

# Memories that are read at once.
_TOGETHER = 200


class PostgresContents:
    """What one state of a store holds in a space, or in all of them."""

    def __init__(self, session: Session, space: str) -> None:
        self._session = session
        self._space = space

    def model(self) -> Model | None:
        return vectors.active(self._session)

    def calibration(self) -> Calibration | None:
        model = self.model()
        return None if model is None else vectors.calibration(self._session, model)

    def spaces(self) -> list[str]:
        if self._space:
            return [self._space]
        every = "select space from memories union select space from files union select space from folders order by 1"
        return [str(space) for (space,) in self._session.rows(every)]

    def memories(self) -> Iterator[Stored]:
        keys = memories.keys_where(self._session, self._filters)
        for start in range(0, len(keys), _TOGETHER):
            yield from self._stored(keys[start : start + _TOGETHER])

    def prepared(self, stored: Sequence[Stored], /) -> list[Prepared]:
        session, model = self._session, self.model()
        by_id = arrivals.keys_by_id(session, [one.memory.id for one in stored])
        keys = [by_id[one.memory.id] for one in stored]
        owned = chunks.ids_by_memory(session, keys)
        every = [chunk for key in keys for chunk in owned[key]]
        tokens = chunks.tokens_of(session, every)
        found = None if model is None else vectors.of_chunks(session, model, every)
        embedded = {} if found is None else dict(zip(found.ids.tolist(), found.vectors, strict=True))
        defined = definitions.of_memories(session, keys)
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
        return (NotedFile(space, state) for space, state in files.every(self._session, self._space))

    def folders(self) -> Iterator[NotedFolder]:
        return folders.every(self._session, self._space)

    def feedback(self) -> Iterator[Feedback]:
        for said in searches.judged(self._session):
            if memories.keys_where(self._session, self._filters, [said.memory_id]):
                yield said

    def searches(self) -> Iterator[NotedSearch]:
        return searches.every(self._session)

    @property
    def _filters(self) -> Filters:
        return Filters(space=(self._space,)) if self._space else Filters()

    def _stored(self, keys: Sequence[int]) -> Iterator[Stored]:
        loaded = memories.load(self._session, keys)
        cut = chunks.by_memory(self._session, keys)
        tiers = arrivals.tiers(self._session, keys)
        pictures = thumbnails.by_memory(self._session, keys)
        for key in keys:
            memory = loaded[key]
            ran = runs.of_memory(self._session, key) if memory.kind == "history" else []
            yield Stored(memory, tiers[key], tuple(cut.get(key, ())), tuple(ran), pictures.get(key, ()))
