"""The candidates of one search, with the words of their texts and of the whole store for the signals that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

from jupyter_memory.search.surroundings import Ids, Surroundings
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class Passage:
    """What the keyword index holds of a candidate's chunk, as text."""

    title: str = ""
    context: str = ""
    text: str = ""
    tags: str = ""

    def __str__(self) -> str:
        return "\n".join(part for part in (self.title, self.context, self.text, self.tags) if part)


class Corpus(Protocol):
    """What the whole store tells of words; a word is a stem, as the keyword index has it."""

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        ...

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text, in their order."""
        ...

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word; 0 where none does."""
        ...


Reckoning = Callable[[Query, "Pool"], Mapping[int, float]]


class Pool(Sequence[Candidate]):
    """A sequence of candidates; ``passages`` and ``texts`` are read from the store when a signal first asks.

    >>> pool = Pool([], load=lambda chunks: {}, texts=lambda keys: {}, corpus=None)
    >>> len(pool), pool.passages
    (0, {})
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        load: Callable[[Sequence[int]], Mapping[int, Passage]],
        texts: Callable[[Sequence[int]], Mapping[int, str]],
        corpus: Corpus | None,
        surroundings: Callable[[], Surroundings] | None = None,
        words: Callable[[], Mapping[int, float]] | None = None,
    ) -> None:
        self._candidates = tuple(candidates)
        self._load = load
        self._read = texts
        self._corpus = corpus
        self._look_around = surroundings
        self._look_up = words
        self._words: Mapping[int, float] | None = None
        self._surroundings: Surroundings | None = None
        self._passages: Mapping[int, Passage] | None = None
        self._texts: Mapping[int, str] | None = None
        self._tokens: Mapping[int, Ids] | None = None
        self._reckoned: dict[tuple[Reckoning, str], Mapping[int, float]] = {}

    def once(self, reckoning: Reckoning, query: Query) -> Mapping[int, float]:
        """Return what is reckoned of the candidates for a query, which several signals rest on."""
        key = reckoning, query.text
        if key not in self._reckoned:
            self._reckoned[key] = reckoning(query, self)
        return self._reckoned[key]

    @property
    def passages(self) -> Mapping[int, Passage]:
        """Return the chunk that speaks for each candidate, by the candidate's key."""
        if self._passages is None:
            by_chunk = self._load([candidate.chunk for candidate in self._candidates])
            self._passages = {candidate.key: by_chunk[candidate.chunk] for candidate in self._candidates}
        return self._passages

    def passages_of(self, candidates: Sequence[Candidate]) -> Mapping[int, Passage]:
        """Return the chunks that speak for a few candidates, by the candidate's key."""
        if self._passages is not None:
            return self._passages
        by_chunk = self._load([candidate.chunk for candidate in candidates])
        return {candidate.key: by_chunk[candidate.chunk] for candidate in candidates}

    @property
    def texts(self) -> Mapping[int, str]:
        """Return the whole text of each candidate, by its key."""
        if self._texts is None:
            self._texts = self._read([candidate.key for candidate in self._candidates])
        return self._texts

    @property
    def tokens(self) -> Mapping[int, Ids]:
        """Return the different tokens of each candidate's chunk, by the chunk."""
        if self._tokens is None:
            self._tokens = self.surroundings.tokens([candidate.chunk for candidate in self._candidates])
        return self._tokens

    @property
    def words(self) -> Mapping[int, float]:
        """Return BM25 of each candidate that holds a word of the query, by key, whichever leg brought it."""
        if self._words is None:
            assert self._look_up is not None, "this pool was made without a store"
            self._words = self._look_up()
        return self._words

    @property
    def corpus(self) -> Corpus:
        """Return what the store tells of words."""
        assert self._corpus is not None, "this pool was made without a store"
        return self._corpus

    @property
    def surroundings(self) -> Surroundings:
        """Return what the search is compared with; read when a signal first asks."""
        if self._surroundings is None:
            assert self._look_around is not None, "this pool was made without a store"
            self._surroundings = self._look_around()
        return self._surroundings

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
