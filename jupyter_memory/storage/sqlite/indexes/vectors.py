"""The vector index: the vectors of every model, stored with the chunks, and cosine search over them.

A model has two tables: ``vectors_N`` holds float32 vectors, from which sqlite-vec computes every cosine that is ever
shown, and ``codes_N`` holds their binary codes. Up to ``EXACT`` chunks the cosines of all of them are computed; among
more, the codes, cached in memory, name the candidates. (A vec0 table was measured and not used: it is quick for 20
neighbours, but for the hundreds that a code search needs it takes ten times as long as NumPy.)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.errors import EmbeddingMismatch
from jupyter_memory.storage.base import Calibration, Model, mismatch
from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.sqlite import sql
from jupyter_memory.storage.sqlite.filters import condition
from jupyter_memory.storage.sqlite.indexes import quantization
from jupyter_memory.storage.sqlite.indexes.top_k import ChunkOwners, ScoredChunks, best_memories
from jupyter_memory.storage.sqlite.sql import removals
from jupyter_memory.types import Filters, ScoredChunk
from jupyter_memory.types.protocols import Embedder, Vectors

EXACT = 4_096
# Of 100,000 real chunks the best 400 by code hold 99.5 % of the true best 20 (benchmarks/recall.py).
_CANDIDATES = 400
# Distances, at most 2, are written as whole multiples of 1 / _UNIT: every float32 except those below rounding error.
_UNIT = 2**60


@dataclass(frozen=True, slots=True)
class _Codes:
    """The codes of one model as last read: ``of`` is ``(n, 16)``, in the order of ``ids``."""

    ids: NDArray[np.int64]
    of: quantization.Codes


_NO_CODES = _Codes(np.empty(0, np.int64), np.empty((0, quantization.BITS // 64), np.uint64))


class VectorIndex:
    """Vectors in a store; the connection, and so the transaction, is always the caller's.

    ``owners`` are the memories of the store's chunks.
    """

    def __init__(self) -> None:
        self.owners = ChunkOwners()
        self._known_codes: Cache[int, _Codes] = Cache(2)

    def active(self, connection: apsw.Connection) -> Model | None:
        """Return the model that searches use, None in a store without vectors."""
        row = connection.execute("select id, fingerprint, name, dimensions from models where active").fetchone()
        return Model(*row) if row else None

    def known(self, connection: apsw.Connection, fingerprint: str) -> Model | None:
        """Return the model of this fingerprint, in use or not, None when the store holds no vectors of it."""
        row = connection.execute(
            "select id, fingerprint, name, dimensions from models where fingerprint = ?", (fingerprint,)
        ).fetchone()
        return Model(*row) if row else None

    def register(self, connection: apsw.Connection, embedder: Embedder) -> Model:
        """Return the embedder's model, with tables made for it; the first one of a store becomes the active one."""
        connection.execute(
            """
            insert into models (fingerprint, name, dimensions, active)
            values (:fingerprint, :name, :dimensions, not exists (select 1 from models where active))
            on conflict (fingerprint) do nothing
            """,
            {"fingerprint": embedder.fingerprint, "name": embedder.name, "dimensions": embedder.dimensions},
        )
        model = self.known(connection, embedder.fingerprint)
        assert model is not None
        for table, column in (("vectors", "embedding"), ("codes", "code")):
            connection.execute(
                f"create table if not exists {table}_{model.id} (chunk integer primary key, {column} blob not null)"
            )
        return model

    def for_writing(self, connection: apsw.Connection, embedder: Embedder) -> Model:
        """Return the embedder's model, which is the active one.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        model, active = self.register(connection, embedder), self.active(connection)
        if active is not None and active.id != model.id:
            raise EmbeddingMismatch(mismatch(active, embedder))
        return model

    def activate(self, connection: apsw.Connection, model: Model) -> None:
        """Make searches use this model from now on."""
        connection.execute("update models set active = (id = ?)", (model.id,))
        self.outdate_caches(connection)

    def drop(self, connection: apsw.Connection, model: Model) -> None:
        """Remove a model with all its vectors."""
        connection.execute(f"drop table if exists vectors_{model.id}")
        connection.execute(f"drop table if exists codes_{model.id}")
        connection.execute("delete from models where id = ?", (model.id,))
        self.outdate_caches(connection)

    def models(self, connection: apsw.Connection) -> list[Model]:
        """Return every model whose vectors the store holds, complete or not, the oldest first."""
        return [Model(*row) for row in connection.execute("select id, fingerprint, name, dimensions from models")]

    def add(self, connection: apsw.Connection, model: Model, chunks: Sequence[int], vectors: Vectors) -> None:
        """Store the vectors of new chunks, float32 ``(len(chunks), dimensions)`` of unit length."""
        if not len(chunks):
            return
        of = quantization.codes(vectors)
        last = connection.execute(f"select max(chunk) from codes_{model.id}").get
        if last is not None and min(chunks) < last:
            # Other processes look for new chunks only after the last that they know.
            self.outdate_caches(connection)
        for table, column, written in (("vectors", "embedding", vectors), ("codes", "code", of)):
            rows = [(chunk, one.tobytes()) for chunk, one in zip(chunks, written, strict=True)]
            sql.insert(connection, f"{table}_{model.id}", ("chunk", column), rows, replacing=True)

    def remove(self, connection: apsw.Connection, chunks: Iterable[int], models: Sequence[Model] | None = None) -> None:
        """Remove the vectors of chunks, of every model or of some."""
        gone = [(chunk,) for chunk in chunks]
        for model in self.models(connection) if models is None else models:
            connection.executemany(f"delete from vectors_{model.id} where chunk = ?", gone)
            connection.executemany(f"delete from codes_{model.id} where chunk = ?", gone)
        self.outdate_caches(connection)

    def missing(self, connection: apsw.Connection, model: Model, limit: int, after: int = 0) -> list[int]:
        """Return chunks that have no vector of this model yet, those above ``after``, lowest first."""
        rows = connection.execute(
            f"""
            select id from chunks where id > ? and not exists (select 1 from codes_{model.id} where chunk = id)
            order by id limit ?
            """,
            (after, limit),
        )
        return [row[0] for row in rows]

    def count(self, connection: apsw.Connection, model: Model) -> int:
        """Return how many chunks have a vector of this model."""
        return int(connection.execute(f"select count(*) from codes_{model.id}").get)

    def is_large(self, connection: apsw.Connection, model: Model) -> bool:
        """Return whether a search has to compare codes, which takes a while."""
        return self._codes(connection, model).ids.size > EXACT

    def search(
        self,
        connection: apsw.Connection,
        model: Model,
        query: Vectors,
        filters: Filters,
        count: int,
        threshold: float | None = None,
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by cosine, each by its best chunk; none below ``threshold``."""
        floor = -2.0 if threshold is None else threshold
        allowed = self._allowed(connection, filters)
        known = self._codes(connection, model)
        ids, of = known.ids if allowed is None else allowed, known.of
        if ids.size <= EXACT:
            kept = _cosines(connection, model, query, ids).at_least(floor)
            return best_memories(connection, kept, count, self.owners)
        if allowed is not None:
            inside = np.isin(known.ids, allowed, assume_unique=True)
            ids, of = known.ids[inside], of[inside]
        differing = quantization.distances(quantization.codes(query[None, :])[0], of)
        wanted = max(_CANDIDATES, 10 * count)
        while True:
            near = _cosines(connection, model, query, ids[quantization.nearest(differing, wanted)])
            kept = near.at_least(floor)
            found = best_memories(connection, kept, count, self.owners)
            # Deeper only when many chunks of few memories filled the list, not when the threshold emptied it.
            if len(found) == count or kept.chunks.size < near.chunks.size or wanted >= ids.size:
                return found
            wanted *= 4

    def cosines(
        self, connection: apsw.Connection, model: Model, query: Vectors, memories: Sequence[int]
    ) -> dict[int, tuple[float, int]]:
        """Return, for each of these memories that has vectors, its best cosine and the chunk it belongs to."""
        rows = connection.execute(
            f"""
            select chunks.memory, max(1 - vec_distance_cosine(vectors.embedding, :query)), chunks.id
            from chunks join vectors_{model.id} as vectors on vectors.chunk = chunks.id
            where chunks.memory in (select value from json_each(:memories))
            group by chunks.memory
            """,
            {"query": query.tobytes(), "memories": json.dumps(list(memories))},
        )
        return {memory: (cosine, chunk) for memory, cosine, chunk in rows}

    def calibration(self, connection: apsw.Connection, model: Model) -> Calibration | None:
        """Return how far a model can be trusted in this store, None where that was never measured."""
        row = connection.execute("select chunks, value from trust where model = ?", (model.id,)).fetchone()
        return Calibration(*row) if row else None

    def keep_calibration(self, connection: apsw.Connection, model: Model, measured: Calibration) -> None:
        """Note how far a model can be trusted, in place of what was measured before; nothing if it has gone since."""
        connection.execute(
            "insert or replace into trust (model, chunks, value) select id, ?, ? from models where id = ?",
            (*measured, model.id),
        )

    def outdate_caches(self, connection: apsw.Connection) -> None:
        """Make every process read its codes anew."""
        connection.execute("update counters set value = value + 1 where name = 'removals'")

    def _allowed(self, connection: apsw.Connection, filters: Filters) -> NDArray[np.int64] | None:
        if not filters:
            return None
        where, parameters = condition(filters)
        rows = connection.execute(
            f"select chunks.id from chunks join memories on memories.key = chunks.memory where {where}",
            parameters,
        )
        return np.fromiter((row[0] for row in rows), np.int64)

    def _codes(self, connection: apsw.Connection, model: Model) -> _Codes:
        """Return the codes as of this transaction, reading only what is new unless something was removed."""
        state = removals(connection)
        known = self._known_codes.get(state, model.id) or _NO_CODES
        last = int(known.ids[-1]) if known.ids.size else 0
        rows: list[Any] = connection.execute(
            f"select chunk, code from codes_{model.id} where chunk > ? order by chunk", (last,)
        ).fetchall()
        if rows:
            ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
            of = np.frombuffer(b"".join(code for _, code in rows), np.uint64).reshape(len(rows), -1)
            known = _Codes(np.concatenate([known.ids, ids]), np.concatenate([known.of, of]))
            self._known_codes.put(state, model.id, known)
        return known


def _cosines(connection: apsw.Connection, model: Model, query: Vectors, chunks: NDArray[np.int64]) -> ScoredChunks:
    # One row, since another thread may run Python whenever a row is fetched; whole numbers, since SQLite takes longer
    # to write others. sqlite-vec returns a float32, and these keep all its digits.
    row: Any = connection.execute(
        f"""
        select group_concat(chunk), group_concat(cast(vec_distance_cosine(embedding, :query) * :unit as integer))
        from json_each(:chunks) as wanted cross join vectors_{model.id} on chunk = wanted.value
        """,
        {"query": query.tobytes(), "unit": float(_UNIT), "chunks": json.dumps(chunks.tolist())},
    ).fetchone()
    found, distances = row
    if found is None:
        return ScoredChunks(np.zeros(0, np.int64), np.zeros(0))
    return ScoredChunks(
        np.fromstring(found, np.int64, sep=","), 1 - np.fromstring(distances, np.int64, sep=",") / _UNIT
    )
