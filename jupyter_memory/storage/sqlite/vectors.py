"""The vector index: sqlite-vec with binary codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from struct import error
from typing import Any, NamedTuple, Self

import apsw
import numpy as np
import simsimd
from numpy.typing import NDArray

from jupyter_memory.errors import EmbeddingMismatch
from jupyter_memory.runtime import batches, one_core
from jupyter_memory.storage.base import ChunkVectors, Model, mismatch
from jupyter_memory.storage.sql import SQLITE, Cache, UnreadableRow, condition, forkable_lock
from jupyter_memory.storage.sqlite.file import Session, outdate, removals, version
from jupyter_memory.storage.tables import models
from jupyter_memory.types import Filters, ScoredChunk
from jupyter_memory.types.protocols import Embedder, Vectors

# Binary quantization of vectors: codes of 1,024 signs that find a query's neighbours in a few milliseconds.
#
# Each code holds the signs of random projections (Charikar, "Similarity estimation techniques from rounding
# algorithms", STOC 2002), made by flipping the signs of the values and mixing them with a Hadamard matrix (Ailon and
# Chazelle, "The fast Johnson-Lindenstrauss transform", 2009). Nothing is trained, so codes of any two machines agree.
# The share of bits in which two codes differ follows the angle between the vectors.

BITS = 1024
_PART = 4_096  # codes that are compared at once, 512 kB
_SAMPLED = 16  # one distance of so many is sampled to estimate their distribution

Codes = NDArray[np.uint64]


def codes(vectors: NDArray[np.float32]) -> Codes:
    """Return the codes of float32 ``(n, d)`` vectors as uint64 ``(n, 16)``."""
    with one_core():
        projected = vectors @ _projection(vectors.shape[1])
    packed: Codes = np.packbits(projected > 0, axis=1).view(np.uint64)
    return packed


def distances(query: Codes, among: Codes) -> NDArray[np.float32]:
    """Return in how many bits each code of ``among``, ``(n, 16)``, differs from the query's, float32 ``(n,)``."""
    differing = np.zeros(len(among), np.float32)
    for start in range(0, len(among), _PART):
        part = among[start : start + _PART]
        # NumPy brings codes into the processor's cache sooner than SimSIMD does; every eighth value is enough for it.
        part[:, ::8].max()
        both = query[None, :].view(np.uint8), part.view(np.uint8)
        differing[start : start + _PART] = simsimd.cdist(*both, "hamming", dtype="bin8", out_dtype="float32")
    return differing


def nearest(differing: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the positions of the ``count`` codes that differ least, and of all that equal the last of them."""
    if count >= differing.size:
        return np.arange(differing.size)
    # A sample gives a bound below which about twice as many lie as are wanted; if fewer do, all are compared.
    sample = differing[::_SAMPLED]
    place = min(2 * count // _SAMPLED, sample.size - 1)
    few = differing[differing <= np.partition(sample, place)[place]]
    among = few if few.size >= count else differing
    return np.flatnonzero(differing <= np.partition(among, count - 1)[count - 1])


@cache
def _projection(dimensions: int) -> NDArray[np.float32]:
    # Orthogonal blocks, each with signs of its own, or part of a larger block.
    size = 1 << max(6, (dimensions - 1).bit_length())
    hadamard = np.ones((1, 1), dtype=np.float32)
    while len(hadamard) < size:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    # RandomState's stream is frozen by NumPy's promise; the stored codes depend on it.
    seeds = range(max(1, BITS // size))
    blocks = [np.random.RandomState(seed).choice([-1, 1], size)[:, None] * hadamard for seed in seeds]
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:dimensions, :BITS], dtype=np.float32)


Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ScoredChunks:
    """Chunks with a score each, higher is better, in no order."""

    chunks: Keys
    scores: NDArray[np.float64]

    def at_least(self, floor: float) -> Self:
        kept = self.scores >= floor
        return type(self)(self.chunks[kept], self.scores[kept])

    def among(self, chunks: Keys, /) -> Self:
        """Return those of these chunks that have a score above 0; the scores are sorted by chunk."""
        at = np.searchsorted(self.chunks, chunks)
        at[at == self.chunks.size] = -1
        found = (self.chunks[at] == chunks) & (self.scores[at] > 0) if self.chunks.size else np.zeros(at.size, np.bool_)
        return type(self)(chunks[found], self.scores[at[found]])


def _extended(known: NDArray[Any], new: NDArray[Any], most: int) -> NDArray[Any]:
    # Behind what is known, if there is room: other threads write the same there, and read no further than they know.
    # Memory is taken only where something is written, so room for ``most`` costs nothing.
    size, room = len(known) + len(new), known if known.base is None else known.base
    if not isinstance(room, np.ndarray) or len(room) < size:
        room = np.empty((max(size, most) * 9 // 8, *known.shape[1:]), known.dtype)
        room[: len(known)] = known
    room[len(known) : size] = new
    return room[:size]


# Chunk ids of a block of the keyword index. A page has a place as uint16.
BLOCK = 32_768
# Filters whose chunks are kept: a search has up to four, a kind apart and a time.
_MOST_FILTERS = 5


DAMAGED = "a page of the keyword index is damaged"


@contextmanager
def readable() -> Iterator[None]:
    # SQLite does not notice damage within a value.
    try:
        yield
    except (ValueError, IndexError, TypeError, MemoryError, error):
        raise UnreadableRow(DAMAGED) from None


class Listed(NamedTuple):
    """The key of each chunk's memory by the chunk's id, 0 where there is none, and how many words the chunk has."""

    memories: Keys
    lengths: NDArray[np.uint32]


@readable()
def listed(session: Session) -> Listed:
    rows = session.rows("select block, chunks, lengths, memories from word_segments")
    size = BLOCK * (1 + max((block for block, *_ in rows), default=0))
    found = Listed(np.zeros(size, np.int64), np.zeros(size, np.uint32))
    for block, chunks, lengths, memories in rows:
        of_block, places = slice(block * BLOCK, (block + 1) * BLOCK), np.frombuffer(chunks, np.uint16)
        found.lengths[of_block][places] = np.frombuffer(lengths, np.uint32).reshape(places.shape)
        found.memories[of_block][places] = np.frombuffer(memories, np.int64).reshape(places.shape)
    return found


class ChunkOwners:
    """The chunks of one store as the keyword index lists them; safe to share between threads."""

    def __init__(self) -> None:
        self._known: Cache[str, Listed] = Cache(1)
        self._matching: Cache[Filters, Keys] = Cache(_MOST_FILTERS)

    def matching(self, connection: Session, filters: Filters) -> Keys:
        """Return the ids of the chunks of the memories that match filters, ascending; both retrievers ask for them."""
        return self._matching.of(connection.state, filters, partial(self._match, connection, filters))

    def _match(self, connection: Session, filters: Filters) -> Keys:
        where, parameters = condition(SQLITE, filters)
        # One row, since another thread may run Python whenever a row is fetched.
        found = connection.execute(f"select group_concat(memories.key) from memories where {where}", parameters).get
        owners = self.of(connection).memories
        wanted = np.zeros(int(owners.max()) + 1, np.bool_)
        keys = np.fromstring(found or "", np.int64, sep=",")
        wanted[keys[keys < wanted.size]] = True
        return np.flatnonzero(wanted[owners])

    def of(self, connection: Session) -> Listed:
        """Return the chunks that are there in this transaction."""
        if connection.txn_state("main") == apsw.SQLITE_TXN_WRITE:
            return listed(connection)  # FTS5 writes what `version` reads later, and a change may be taken back
        return self._known.of(version(connection), "", partial(listed, connection))


def best_memories(connection: Session, scored: ScoredChunks, count: int, owners: ChunkOwners) -> list[ScoredChunk]:
    """Return the best ``count`` memories among scored chunks, each by its best chunk; only those are looked up."""
    keys, asked = owners.of(connection).memories, count + 16
    while True:
        best = nearest(-scored.scores, asked)
        best = best[np.lexsort((scored.chunks[best], -scored.scores[best]))][:asked]
        chunks, scores = scored.chunks[best], scored.scores[best].tolist()
        owned = keys[np.where(chunks < keys.size, chunks, 0)]
        found: dict[int, ScoredChunk] = {}
        for memory, chunk, score in zip(owned.tolist(), chunks.tolist(), scores, strict=True):
            if memory and memory not in found:
                found[memory] = ScoredChunk(memory, chunk, score)
        ranked = list(found.values())
        # No chunk that is not among them can tie with memories that score better than the last one.
        if asked >= scored.scores.size or (len(ranked) >= count and ranked[count - 1].score > scores[-1]):
            break
        asked *= 4
    often = Counter(one.score for one in ranked if len(ranked) <= count or one.score >= ranked[count - 1].score)
    if tied := [one.memory for one in ranked if often[one.score] > 1]:
        # One row, since another thread may run Python whenever a row is fetched.
        order = f"""
            select group_concat(key order by event_at desc, content_hash, source, location)
            from memories where {SQLITE.among("key", "tied")}
        """
        listed = connection.value(order, tied=tied) or ""
        places = {int(key): place for place, key in enumerate(filter(None, listed.split(",")))}
        ranked.sort(key=lambda one: (-one.score, places.get(one.memory, 0)))
    return ranked[:count]


# A model has two tables: ``vectors_N`` holds float32 vectors, from which sqlite-vec computes every cosine that is ever
# shown, and ``codes_N`` holds their binary codes. Up to ``EXACT`` chunks the cosines of all of them are computed; among
# more, the codes, cached in memory, name the candidates. (A vec0 table was measured and not used: it is quick for 20
# neighbours, but for the hundreds that a code search needs it takes ten times as long as NumPy.)

EXACT = 4_096
_CANDIDATES = 400  # of 100,000 real chunks the best 400 by code hold 99.5 % of the true best 20 (benchmarks/README.md)
# Distances, at most 2, are written as whole multiples of 1 / _UNIT: every float32 except those below rounding error.
_UNIT = 2**60

_TOGETHER = 2_048  # rows that are compared at once
_READ_TOGETHER = 16_384  # codes that are read at once, 2 MB
# How far the length of a vector may be from 1, and in how many bits a code may differ from that of its vector where
# another machine computed it: damage changes more.
_ROUNDING, _BITS = 1e-3, 32


@dataclass(frozen=True, slots=True)
class _Codes:
    # ``gone`` are the places of codes whose chunks were removed, as of the removal number ``checked``; ``read`` is the
    # number of removals when codes were last read.
    ids: NDArray[np.int64]
    of: Codes
    gone: NDArray[np.intp]
    checked: int
    read: int


_NO_IDS = np.empty(0, np.int64)
# If one code in this many is gone, all are read anew.
_GONE = 8


class VectorIndex:
    """Vectors in a store; the connection, and so the transaction, is always the caller's."""

    def __init__(self) -> None:
        self.owners = ChunkOwners()
        self._known_codes: Cache[int, _Codes] = Cache(2)
        self._reading = forkable_lock()

    def register(self, connection: Session, embedder: Embedder | Model, *, indexed: bool = True) -> Model:
        models.add(connection, embedder.fingerprint, embedder.name, embedder.dimensions)
        model = models.known(connection, embedder.fingerprint)
        assert model is not None
        for table, column in (("vectors", "embedding"), ("codes", "code")):
            connection.execute(
                f"create table if not exists {table}_{model.id} (chunk integer primary key, {column} blob not null)"
            )
        return model

    def for_writing(self, connection: Session, embedder: Embedder | Model) -> Model:
        model, active = self.register(connection, embedder), models.active(connection)
        if active is not None and active.id != model.id:
            raise EmbeddingMismatch(mismatch(active, embedder))
        return model

    def activate(self, connection: Session, embedder: Embedder) -> bool:
        model = self.register(connection, embedder)
        if self.missing(connection, model, 1):
            return False
        if models.active(connection) != model:
            models.activate(connection, model)
            outdate(connection)
        return True

    def drop(self, connection: Session, model: Model) -> int:
        dropped = self.count(connection, model)
        connection.execute(f"drop table if exists vectors_{model.id}")
        connection.execute(f"drop table if exists codes_{model.id}")
        connection.execute("delete from models where id = ?", (model.id,))
        outdate(connection)
        return dropped

    def add(self, connection: Session, model: Model, chunks: Sequence[int], vectors: Vectors) -> int:
        if not len(chunks):
            return 0
        of = codes(vectors)
        last = connection.execute(f"select max(chunk) from codes_{model.id}").get
        if last is not None and min(chunks) < last:
            # Other processes look for new chunks only after the last that they know.
            outdate(connection)
        for table, column, written in (("vectors", "embedding", vectors), ("codes", "code", of)):
            rows = [{"chunk": chunk, column: one.tobytes()} for chunk, one in zip(chunks, written, strict=True)]
            connection.insert(f"{table}_{model.id}", rows, known=f"do update set {column} = excluded.{column}")
        return len(chunks)

    def remove(self, connection: Session, chunks: Sequence[int], of: Sequence[Model] | None = None) -> None:
        gone = [(chunk,) for chunk in chunks]
        for model in models.every(connection) if of is None else of:
            connection.executemany(f"delete from vectors_{model.id} where chunk = ?", gone)
            connection.executemany(f"delete from codes_{model.id} where chunk = ?", gone)
        # Chunks that stay get other codes, which nobody looks for who knows the damaged ones.
        outdate(connection, known=of is not None)

    @staticmethod
    def damaged(connection: Session, model: Model, /) -> list[int]:
        # Also those whose vector or code is without the other, and those that are not there.
        query = f"""
            select chunk, embedding, code, exists (select 1 from chunks where id = chunk)
            from vectors_{model.id} full join codes_{model.id} using (chunk) order by chunk
        """
        found: list[int] = []
        for rows in batches(connection.execute(query), _TOGETHER):
            whole = [row for row in rows if _is_whole(row, 4 * model.dimensions)]
            found += [row[0] for row in rows if not _is_whole(row, 4 * model.dimensions)]
            if not whole:
                continue
            vectors = np.frombuffer(b"".join(row[1] for row in whole), np.float32).reshape(len(whole), -1)
            stored = np.frombuffer(b"".join(row[2] for row in whole), np.uint8).reshape(len(whole), -1)
            finite = np.asarray(np.isfinite(vectors).all(axis=1, keepdims=True))
            usable = np.where(finite, vectors, np.float32(0))
            lengths = np.linalg.norm(usable.astype(np.float64), axis=1)
            expected = codes(usable).view(np.uint8).reshape(len(whole), -1)
            differing = np.unpackbits(expected ^ stored, axis=1).sum(axis=1)
            wrong = ~finite.ravel() | (np.abs(lengths - 1) > _ROUNDING) | (differing > _BITS)
            found += [whole[i][0] for i in np.flatnonzero(wrong)]
        return found

    def missing(self, connection: Session, model: Model, limit: int, after: int = 0) -> list[int]:
        lacking = f"not exists (select 1 from codes_{model.id} where chunk = id)"
        found = f"select id from chunks where id > :after and {lacking} order by id limit :limit"
        return connection.column(found, after=after, limit=limit)

    def count(self, connection: Session, model: Model) -> int:
        return int(connection.execute(f"select count(*) from codes_{model.id}").get)

    def bytes_each(self, model: Model) -> int:
        return 4 * model.dimensions + BITS // 8

    def search(
        self, connection: Session, model: Model, query: Vectors, filters: Filters, count: int, threshold: float | None
    ) -> list[ScoredChunk]:
        floor = -2.0 if threshold is None else threshold
        allowed, gone = self.owners.matching(connection, filters) if filters else None, _NO_IDS
        if allowed is None or allowed.size > EXACT:
            known = self._codes(connection, model)
            ids, of, gone = known.ids, known.of, known.gone
            if allowed is not None:
                inside = np.isin(ids, allowed, assume_unique=True)
                ids, of, gone = ids[inside], of[inside], _NO_IDS
        else:
            ids = allowed
        if ids.size - gone.size <= EXACT:
            kept = _cosines(connection, model, query, ids).at_least(floor)
            return best_memories(connection, kept, count, self.owners)
        differing = distances(codes(query[None, :])[0], of)
        differing[gone] = np.inf
        wanted = max(_CANDIDATES, 10 * count)
        while True:
            near = _cosines(connection, model, query, ids[nearest(differing, wanted)])
            kept = near.at_least(floor)
            found = best_memories(connection, kept, count, self.owners)
            # Deeper only when many chunks of few memories filled the list, not when the threshold emptied it.
            if len(found) == count or kept.chunks.size < near.chunks.size or wanted >= ids.size:
                return found
            wanted *= 4

    def _codes(self, connection: Session, model: Model) -> _Codes:
        # What was added since they were read is read now, many as one row. One thread at a time: two in different
        # states would each append other codes to those that both know.
        with self._reading:
            (state, removed), table = removals(connection), f"codes_{model.id}"
            fresh = _Codes(_NO_IDS, np.empty((0, BITS // 64), np.uint64), _NO_IDS, removed, removed)
            known = self._known_codes.get(state, model.id) or fresh
            if known.read > removed:
                known = fresh
            elif known.checked != removed:
                owners = self.owners.of(connection).memories
                gone = np.flatnonzero(owners[np.where(known.ids < owners.size, known.ids, 0)] == 0)
                known = fresh if gone.size * _GONE > known.ids.size else replace(known, gone=gone, checked=removed)
                self._known_codes.put(state, model.id, known)
            begin = int(known.ids[-1]) + 1 if known.ids.size else 0
            end = (connection.execute(f"select max(chunk) from {table}").get or 0) + 1
            most = len(known.ids) + end - begin
            for first in range(begin, end, _READ_TOGETHER):
                within = (first, min(first + _READ_TOGETHER, end))
                some = f"(select chunk, code from {table} where chunk >= ? and chunk < ? order by chunk)"
                of_some = f"select count(*), min(chunk), max(chunk), cast(group_concat(code, '') as blob) from {some}"
                count, low, high, joined = connection.execute(of_some, within).fetchone() or (0, 0, 0, b"")
                if count:
                    ids = np.arange(low, low + count)
                    if high - low >= count:  # as numbers, ids take as long as the codes
                        numbers = connection.execute(f"select group_concat(chunk) from {some}", within).get
                        ids = np.fromstring(numbers, np.int64, sep=",")
                    new = np.frombuffer(joined, np.uint64).reshape(count, -1)
                    ids, new = _extended(known.ids, ids, most), _extended(known.of, new, most)
                    known = replace(known, ids=ids, of=new, read=removed)
                    self._known_codes.put(state, model.id, known)
            return known

    def cosines(self, connection: Session, model: Model, query: Vectors, memories: Sequence[int]) -> dict[int, float]:
        rows = connection.rows(
            f"""
            select chunks.memory, max(1 - vec_distance_cosine(vectors.embedding, :query))
            from chunks join vectors_{model.id} as vectors on vectors.chunk = chunks.id
            where {SQLITE.among("chunks.memory", "memories")} group by chunks.memory
            """,
            query=query.tobytes(),
            memories=list(memories),
        )
        return dict(rows)

    def read(self, connection: Session, model: Model, chunks: Sequence[int]) -> ChunkVectors:
        wanted = SQLITE.among("chunk", "chunks")
        sql = f"select chunk, embedding from vectors_{model.id} where {wanted} order by chunk"
        found = connection.rows(sql, chunks=list(chunks))
        ids = np.array([chunk for chunk, _ in found], np.int64)
        together = np.frombuffer(b"".join([vector for _, vector in found]), np.float32).reshape(-1, model.dimensions)
        return ChunkVectors(ids, self.owners.of(connection).memories[ids], together)


def _cosines(connection: Session, model: Model, query: Vectors, chunks: NDArray[np.int64]) -> ScoredChunks:
    # One row, since another thread may run Python whenever a row is fetched; whole numbers, since SQLite takes longer
    # to write others. sqlite-vec returns a float32, and these keep all its digits.
    # An array is read faster than JSON, but may not be empty, and not every build of SQLite has arrays.
    arrays = hasattr(apsw, "carray") and chunks.size > 0
    [row] = connection.rows(
        f"""
        select group_concat(chunk), group_concat(cast(vec_distance_cosine(embedding, :query) * :unit as integer))
        from {"carray" if arrays else "json_each"}(:chunks) as wanted cross join vectors_{model.id} on chunk = value
        """,
        query=query.tobytes(),
        unit=float(_UNIT),
        chunks=apsw.carray(chunks) if arrays else chunks.tolist(),
    )
    found, distances = (np.fromstring(listed or "", np.int64, sep=",") for listed in row)
    return ScoredChunks(found, 1 - distances / _UNIT)


def _is_whole(row: Any, length: int) -> bool:
    _, vector, code, is_there = row
    blobs = isinstance(vector, bytes) and isinstance(code, bytes)
    return bool(blobs and len(vector) == length and len(code) == BITS // 8 and is_there)
