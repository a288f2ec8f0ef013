"""The vector index: the vectors of every model, stored with the chunks, and cosine search over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.errors import EmbeddingMismatch
from jupyter_memory.storage.base import ChunkVectors, Model, Row, cut, is_settled, mismatch
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.sql import POSTGRES, condition
from jupyter_memory.storage.tables import models
from jupyter_memory.types import Filters, ScoredChunk
from jupyter_memory.types.protocols import Embedder, Vectors

_MOST_INDEXED = 4_000  # the most dimensions that pgvector indexes, as halves
# The chunk and the memory of a vector.
_OWNERS = "chunks join memories on memories.space = chunks.space and memories.key = chunks.memory"
_OWNED = "chunks.space = vectors.space and chunks.id = vectors.chunk"
# An advisory lock: those who add vectors share it, one that changes the model in use has it alone. A lock of the row
# would need the right to change it.
_CHANGING_MODEL = "hashtext('jupyter_memory.models')"
_ROUNDING = 1e-3  # how far the length of a vector may be from 1
_TOGETHER = 500  # vectors that one statement writes


class VectorIndex:
    """pgvector; `storage.base.VectorIndex` says what each method does."""

    exact = 10_000  # up to so many chunks all are compared; among more, the model's HNSW index names the candidates

    def register(self, session: Session, embedder: Embedder | Model, *, indexed: bool = True) -> Model:
        # Many vectors are indexed in a third of the time once all of them are there: ``index`` does that.
        found = models.known(session, embedder.fingerprint)
        if found is None:
            if models.add(session, embedder.fingerprint, embedder.name, embedder.dimensions) and indexed:
                self.index(session)
            found = models.known(session, embedder.fingerprint)
        assert found is not None
        return found

    def for_writing(self, session: Session, embedder: Embedder | Model) -> Model:
        model = self.register(session, embedder)
        # Until this transaction ends, no writer changes to another model, for which these chunks would lack vectors.
        session.execute(f"select pg_advisory_xact_lock_shared({_CHANGING_MODEL})")
        in_use = models.active(session)
        if in_use is not None and in_use.id != model.id:
            raise EmbeddingMismatch(mismatch(in_use, embedder))
        return model

    def activate(self, session: Session, embedder: Embedder) -> bool:
        model = self.register(session, embedder)
        # Waits until no writer adds a chunk with the vector of another model, and keeps others from it.
        session.execute(f"select pg_advisory_xact_lock({_CHANGING_MODEL})")
        if self.missing(session, model, 1):
            return False
        if models.active(session) != model:
            models.activate(session, model)
        return True

    def drop(self, session: Session, model: Model) -> int:
        gone = session.changed(f"delete from vectors where {of('vectors')} and model = :model", model=model.id)
        # Others may have vectors of it in spaces that this role does not see.
        dropped = session.changed(
            "delete from models where id = :model and not exists (select 1 from vectors where model = :model)",
            model=model.id,
        )
        if dropped:
            self.index(session)
        return gone

    def index(self, session: Session) -> None:
        """Make the index of every model that lacks it, and drop those of models that have gone."""
        session.execute("select index_vectors()")

    def add(self, session: Session, model: Model, chunks: Sequence[int], vectors: Vectors) -> int:
        written = 0
        for start in range(0, len(chunks), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            written += session.changed(
                f"""
                insert into vectors (space, model, chunk, embedding)
                select chunks.space, :model, chunks.id, given.embedding::vector
                from unnest(:chunks::bigint[], :vectors::text[]) as given (chunk, embedding)
                join chunks on chunks.id = given.chunk where {of("chunks")}
                on conflict do nothing
                """,
                model=model.id,
                chunks=list(chunks[some]),
                vectors=[_as_vector(one) for one in vectors[some]],
            )
        return written

    def missing(self, session: Session, model: Model, limit: int, after: int = 0) -> list[int]:
        return session.column(
            f"""
            select id from chunks
            where {of("chunks")} and id > :after and not exists (
                select 1 from vectors
                where vectors.space = chunks.space and vectors.model = :model and vectors.chunk = chunks.id
            )
            order by id limit :limit
            """,
            model=model.id,
            after=after,
            limit=limit,
        )

    def count(self, session: Session, model: Model) -> int:
        found = session.value(f"select count(*) from vectors where {of('vectors')} and model = :model", model=model.id)
        return int(found)

    def search(
        self, session: Session, model: Model, query: Vectors, filters: Filters, wanted: int, threshold: float | None
    ) -> list[ScoredChunk]:
        exact = session.totals.chunks <= self.exact or model.dimensions > _MOST_INDEXED
        floor, asked = -2.0 if threshold is None else threshold, 2 * wanted + 16
        where, parameters = condition(POSTGRES, filters)
        # What a filter excludes is not compared; without filters, only the nearest are looked up.
        among = f"and exists (select 1 from {_OWNERS} where {_OWNED} and {where})" if filters else ""
        while True:
            # The model and its dimensions are written out, as in the definition of its index.
            type_ = "vector" if exact else f"halfvec({model.dimensions})"
            found = session.binary_rows(
                f"""
                with best as materialized (
                    select vectors.space, vectors.chunk, vectors.embedding::{type_} <=> :query::{type_} as distance
                    from vectors where {of("vectors")} and vectors.model = {model.id} {among}
                    order by distance limit :asked
                )
                select memories.key, best.chunk, memories.event_at, memories.content_hash, memories.source,
                    memories.location, vector_send(vectors.embedding)
                from best
                join vectors on vectors.space = best.space and vectors.model = {model.id}
                    and vectors.chunk = best.chunk
                join {_OWNERS} on {_OWNED}
                """,
                **parameters,
                query=_as_vector(query),
                asked=asked,
            )
            scores = _cosines(query, _from_vectors([row[-1] for row in found], model.dimensions)).tolist()
            rows = [
                Row(memory, chunk, score, *order)
                for (memory, chunk, *order, _), score in zip(found, scores, strict=True)
            ]
            rows.sort(key=lambda row: -row.score)
            if not exact and len(rows) < asked:
                # The index gives up where few of its vectors fit: within filters, or in a small space among large ones.
                exact = True
                continue
            kept = [row for row in rows if row.score >= floor]
            if len(kept) < len(rows) or is_settled(rows, asked, wanted):
                return cut(kept, wanted)
            asked *= 4

    def cosines(self, session: Session, model: Model, query: Vectors, memories: Sequence[int]) -> dict[int, float]:
        rows = session.binary_rows(
            f"""
            select chunks.memory, vector_send(vectors.embedding)
            from chunks join vectors on vectors.space = chunks.space and vectors.chunk = chunks.id
            where {of("chunks")} and chunks.memory = any(:memories) and vectors.model = :model
            """,
            model=model.id,
            memories=list(memories),
        )
        scores = _cosines(query, _from_vectors([row[1] for row in rows], model.dimensions)).tolist()
        best: dict[int, float] = {}
        for (memory, _), score in zip(rows, scores, strict=True):
            best[memory] = max(score, best.get(memory, score))
        return best

    def read(self, session: Session, model: Model, chunks: Sequence[int]) -> ChunkVectors:
        rows = session.binary_rows(
            f"""
            select chunks.id, chunks.memory, vector_send(vectors.embedding)
            from vectors join chunks on chunks.space = vectors.space and chunks.id = vectors.chunk
            where {of("vectors")} and vectors.model = :model and vectors.chunk = any(:chunks) order by chunks.id
            """,
            model=model.id,
            chunks=list(chunks),
        )
        return ChunkVectors(
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.int64),
            _from_vectors([row[2] for row in rows], model.dimensions),
        )

    def damaged(self, session: Session, model: Model) -> list[int]:
        # Another number of values than its model has, or another length than 1.
        return session.column(
            f"""
            select chunk from vectors
            where {of("vectors")} and model = :model
                and (vector_dims(embedding) <> :dimensions or abs(vector_norm(embedding) - 1) > {_ROUNDING})
            order by chunk
            """,
            model=model.id,
            dimensions=model.dimensions,
        )

    def remove(self, session: Session, chunks: Sequence[int], of: Sequence[Model] | None = None) -> None:
        # What goes with its chunk is removed by the server.
        for model in of or ():
            session.changed(
                f"delete from vectors where {POSTGRES.of('vectors')} and model = :model and chunk = any(:chunks)",
                model=model.id,
                chunks=list(chunks),
            )

    def bytes_each(self, model: Model) -> int:
        return 4 * model.dimensions


VECTORS = VectorIndex()


def _as_vector(vector: Vectors) -> str:
    # As pgvector reads it: the shortest digits that give every float32 back.
    return "[" + ",".join(map(str, vector)) + "]"


def _from_vectors(written: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    # From what `vector_send` gives: two numbers of 16 bits, then the values.
    values = b"".join(one[4:] for one in written)
    return np.frombuffer(values, ">f4").astype(np.float32).reshape(-1, dimensions)


def _cosines(query: Vectors, vectors: Vectors) -> NDArray[np.float64]:
    # Of ``query``, ``(d,)``, with each of ``vectors``, ``(n, d)``; all are float32.
    if not vectors.size:
        return np.zeros(len(vectors))
    # In float32, one value after the other: signals multiply small differences, and another order makes some.
    dots, squares = _summed(vectors * query), _summed(vectors * vectors)
    lengths = np.sqrt(squares.astype(np.float64)) * np.sqrt(float(_summed(query[None] * query[None])[0]))
    distances = (1 - dots.astype(np.float64) / lengths).astype(np.float32)
    similar: NDArray[np.float64] = 1 - distances.astype(np.float64)
    return similar


def _summed(products: Vectors) -> Vectors:
    return np.cumsum(products, axis=1, dtype=np.float32)[:, -1]
