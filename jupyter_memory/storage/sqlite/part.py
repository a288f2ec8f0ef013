"""A snapshot that sees a part of a store only: nothing it returns depends on the words or memories of the rest.

BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import apsw
import numpy as np

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import Model, Snapshot
from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.shared.rows import from_micros
from jupyter_memory.storage.sqlite.filters import SHOWN_TIER, condition
from jupyter_memory.storage.sqlite.indexes import keyword_query
from jupyter_memory.storage.sqlite.indexes.statistics import Statistics
from jupyter_memory.storage.sqlite.snapshot import Indexes, SqliteSnapshot
from jupyter_memory.storage.sqlite.sql import version
from jupyter_memory.storage.sqlite.tables import memories
from jupyter_memory.types import Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.protocols import Vectors

Result = TypeVar("Result")

# Chunks of a part that is read as a whole, of a sample of a larger one, and that hold a word which is frequent.
_SMALL, _SAMPLE, _FREQUENT = 2_000, 1_000, 2_000
_COLUMNS = {
    "tag": "tags.tag", "tier": SHOWN_TIER, "path": "memories.source", "kind": "memories.kind", "lang": "memories.lang",
    "space": "memories.space", "session": "memories.session",
}  # fmt: skip


class PartCache:
    """What was counted of a part of one version of a store: words and chunks, and whether the part is all there is."""

    def __init__(self) -> None:
        self.samples: Cache[Filters, _Sampled] = Cache(4)
        self.counts: Cache[tuple[Filters, str], int] = Cache(10_000)
        self.is_all: Cache[Filters, bool] = Cache(16)


@dataclass(frozen=True, slots=True)
class _Sampled:
    """How many chunks a part has, how many of them were read, evenly, and how many of these hold each word."""

    chunks: int
    read: int
    holding: Mapping[str, int]


class PartStatistics(Statistics):
    """The words of a part of a store.

    A small part is read as a whole, so its counts are exact. In a larger one, what is frequent in the store is counted
    in a sample, since a word that half of the chunks hold would take as long as a search to count.
    """

    def __init__(self, connection: apsw.Connection, indexes: Indexes, within: Filters, cache: PartCache) -> None:
        super().__init__(connection, indexes.counts)
        self._within = within
        self._cache = cache

    @property
    def chunks(self) -> int:
        return self._sampled.chunks

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        asked, sampled = list(dict.fromkeys(words)), self._sampled
        if sampled.read == sampled.chunks:
            return {word: sampled.holding.get(word, 0) for word in asked}
        # A word that nothing in the store holds need not be looked for.
        whole = super().frequencies(asked)
        return {word: self._count(word, whole[word]) if whole[word] else 0 for word in asked}

    def beginning(self, letters: str, /) -> Sequence[str]:
        return self._held(super().beginning(letters))

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        return self._held(super().ending(letters))

    def _held(self, words: Sequence[str]) -> Sequence[str]:
        sampled = self._sampled
        # Who asks for words by their letters counts those that are near: of a large part, thousands are not looked up.
        return [word for word in words if word in sampled.holding] if sampled.read == sampled.chunks else words

    @property
    def _sampled(self) -> _Sampled:
        return self._cache.samples.of(self._version, self._within, self._read_sample)

    def _read_sample(self) -> _Sampled:
        ids = chunks_of(self._connection, self._within)
        read = ids if len(ids) <= _SMALL else evenly(ids, _SAMPLE)
        rows = self._connection.execute(
            "select title || char(10) || context || char(10) || text || char(10) || tags || char(10) || ident "
            "from chunk_texts where id in (select value from json_each(?))",
            (json.dumps(read),),
        )
        holding = Counter(chain.from_iterable(set(self.words(text)) for (text,) in rows))
        return _Sampled(len(ids), len(read), holding)

    def _count(self, word: str, in_store: int) -> int:
        sampled = self._sampled
        if in_store > _FREQUENT and (found := sampled.holding.get(word, 0)):
            return round(found * sampled.chunks / sampled.read)
        return self._cache.counts.of(self._version, (self._within, word), partial(self._counted_of, word))

    def _counted_of(self, word: str) -> int:
        keyword_query.open_places(self._connection)
        inside, parameters = _inside(self._within, "doc")
        holding = f"select distinct doc from temp.places where term = :word and {inside} limit {_FREQUENT}"
        counted = f"select count(*) from ({holding})"
        return int(self._connection.execute(counted, {**parameters, "word": word}).get)


class PartSnapshot(SqliteSnapshot):
    """A snapshot in which only the memories exist that filters let through."""

    def __init__(self, connection: apsw.Connection, indexes: Indexes, within: Filters, cache: PartCache) -> None:
        super().__init__(connection, indexes)
        self._within = within
        self._cache = cache

    @property
    def is_all(self) -> bool:
        """Return whether the store holds nothing else."""
        where, parameters = condition(self._within)
        found = f"select not exists (select 1 from memories where not coalesce({where}, 0))"
        return self._cache.is_all.of(
            version(self._connection), self._within, lambda: bool(self._connection.execute(found, parameters).get)
        )

    @property
    def corpus(self) -> Statistics:
        if self._corpus is None:
            self._corpus = PartStatistics(self._connection, self._indexes, self._within, self._cache)
        return self._corpus

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        def over(connection: apsw.Connection) -> Result:
            return work(PartSnapshot(connection, self._indexes, self._within, self._cache))

        return self._indexes.background.begin(self._connection, over)

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        found = self.keys(Filters(), [memory_id])
        if not found:
            raise UnknownMemory(memory_id)
        return found[0]

    def keys(self, filters: Filters, among: Sequence[str] | None = None, /) -> list[int]:
        return super().keys(self._within & filters, among)

    def selection(self, filters: Filters, /) -> Selection:
        return super().selection(self._within & filters)

    def exists(self, filters: Filters, /) -> bool:
        return super().exists(self._within & filters)

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        return super().browse(self._within & filters, limit)

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        return super().facet_counts(self._within & filters)

    def facet_values(self, facet: str, /) -> list[str]:
        where, parameters = condition(self._within)
        joined = "memories join tags on tags.memory = memories.key" if facet == "tag" else "memories"
        column = _COLUMNS[facet]
        found = f"select distinct {column} from {joined} where coalesce({column}, '') <> '' and {where}"
        return [row[0] for row in self._connection.execute(found, parameters)]

    def sessions(self, filters: Filters, /) -> list[str]:
        return super().sessions(self._within & filters)

    def event_span(self) -> tuple[datetime, datetime]:
        where, parameters = condition(self._within)
        found = f"select min(event_at), max(event_at) from memories where {where}"
        first, last = self._connection.execute(found, parameters).fetchall()[0]
        return from_micros(int(first or 0)), from_micros(int(last or 0))

    def count(self, filters: Filters, /) -> int:
        return super().count(self._within & filters)

    def tags(self) -> list[str]:
        counts = memories.facet_counts(self._connection, self._within)["tag"]
        return sorted(counts, key=lambda tag: (-counts[tag], tag))

    # -- words and vectors ---------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        return super().keyword_matches(terms, weights, self._within & filters, count)

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        match = keyword_query.expression(Terms(phrases=(phrase,)), weights)
        inside, parameters = _inside(self._within, "keyword.rowid")
        held = f"select exists (select 1 from keyword where keyword match :match and {inside})"
        return bool(self._connection.execute(held, {**parameters, "match": match}).get)

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        return all(self.corpus.frequencies(self.corpus.words(word)).values()) and super().holds_word(word, columns)

    def words_beginning(self, letters: str, /) -> Sequence[str]:
        return self.corpus.beginning(letters)

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        # In whichever column: it decides between spellings, and the part is not counted by columns.
        return self.corpus.frequencies([stem])[stem]

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        return super().vector_matches(model, vector, self._within & filters, count, threshold)

    def sample(self, count: int, /) -> list[int]:
        return evenly(chunks_of(self._connection, self._within), count)


def chunks_of(connection: apsw.Connection, within: Filters) -> list[int]:
    """Return the ids of a part's chunks, in order."""
    where, parameters = condition(within)
    found = f"select chunks.id from memories join chunks on chunks.memory = memories.key where {where} order by 1"
    return [int(row[0] or 0) for row in connection.execute(found, parameters)]


def evenly(ids: Sequence[int], count: int) -> list[int]:
    """Return up to so many of these, from the first to the last.

    >>> evenly([1, 2, 3, 4, 5], 3), evenly([], 3)
    ([1, 3, 5], [])
    """
    places = np.linspace(0, len(ids) - 1, min(count, len(ids))).astype(np.int64)
    return [ids[place] for place in dict.fromkeys(places.tolist())]


def _inside(within: Filters, chunk: str) -> tuple[str, dict[str, Any]]:
    """Return the condition that a chunk belongs to a memory of the part, and its parameters."""
    where, parameters = condition(within)
    joined = "chunks as part join memories on memories.key = part.memory"
    return f"exists (select 1 from {joined} where part.id = {chunk} and {where})", parameters
