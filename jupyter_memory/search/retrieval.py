"""The keyword and the vector retriever, which read one snapshot of the store at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from jupyter_memory.search.query import phrases
from jupyter_memory.storage.base import Model, Snapshot
from jupyter_memory.types import Candidate, Filters, Memory, Query, ScoredChunk
from jupyter_memory.types.protocols import Embedder, Retriever, Vectors

# The names of the retrievers, in the order in which they are asked.
RETRIEVERS = ("keyword", "vector")
# What each retriever found, best first.
Retrieved = Mapping[str, Sequence[ScoredChunk]]


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """The vector of a query, the model it belongs to, and the cosine below which a match is noise."""

    vector: Vectors
    model: Model
    threshold: float | None


def vector_query(
    snapshot: Snapshot, vector: Vectors | None, embedder: Embedder | None, threshold: float | None
) -> VectorQuery | None:
    """Return what the vector retriever looks for, None where only words can be searched."""
    if vector is None or embedder is None:
        return None
    # Should another program have switched the model a moment ago, the old vectors are still complete.
    model = snapshot.model(embedder.fingerprint)
    if model is None:
        return None
    return VectorQuery(vector, model, threshold)


class Retrieval:
    """The retrievers of one search, and the memories and cosines that were read while they looked.

    The vector retriever of a large store begins at once, in a thread of its own. Each retriever is asked for ``count``
    memories, of which ``depth`` may become candidates. ``exclude`` is the key of a memory that is left out, as if it
    were not there.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        filters: Filters,
        columns: Mapping[str, float],
        vector_query: VectorQuery | None,
        *,
        count: int,
        depth: int,
        exclude: int | None = None,
    ) -> None:
        self._snapshot = snapshot
        self._columns = columns
        self._depth = depth
        self._vector_query = vector_query
        self._memories: dict[int, Memory] = {}
        self._cosines: dict[int, float] = {}
        self._by_keyword: list[int] = []
        self.retrievers: dict[str, Retriever] = {"keyword": self._keyword}
        if vector_query is not None:
            wanted = count + (exclude is not None)
            self.retrievers["vector"] = _VectorRetriever(snapshot, vector_query, wanted, filters, self._prefetch)
        if exclude is not None:
            self.retrievers = {name: _Excluding(exclude, one) for name, one in self.retrievers.items()}

    def candidates(self, retrieved: Retrieved) -> list[Candidate]:
        """Return the memories that were found, with the cosine of each that has a vector."""
        # The keyword retriever's chunk represents a memory that both found: its snippet shows the words.
        chunks = {one.memory: one.chunk for name in ("vector", "keyword") for one in retrieved[name]}
        cosines = self._cosines | {one.memory: one.score for one in retrieved["vector"]}
        if self._vector_query is not None:
            unknown = [key for key in chunks if key not in cosines and key not in self._memories]
            cosines |= self._snapshot.cosines(self._vector_query.model, self._vector_query.vector, unknown)
        memories = self._memories | self._snapshot.memories([key for key in chunks if key not in self._memories])
        return [Candidate(key, memories[key], chunk, cosines.get(key)) for key, chunk in chunks.items()]

    def _keyword(self, query: Query, count: int, /) -> Sequence[ScoredChunk]:
        found = phrases.keyword_matches(self._snapshot, query.terms, self._columns, query.filters, count)
        self._by_keyword += [one.memory for one in found[: self._depth]]
        return found

    def _prefetch(self) -> None:
        """Read what is needed of the keyword matches while the vector retriever still looks."""
        if self._vector_query is not None:
            self._memories.update(self._snapshot.memories(self._by_keyword))
            vector_query = self._vector_query
            self._cosines.update(self._snapshot.cosines(vector_query.model, vector_query.vector, self._by_keyword))


def retrieve(
    query: Query, count: int, retrievers: Mapping[str, Retriever], lap: Callable[[str], None]
) -> dict[str, Sequence[ScoredChunk]]:
    """Return what each retriever finds, at least ``count`` memories if there are; ``lap`` hears when one is done.

    Of a query that names a time, the best of that time are found as well as the best of all.
    """
    found: dict[str, Sequence[ScoredChunk]] = {}
    for name in RETRIEVERS:
        found[name] = _retrieve_one(retrievers[name], query, count) if name in retrievers else ()
        lap(name)
    return found


def merged(parts: Sequence[Retrieved]) -> Retrieved:
    """Return what several searches found as one; no memory may be in two of them."""
    if len(parts) == 1:
        return parts[0]
    return {name: sorted(chain(*(part[name] for part in parts)), key=lambda one: -one.score) for name in RETRIEVERS}


def _retrieve_one(retriever: Retriever, query: Query, count: int) -> Sequence[ScoredChunk]:
    found = retriever(query, count)
    if query.time_filters is None:
        return found
    of_time = retriever(replace(query, filters=query.filters & query.time_filters, time_filters=None), count)
    both = {one.memory: one for one in (*found, *of_time)}
    return sorted(both.values(), key=lambda one: -one.score)


class _VectorRetriever:
    """Memories by the cosine of their best chunk.

    In a large store a first search for ``count`` memories begins at once in the background; ``meanwhile`` is called
    before it is waited for.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        vector_query: VectorQuery,
        count: int,
        filters: Filters,
        meanwhile: Callable[[], None],
    ) -> None:
        self._snapshot = snapshot
        self._query = vector_query
        self._begun_for = count, filters
        self._meanwhile = meanwhile
        self._pending: Callable[[], Sequence[ScoredChunk]] | None = None
        if snapshot.is_large(vector_query.model):
            self._pending = snapshot.in_background(self._first)

    def __call__(self, query: Query, count: int, /) -> Sequence[ScoredChunk]:
        if self._pending is not None and (count, query.filters) == self._begun_for:
            self._meanwhile()
            return self._pending()
        return self._matches(self._snapshot, count, query.filters)

    def _first(self, snapshot: Snapshot) -> Sequence[ScoredChunk]:
        return self._matches(snapshot, *self._begun_for)

    def _matches(self, snapshot: Snapshot, count: int, filters: Filters) -> Sequence[ScoredChunk]:
        # Of the time that a query names everything may be meant: "what did we do yesterday".
        threshold = self._query.threshold if filters == self._begun_for[1] else None
        return snapshot.vector_matches(self._query.model, self._query.vector, filters, count, threshold)


@dataclass(frozen=True, slots=True)
class _Excluding:
    """Another retriever, without one memory."""

    key: int
    retriever: Retriever

    def __call__(self, query: Query, count: int, /) -> Sequence[ScoredChunk]:
        return [one for one in self.retriever(query, count + 1) if one.memory != self.key][:count]
