"""What signals and terms see of a search: the retrieved candidates, and the store beyond them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum, nan, sqrt
from operator import attrgetter
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.base import chunk_tokens, token_vectors, tokens, unknown
from jupyter_memory.runtime import one_core
from jupyter_memory.search.query import parser
from jupyter_memory.search.query.terms import FEW_CHUNKS, AskedWord, NameWords, asked_words
from jupyter_memory.storage.base import Corpus, Model, Passage
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.storage.sql import Cache
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.identifiers import runs
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Candidate, Filters, Memory, Query, ScoredChunk
from jupyter_memory.types.memory import ChunkTokens
from jupyter_memory.types.protocols import Vectors

# The names of the retrievers, in the order in which they are asked.
RETRIEVERS = ("keyword", "vector")
# What each retriever found, best first.
Retrieved = Mapping[str, Sequence[ScoredChunk]]


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """The vector of a query, the model it belongs to, and the cosine below which a match is noise.

    ``strict`` says that the user set this threshold, so that no search may go below it. ``scale`` measures its meaning
    where several stores are searched together.
    """

    vector: Vectors
    model: Model
    threshold: float | None
    strict: bool = False
    scale: Scale | None = None


def retrieve(
    by: VectorQuery | Mapping[str, float],
    query: Query,
    parts: Sequence[Filters],
    snapshot: Snapshot,
    wanted: int,
    exclude: int | None,
) -> Sequence[Sequence[ScoredChunk]]:
    """Return up to ``wanted`` memories of each part, found by the vector of a query or, given weights, by its words.

    They come best first. Of a query that names a time, the best of that time are found as well as the best of all.
    ``exclude`` is the key of a memory that is left out.
    """
    count, of_parts = wanted + (exclude is not None), []
    for filters in parts:
        both = dict[int, ScoredChunk]()
        for then in [None, query.time_filters][: 1 + (query.time_filters is not None)]:
            searched = filters if then is None else filters & then
            if isinstance(by, VectorQuery):
                # Of the time that a query names everything may be meant: "what did we do yesterday".
                threshold = by.threshold if then is None else None
                found: Sequence[ScoredChunk] = snapshot.vector_matches(by.model, by.vector, searched, count, threshold)
            else:
                found = parser.keyword_matches(snapshot, query.terms, by, searched, count)
            if exclude is not None:
                found = [one for one in found if one.memory != exclude][:wanted]
            both |= zip(map(attrgetter("memory"), found), found, strict=True)
        of_parts.append(sorted(both.values(), key=attrgetter("score"), reverse=True))
    return of_parts


Floats = NDArray[np.float32]
TokenIds = NDArray[np.integer]
# What a shared computation returns.
Value = TypeVar("Value")
# One value, or several together.
Values = TypeVar("Values", float, NDArray[np.float64])

# Chunks from all over the store: their cosines with a query are its background.
SAMPLE = 1_000
# How many of the nearest vectors of the sample tell whether a text is a hub.
NEAREST = 3
# Where the cells lie that say what a cell is about: more often before it than after it.
_AROUND = (-4, -3, -2, -1, 1)
# A sample is drawn again when the store has grown by this much.
_GROWTH = 1.2
# Chunks whose tokens are kept here because the store lacks them, some hundred bytes each.
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Background:
    """Mean and standard deviation of a query's cosines with the store as a whole."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, cosines: NDArray[np.floating]) -> Self | None:
        """Return the background that a sample of cosines shows; None where all are equal: nothing stands out."""
        if cosines.size < 2:
            return None
        mean, deviation = float(cosines.mean(dtype=np.float64)), float(cosines.std(dtype=np.float64))
        return cls(mean, deviation) if deviation > 1e-6 else None

    def margin(self, cosine: Values) -> Values:
        """Return how many standard deviations a cosine lies above the mean."""
        return (cosine - self.mean) / self.deviation


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of meaning for a query in a store: its cosines there, and how far the model is trusted."""

    model: str
    chunks: int
    calibration: float
    background: Background

    @classmethod
    def of_all(cls, scales: Sequence[Scale]) -> Scale:
        """Return the scale that stores of one model would have together."""
        chunks = sum(one.chunks for one in scales)
        known = [(one.chunks / chunks, one) for one in scales]
        mean = fsum(share * one.background.mean for share, one in known)
        spread = fsum(share * (one.background.deviation**2 + (one.background.mean - mean) ** 2) for share, one in known)
        trusted = fsum(share * one.calibration for share, one in known)
        return cls(scales[0].model, chunks, trusted, Background(mean, sqrt(spread)))


@dataclass(frozen=True, slots=True)
class Sample:
    """Chunks from all over the store: their vectors ``(n, dimensions)``, and in how many of them each token occurs.

    ``typical_length`` is the mean number of tokens of a chunk; ``pairs`` are the mean and the deviation of the cosine
    of two chunks; ``places`` are those of a memory's chunks among the vectors, by its key.
    """

    vectors: Floats
    token_counts: NDArray[np.int32]
    chunks: int
    typical_length: float
    pairs: Background | None = None
    places: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def background(self, vector: Vectors) -> Background | None:
        """Return the mean and the deviation of a query's cosines with the store; None where it has no vectors."""
        if not self.vectors.size:
            return None
        with one_core():
            return Background.of(self.vectors @ vector)


class Samples:
    """The samples of one store, kept from search to search; safe to share between threads."""

    def __init__(self) -> None:
        self._samples: Cache[int, tuple[int, Sample]] = Cache(2)
        self._tokens: Cache[int, ChunkTokens] = Cache(_MOST)

    def sample(self, snapshot: Snapshot, model: Model | None) -> Sample:
        """Return the sample of a store for one model, drawn again when the store has grown."""
        key, size = 0 if model is None else model.id, snapshot.newest_chunk()
        # Valid for many versions of the store, so it says itself how large the store was.
        known = self._samples.get("", key)
        if known is not None and known[0] <= size <= known[0] * _GROWTH:
            return known[1]
        chunks = snapshot.sample(SAMPLE)
        of_chunks: Mapping[int, ChunkTokens] = self.tokens(snapshot, chunks)
        token_counts = np.zeros(len(token_vectors()), np.int32)
        for ids in of_chunks.values():
            token_counts[ids.different] += 1
        vectors, places = np.empty((0, 1), np.float32), defaultdict[int, list[int]](list)
        if model is not None:
            _, owners, vectors = snapshot.vectors(model, chunks)
            for place, owner in enumerate(owners.tolist()):
                places[owner].append(place)
        half = len(vectors) // 2
        pairs = np.einsum("ij,ij->i", vectors[:half], vectors[half : 2 * half])
        typical = float(np.mean([ids.size for ids in of_chunks.values()])) if of_chunks else 1.0
        sample = Sample(vectors, token_counts, len(chunks), typical, Background.of(pairs), places)
        self._samples.put("", key, (size, sample))
        return sample

    def tokens(self, snapshot: Snapshot, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
        """Return the tokens of what was embedded of chunks, by chunk."""
        found = snapshot.tokens(chunks)
        if len(found) == len(chunks):
            return found
        version = snapshot.version
        kept = {chunk: self._tokens.get(version, chunk) for chunk in chunks if chunk not in found}
        found |= {chunk: ids for chunk, ids in kept.items() if ids is not None}
        if unknown := [chunk for chunk, ids in kept.items() if ids is None]:
            parts = snapshot.embedded_parts(unknown)
            _, of_chunks = chunk_tokens(parts[chunk].head_and_text() for chunk in unknown)
            for chunk, ids in zip(unknown, of_chunks, strict=True):
                found[chunk] = ids
                self._tokens.put(version, chunk, ids)
        return found


@dataclass(eq=False, repr=False)
class SearchContext:
    """One search as its signals see it; whatever has to be read or computed is, when a signal first asks.

    Iterating over it gives the candidates. ``retrieved`` has what each retriever found; ``vector_query`` is None where
    no model took part. ``calibration`` is 1 where meaning is as good a guide as words, and more where it is better.
    ``asked`` tells a question from a query that was made of a memory or a text.
    """

    query: Query
    candidates: Sequence[Candidate]
    retrieved: Retrieved
    vector_query: VectorQuery | None
    asked: bool
    _snapshot: Snapshot
    _samples: Samples
    _columns: Mapping[str, float]
    # What `signals.semantic` computed, by depth and budget.
    max_sims: dict[tuple[int, int], Mapping[int, float]] = field(default_factory=dict)
    _shared: dict[Callable[[SearchContext], Any], Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def shared(self, compute: Callable[[SearchContext], Value]) -> Value:
        """Return what a function computes from this context, computed once for all signals that need it."""
        if compute not in self._shared:
            self._shared[compute] = compute(self)
        found: Value = self._shared[compute]
        return found

    def __post_init__(self) -> None:
        # Of each candidate; ``cells`` are those of notebooks, by key.
        self.keys: Sequence[int] = list(map(attrgetter("key"), self.candidates))
        self.memories: Sequence[Memory] = list(map(attrgetter("memory"), self.candidates))
        self.chunks: Sequence[int] = list(map(attrgetter("chunk"), self.candidates))
        self.cells = {key: one for key, one in zip(self.keys, self.memories, strict=True) if one.kind == "cell"}

    @cached_property
    def cosines(self) -> NDArray[np.float64]:
        """Return the cosine of each candidate, NaN where it has no vector."""
        # NumPy takes None for NaN.
        return np.array(list(map(attrgetter("cosine"), self.candidates)), dtype=np.float64)

    def margins(self, cosines: NDArray[np.float64]) -> dict[int, float]:
        """Return what the cosines of the candidates say about meaning, by key; NaN where no model took part."""
        if (background := self.background) is None:
            return dict.fromkeys(self.keys, nan)
        terms, above = self.query.terms, background.margin(cosines)
        count = max(len(terms.words) + len(terms.phrases) + len(terms.ident), 1)
        return dict(zip(self.keys, (self.calibration * (count * above * abs(above))).tolist(), strict=True))

    def passages(self, candidates: Iterable[Candidate]) -> Mapping[int, Passage]:
        """Return the best chunks of candidates as the keyword index holds them, by the chunk."""
        return self._snapshot.passages(list(map(attrgetter("chunk"), candidates)))

    @cached_property
    def definitions(self) -> Mapping[int, Definitions]:
        """Return what each candidate in Python defines, by its key, where that is stored."""
        return self._snapshot.definitions(self.keys)

    @property
    def corpus(self) -> Corpus:
        return self._snapshot.corpus

    @cached_property
    def asked_words(self) -> tuple[AskedWord, ...]:
        """Return the words of the query with what they tell in this store."""
        return asked_words(self.query, self.corpus, self._columns)

    @cached_property
    def keyword_scores(self) -> Mapping[int, float]:
        """Return BM25 of each candidate that holds a word of the query, by key, whichever retriever found it."""
        found = dict(map(attrgetter("memory", "score"), self.retrieved["keyword"]))
        others = list(set(self.keys).difference(found))
        if not others or not self.query.terms:
            return found
        return found | parser.keyword_scores(self._snapshot, self.query.terms, self._columns, others)

    @cached_property
    def name_words(self) -> NameWords:
        """Return the words of the query as names are compared with them."""
        return NameWords(self.query.text, self.corpus)

    @cached_property
    def calibration(self) -> float:
        """Return how far the model can be trusted in this store; see `search.confidence`."""
        if self.vector_query is not None and self.vector_query.scale is not None:
            return self.vector_query.scale.calibration
        model = None if self.vector_query is None else self.vector_query.model
        measured = None if model is None else self._snapshot.calibration(model)
        return 1.0 if measured is None else measured.value

    @cached_property
    def background(self) -> Background | None:
        """Return how the query's cosines are spread in the store, or in all that are searched together."""
        if (asked := self.vector_query) is None:
            return None
        return self.sample.background(asked.vector) if asked.scale is None else asked.scale.background

    @cached_property
    def sample(self) -> Sample:
        return self._samples.sample(self._snapshot, None if self.vector_query is None else self.vector_query.model)

    @cached_property
    def query_tokens(self) -> TokenIds:
        """Return the different tokens of the query; an unknown one tells nothing, as any other may be behind it."""
        # Few texts hold the marks of a quoted phrase, so they would weigh more than words.
        found = tokens([storable(self.query.text).replace('"', " ")]).ids
        found = np.array(sorted(set(found.tolist())), found.dtype)  # np.unique imports numpy.ma
        telling: TokenIds = found[found != unknown()]
        return telling

    @property
    def tokens_tell(self) -> bool:
        """Return whether the bundled model says anything of this query: in a small store, rare tokens are accidents."""
        # It learnt nothing of a script without spaces.
        return self.query_tokens.size > 0 and self.sample.chunks >= FEW_CHUNKS and not runs(self.query.text)

    @cached_property
    def tokens(self) -> Mapping[int, ChunkTokens]:
        """Return the tokens of each candidate's best chunk, by the chunk."""
        return self._samples.tokens(self._snapshot, self.chunks)

    @cached_property
    def cells_around(self) -> Mapping[int, float]:
        """Return the mean cosine of the four cells before each candidate and the one after it, by the candidate's key.

        What is no cell, and a cell without others around it, is left out.
        """
        cells, asked = self.cells, self.vector_query
        if asked is None or not cells:
            return {}
        others = {key + step for key in cells for step in _AROUND}.difference(self.keys)
        cosines = self._snapshot.cosines(asked.model, asked.vector, sorted(others))
        memories = self._snapshot.whole(list(cosines)) | {one.key: one.memory for one in self}
        cosines |= {one.key: one.cosine for one in self if one.cosine is not None}
        places = {key: (one.space, one.kind, one.source) for key, one in memories.items()}
        found = {}
        for key in cells:
            near = [key + step for step in _AROUND if places.get(key + step) == places[key]]
            if known := [cosines[one] for one in near if one in cosines]:
                found[key] = fsum(known) / len(known)
        return found

    @cached_property
    def hubness(self) -> Mapping[int, float]:
        """Return the mean cosine of each candidate's best chunk with the nearest of the sample, by the chunk.

        A hub is near to many texts, and so to any question as well (Radovanović et al., JMLR 2010). The idea is that of
        cross-domain similarity local scaling (Conneau et al., ICLR 2018), with the sample for the neighbourhood. Chunks
        of the same memory do not count; chunks without a vector are left out.
        """
        if self.vector_query is None or len(self.sample.vectors) < 2:
            return {}
        ids, memories, vectors = self._snapshot.vectors(self.vector_query.model, self.chunks)
        with one_core():
            cosines: Floats = vectors @ self.sample.vectors.T
        # A sample holds few chunks of the memories themselves.
        for row, memory in enumerate(memories.tolist()):
            for own in self.sample.places.get(memory, ()):
                cosines[row, own] = -np.inf
        rows, sums, others = np.arange(len(ids)), np.zeros(len(ids)), np.zeros(len(ids))
        # To look three times for the nearest takes a tenth of the time that `partition` does.
        for _ in range(min(NEAREST, cosines.shape[1])):
            best = cosines.argmax(axis=1)
            nearest = cosines[rows, best]
            cosines[rows, best] = -np.inf
            found = np.isfinite(nearest)
            sums[found] += nearest[found]
            others += found
        means = (sums / np.maximum(others, 1)).astype(np.float32)
        return dict(zip(ids.tolist(), means.tolist(), strict=True))


class Signal(Protocol):
    """Judges the candidates of a search for one reason; higher is better.

    ``name`` names its column, its row in an explanation and its bar. A call returns values by candidate key; a
    candidate that is left out, or has NaN, has no value. Iterating over ``context`` gives the candidates.
    """

    @property
    def name(self) -> str: ...

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]: ...


@runtime_checkable
class Labelled(Protocol):
    """A signal that names itself in explanations: ``label`` fits into "0.03 for its tier"."""

    @property
    def label(self) -> str: ...


@runtime_checkable
class Reasoned(Labelled, Protocol):
    """A signal that can say what in a candidate it judged by, such as "its definition of `Client`".

    It is asked only where its value is not 0, perhaps when the snapshot is closed: it uses what it read before.
    """

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str: ...
