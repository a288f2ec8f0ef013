"""All that a signal may read: the candidates of a search, their texts, and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.tokenizer.bundled import tokens, unknown
from jupyter_memory.embedders.tokenizer.token_vectors import token_vectors
from jupyter_memory.runtime import one_core
from jupyter_memory.search.query import phrases
from jupyter_memory.search.query.asked_words import AskedWord, asked_words
from jupyter_memory.search.query.name_words import NameWords
from jupyter_memory.search.retrieval import Retrieved, VectorQuery
from jupyter_memory.search.sample import Background, Sample, Samples
from jupyter_memory.storage.base import Corpus, Passage, Snapshot, Texts
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Candidate, Query
from jupyter_memory.types.chunk_tokens import ChunkTokens

Floats = NDArray[np.float32]
TokenIds = NDArray[np.integer]


class TokenTable(Protocol):
    """Gives the unit vectors of tokens, ``(n, dimensions)``."""

    def __getitem__(self, ids: TokenIds, /) -> Floats: ...


class CandidatePool(Sequence[Candidate]):
    """The candidates of one search; their texts are read from the store when they are first asked for."""

    def __init__(self, candidates: Sequence[Candidate], texts: Texts) -> None:
        self._candidates = tuple(candidates)
        self._texts = texts

    @cached_property
    def passages(self) -> Mapping[int, Passage]:
        """Return the best chunk of each candidate as the keyword index holds it, by the candidate's key."""
        by_chunk = self._texts.passages([candidate.chunk for candidate in self._candidates])
        return {candidate.key: by_chunk[candidate.chunk] for candidate in self._candidates}

    @cached_property
    def texts(self) -> Mapping[int, str]:
        """Return the whole text of each candidate, by its key."""
        return self._texts.texts([candidate.key for candidate in self._candidates])

    def passages_of(self, candidates: Sequence[Candidate]) -> Mapping[int, Passage]:
        """Return the best chunks of a few candidates, by the candidate's key."""
        if "passages" in self.__dict__:
            return self.passages
        by_chunk = self._texts.passages([candidate.chunk for candidate in candidates])
        return {candidate.key: by_chunk[candidate.chunk] for candidate in candidates}

    @cached_property
    def definitions(self) -> Mapping[int, Definitions]:
        """Return what each candidate in Python defines, by its key, where that is stored."""
        return self._texts.definitions([candidate.key for candidate in self._candidates])

    @overload
    def __getitem__(self, place: int) -> Candidate: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, place: int | slice) -> Candidate | Sequence[Candidate]:
        return self._candidates[place]

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates)


class SearchContext:
    """One search as its signals see it; whatever has to be read or computed is, when a signal first asks.

    Iterating over it gives the candidates. ``retrieved`` has what each retriever found. ``calibration`` is 1 where
    meaning is as good a guide as words, and more where it is better.
    """

    def __init__(
        self,
        query: Query,
        candidates: CandidatePool,
        retrieved: Retrieved,
        snapshot: Snapshot,
        samples: Samples,
        columns: Mapping[str, float],
        vector_query: VectorQuery | None,
    ) -> None:
        self.query = query
        self.candidates = candidates
        self.retrieved = retrieved
        self._snapshot = snapshot
        self._samples = samples
        self._columns = columns
        self._vector_query = vector_query
        self._shared: dict[SharedComputation, Mapping[int, float]] = {}

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def shared(self, compute: SharedComputation) -> Mapping[int, float]:
        """Return what a function computes from this context, computed once for all signals that need it."""
        if compute not in self._shared:
            self._shared[compute] = compute(self)
        return self._shared[compute]

    @property
    def corpus(self) -> Corpus:
        """Return the statistics of the store's words."""
        return self._snapshot.corpus

    @cached_property
    def asked_words(self) -> tuple[AskedWord, ...]:
        """Return the words of the query with what they tell in this store."""
        return asked_words(self.query, self._snapshot, self._columns)

    @cached_property
    def keyword_scores(self) -> Mapping[int, float]:
        """Return BM25 of each candidate that holds a word of the query, by key, whichever retriever found it."""
        found = {one.memory: one.score for one in self.retrieved["keyword"]}
        others = [one.key for one in self.candidates if one.key not in found]
        if not others or not self.query.terms:
            return found
        return found | phrases.keyword_scores(self._snapshot, self.query.terms, self._columns, others)

    @cached_property
    def name_words(self) -> NameWords:
        """Return the words of the query as names are compared with them."""
        return NameWords(self.query.text, self.corpus)

    @cached_property
    def calibration(self) -> float:
        """Return how far the model can be trusted in this store; see `search.calibration`."""
        model = None if self._vector_query is None else self._vector_query.model
        measured = None if model is None else self._snapshot.calibration(model)
        return 1.0 if measured is None else measured.value

    @cached_property
    def sample(self) -> Sample:
        """Return the sample of the store."""
        return self._samples.sample(self._snapshot, None if self._vector_query is None else self._vector_query.model)

    @cached_property
    def background(self) -> Background | None:
        """Return the cosines of the query with the sample; None where no model took part."""
        if self._vector_query is None or not self.sample.vectors.size:
            return None
        with one_core():
            cosines = self.sample.vectors @ self._vector_query.vector
        return Background.of(cosines)

    @cached_property
    def query_tokens(self) -> TokenIds:
        """Return the different tokens of the query; an unknown one tells nothing, as any other may be behind it.

        The marks of a quoted phrase are no part of it: few texts hold them, so they would weigh more than words.
        """
        found = np.unique(tokens([storable(self.query.text).replace('"', " ")]).ids)
        telling: TokenIds = found[found != unknown()]
        return telling

    @cached_property
    def tokens(self) -> Mapping[int, ChunkTokens]:
        """Return the tokens of each candidate's best chunk, by the chunk."""
        return self._samples.tokens(self._snapshot, [candidate.chunk for candidate in self.candidates])

    @cached_property
    def token_table(self) -> TokenTable:
        """Return the unit vectors of tokens, those of the bundled static model."""
        return token_vectors()

    @cached_property
    def hubness(self) -> Mapping[int, float]:
        """Return how near the best chunk of each candidate is to many others of the store, by the chunk."""
        if self._vector_query is None:
            return {}
        chunks = [candidate.chunk for candidate in self.candidates]
        return self._samples.hubness(self._snapshot, self._vector_query.model, chunks)


SharedComputation = Callable[[SearchContext], Mapping[int, float]]


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
    """A signal that names itself in explanations: ``label`` fits into "by its tier (3)", such as "its tier"."""

    @property
    def label(self) -> str: ...


@runtime_checkable
class Described(Labelled, Protocol):
    """A signal that also says what it measures, in a sentence."""

    @property
    def description(self) -> str: ...


@runtime_checkable
class Reasoned(Labelled, Protocol):
    """A signal that can say what in a candidate it judged by, such as "its definition of `Client`".

    It is asked only where its value is not 0, perhaps when the snapshot is closed: it uses what it read before.
    """

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str: ...


def completes(signal: Signal) -> str | None:
    """Return the retriever whose score a signal gives to all candidates, and under whose name it is shown."""
    # Both are asked of every signal in every search: `isinstance` with a protocol takes a hundred times as long.
    return getattr(signal, "completes", None)


def lower_is_better(signal: Signal) -> bool:
    """Return whether the ranks of a signal count from its lowest value."""
    return getattr(signal, "lower_is_better", False)
