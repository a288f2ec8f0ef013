"""What a search brings: its two legs, which look at the same time, and the pool that they fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import apsw

from jupyter_memory.around import Around
from jupyter_memory.protocols import Embedder, Leg, Vectors
from jupyter_memory.search.pool import Passage, Pool
from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.storage import keyword, passages, rows
from jupyter_memory.storage.base import Model
from jupyter_memory.storage.beside import Beside
from jupyter_memory.storage.scores import Scores
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.statistics import KeptCounts
from jupyter_memory.storage.tokens import stems
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.text.stopwords import STOP_WORDS
from jupyter_memory.types import Candidate, Filters, Found, Memory, Query


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the vector leg needs: a query's vector, the model it belongs to, and the cosine that counts as noise.

    ``memories`` and ``cosines`` are, by key, what is read of the words' finds while the vector leg still looks.
    """

    vector: Vectors
    model: Model
    threshold: float | None
    memories: dict[int, Memory] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)


class Legs:
    """The legs of one store's searches, with what they keep from one to the next; safe to share between threads."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self.counts = KeptCounts()
        self._vectors = vectors
        self._scores = Scores(vectors.owners)
        self._beside = Beside(database)
        self._around = Around()

    def searching(self, profile: Profile) -> AbstractContextManager[None]:
        """Context manager for one search; afterwards a background thread reads frequent words until the next one."""
        return self._beside.searching(lambda: self._scores.reading_ahead(profile.columns, _never_asked))

    def meaning(
        self,
        connection: apsw.Connection,
        vector: Vectors | None,
        profile: Profile,
        embedder: Embedder | None,
        threshold: float | None,
    ) -> Meaning | None:
        """Return what the vector leg looks for, None where only words can be searched."""
        if vector is None or embedder is None:
            return None
        # Should another program have switched the model a moment ago, the old vectors are still complete.
        model = self._vectors.known(connection, embedder.fingerprint)
        if model is None:
            return None
        floor = (embedder.threshold if threshold is None else threshold) if profile.threshold else None
        return Meaning(vector, model, floor)

    def of(
        self,
        connection: apsw.Connection,
        query: Query,
        profile: Profile,
        meaning: Meaning | None,
        but: int | None = None,
    ) -> dict[str, Leg]:
        """Return the legs of a search, as if the memory of the key ``but`` were not there; words are asked first."""
        by_word: list[int] = []

        def by_words(query: Query, count: int, /) -> Sequence[Found]:
            found = keyword.search(connection, query.terms, profile.columns, query.filters, count, self._scores)
            by_word.extend(one.memory for one in found[: profile.fetch(query.limit)])
            return found

        def meanwhile() -> None:
            assert meaning is not None
            meaning.memories.update(rows.load(connection, by_word))
            meaning.cosines.update(self.cosines(connection, meaning, by_word))

        legs: dict[str, Leg] = {"keyword": by_words}
        if meaning is not None:
            wanted = profile.fetches(query.limit) + (but is not None)
            legs["vector"] = self._by_meaning(connection, meaning, wanted, query.filters, meanwhile)
        return legs if but is None else {name: _all_but(but, leg) for name, leg in legs.items()}

    def pool(
        self,
        connection: apsw.Connection,
        query: Query,
        columns: Mapping[str, float],
        found: Mapping[str, Sequence[Found]],
        meaning: Meaning | None,
    ) -> Pool:
        """Return the memories that the legs found, with the cosine of each that has a vector."""
        # The keyword leg's chunk speaks for a memory where both found one: its snippet shows the words.
        chunks = {one.memory: one.chunk for leg in ("vector", "keyword") for one in found[leg]}
        cosines = {one.memory: one.score for one in found["vector"]}
        memories: dict[int, Memory] = {}
        if meaning is not None:
            memories, cosines = dict(meaning.memories), meaning.cosines | cosines
            unjudged = [key for key in chunks if key not in cosines and key not in memories]
            cosines |= self.cosines(connection, meaning, unjudged)
        memories |= rows.load(connection, [key for key in chunks if key not in memories])
        return Pool(
            [Candidate(key, memories[key], chunk, cosines.get(key)) for key, chunk in chunks.items()],
            load=lambda wanted: {
                chunk: Passage(*parts) for chunk, parts in passages.passages(connection, wanted).items()
            },
            texts=lambda keys: passages.texts(connection, keys),
            corpus=self.counts.of(connection),
            words=lambda: self._words(connection, query, columns, found, list(chunks)),
            surroundings=lambda: self._around.of(
                connection,
                query.text,
                found,
                None if meaning is None else meaning.vector,
                None if meaning is None else meaning.model,
            ),
        )

    def cosines(self, connection: apsw.Connection, meaning: Meaning, keys: Sequence[int]) -> dict[int, float]:
        """Return the best cosine of each of these memories that has vectors."""
        judged = self._vectors.cosines(connection, meaning.model, meaning.vector, keys)
        return {key: cosine for key, (cosine, _) in judged.items()}

    def _words(
        self,
        connection: apsw.Connection,
        query: Query,
        columns: Mapping[str, float],
        found: Mapping[str, Sequence[Found]],
        keys: Sequence[int],
    ) -> dict[int, float]:
        """Return BM25 of each of these memories that holds a word of the query, also of those the leg did not bring."""
        brought = {one.memory: one.score for one in found["keyword"]}
        others = [key for key in keys if key not in brought]
        if not others or not query.terms:
            return brought
        return brought | keyword.scores_of(connection, query.terms, columns, others, self._scores)

    def close(self) -> None:
        """Let go of the thread that looks beside."""
        self._beside.close()

    def _by_meaning(
        self,
        connection: apsw.Connection,
        meaning: Meaning,
        wanted: int,
        everywhere: Filters,
        meanwhile: Callable[[], None],
    ) -> Leg:
        def nearest(connection: apsw.Connection, count: int = wanted, filters: Filters = everywhere) -> Sequence[Found]:
            # Of the time that a query names everything may be meant: "what did we do yesterday".
            floor = meaning.threshold if filters == everywhere else None
            return self._vectors.search(connection, meaning.model, meaning.vector, filters, count, floor)

        # Begun here, so that both legs look at the same time.
        large = self._vectors.is_large(connection, meaning.model)
        begun = self._beside.begin(connection, nearest) if large else None

        def by_meaning(query: Query, count: int, /) -> Sequence[Found]:
            if begun is not None and (count, query.filters) == (wanted, everywhere):
                meanwhile()
                return begun()
            return nearest(connection, count, query.filters)

        return by_meaning


def _never_asked(connection: apsw.Connection) -> frozenset[str]:
    """Return the words that questions are freed of, as the index holds them."""
    return frozenset(stems(connection, " ".join(STOP_WORDS)))


def _all_but(key: int, leg: Leg) -> Leg:
    def others(query: Query, count: int, /) -> Sequence[Found]:
        return [one for one in leg(query, count + 1) if one.memory != key][:count]

    return others
