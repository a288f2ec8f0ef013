"""What a store holds at one moment, whole or in part."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import Calibration, ChunkSpan, ChunkVectors, EmbeddedParts, Model, Passage, Snapshot
from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.shared import from_micros, identity
from jupyter_memory.storage.sql import SHOWN_TIER, SQLITE, condition
from jupyter_memory.storage.sqlite import keyword, keyword_query
from jupyter_memory.storage.sqlite.database import BackgroundReader
from jupyter_memory.storage.sqlite.keyword import Statistics, StatisticsCache, WordScoreCache
from jupyter_memory.storage.sqlite.sql import Session, version
from jupyter_memory.storage.sqlite.tables import activity, memories
from jupyter_memory.storage.sqlite.vectors import VectorIndex
from jupyter_memory.storage.tables import files
from jupyter_memory.storage.words import stems
from jupyter_memory.text.code import Definitions
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import FileState, Vectors
from jupyter_memory.types.report import Feedback, Folder, Recent

Result = TypeVar("Result")

_FACET_VALUES = {
    "tag": "select distinct tag from tags",
    "tier": f"select distinct {SHOWN_TIER} from memories",
    "path": "select distinct source from memories where source <> ''",
    **{name: f"select distinct {name} from memories where {name} <> ''" for name in ("kind", "lang", "space")},
    "session": "select distinct session from memories where session is not null",
}


@dataclass(frozen=True, slots=True)
class Indexes:
    """What the snapshots of one store share: its indexes with their caches, and the background reader."""

    vectors: VectorIndex
    scores: WordScoreCache
    counts: StatisticsCache
    background: BackgroundReader


@dataclass(eq=False, repr=False)
class SqliteSnapshot:
    """A read transaction of one connection; `storage.base.Snapshot` says what each method does."""

    _connection: Session
    _indexes: Indexes

    @cached_property
    def corpus(self) -> Statistics:
        return Statistics(self._connection, self._indexes.counts)

    @property
    def version(self) -> str:
        return version(self._connection)

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        def over(connection: Session) -> Result:
            return work(SqliteSnapshot(connection, self._indexes))

        return self._indexes.background.begin(self._connection, over)

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        return memories.known_key(self._connection, memory_id)

    def memories(self, keys: Sequence[int], /) -> dict[int, Memory]:
        return memories.load(self._connection, keys)

    def keys(self, filters: Filters, among: Sequence[str] | None = None, /) -> list[int]:
        return memories.keys_where(self._connection, filters, among)

    def selection(self, filters: Filters, /) -> Selection:
        return memories.selection(self._connection, filters)

    def exists(self, filters: Filters, /) -> bool:
        where, parameters = condition(SQLITE, filters)
        found = self._connection.execute(f"select exists (select 1 from memories where {where})", parameters)
        return bool(found.get)

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        return memories.browse(self._connection, filters, limit)

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        return memories.facet_counts(self._connection, filters)

    def facet_values(self, facet: str, /) -> list[str]:
        return [row[0] for row in self._connection.execute(_FACET_VALUES[facet])]

    def sessions(self, filters: Filters, /) -> list[str]:
        return memories.sessions(self._connection, filters)

    def event_span(self) -> tuple[datetime, datetime]:
        first, last = self._connection.execute("select min(event_at), max(event_at) from memories").fetchall()[0]
        return from_micros(int(first or 0)), from_micros(int(last or 0))

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        found = self._connection.execute(
            "select id, start, stop, line, context from chunks where id in (select value from json_each(?))",
            (json.dumps(list(chunks)),),
        )
        return {row[0]: ChunkSpan(*row[1:]) for row in found}

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        return memories.first_contexts(self._connection, ids)

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        return memories.chunks_of(self._connection, keys)

    def passages(self, chunks: Sequence[int], /) -> dict[int, Passage]:
        found = self._connection.execute(
            "select id, title, context, text, tags from chunk_texts where id in (select value from json_each(?))",
            (json.dumps(list(chunks)),),
        )
        return {row[0]: Passage(*row[1:]) for row in found}

    def texts(self, keys: Sequence[int], /) -> dict[int, str]:
        return memories.texts(self._connection, keys)

    def definitions(self, keys: Sequence[int], /) -> dict[int, Definitions]:
        return memories.definitions_of(self._connection, keys)

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        return memories.lacking_definitions(self._connection, count, after)

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        return keyword.search(self._connection, terms, weights, filters, count, self._indexes.scores)

    def keyword_scores(self, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /) -> dict[int, float]:
        return keyword.scores_of(self._connection, terms, weights, keys, self._indexes.scores)

    def highlights(
        self, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        return keyword.highlights(self._connection, terms, weights, texts)

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        match = keyword_query.expression(Terms(phrases=(phrase,)), weights)
        return bool(
            self._connection.execute("select exists (select 1 from keyword where keyword match ?)", (match,)).get
        )

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        # This table returns the first occurrence at once; the others count all of them first.
        keyword_query.open_places(self._connection)
        held = "select 1 from temp.places where term = ? and col in (select value from json_each(?)) limit 1"
        named = json.dumps(list(columns))
        return all(self._connection.execute(held, (stem, named)).get for stem in stems(word))

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        keyword_query.open_vocabulary(self._connection)
        found = self._connection.execute("select col, doc from temp.vocabulary where term = ?", (stem,))
        return max((count for column, count in found if column in columns), default=0)

    # -- vectors -------------------------------------------------------------------------------------------------------

    def active_model(self) -> Model | None:
        return self._indexes.vectors.active(self._connection)

    def model(self, fingerprint: str, /) -> Model | None:
        return self._indexes.vectors.known(self._connection, fingerprint)

    def is_large(self, model: Model, /) -> bool:
        return self._indexes.vectors.is_large(self._connection, model)

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        return self._indexes.vectors.search(self._connection, model, vector, filters, count, threshold)

    def cosines(self, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        return self._indexes.vectors.cosines(self._connection, model, vector, keys)

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        return memories.chunk_vectors(self._connection, model, chunks)

    def calibration(self, model: Model, /) -> Calibration | None:
        return self._indexes.vectors.calibration(self._connection, model)

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        return int(self._connection.execute("select coalesce(max(id), 0) from chunks").get)

    def sample(self, count: int, /) -> list[int]:
        last = self.newest_chunk()
        wanted = np.unique(np.linspace(1, last, min(count, last)).astype(np.int64)) if last else np.empty(0, np.int64)
        rows = self._connection.execute(
            "select id from chunks where id in (select value from json_each(?)) order by id",
            (json.dumps(wanted.tolist()),),
        )
        return [row[0] for row in rows]

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        return memories.tokens_of(self._connection, chunks)

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        return memories.embedded_parts(self._connection, chunks)

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        return activity.accepted(self._connection)

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        return activity.query_vector(self._connection, fingerprint, text)

    def has_query_vectors(self) -> bool:
        return not activity.has_no_query_vectors(self._connection)

    def recent_searches(self, limit: int, /) -> list[Recent]:
        return activity.recent(self._connection, limit)

    def last_search(self, origin: str, /) -> tuple[Recent, tuple[str, ...]] | None:
        return activity.last_search(self._connection, origin)

    def query_of(self, query_id: str, /) -> str:
        return activity.query_of(self._connection, query_id)

    def feedback(self) -> list[Feedback]:
        return activity.judged(self._connection)

    # -- contents ------------------------------------------------------------------------------------------------------

    def count(self, filters: Filters, /) -> int:
        return memories.count(self._connection, filters)

    def tags(self) -> list[str]:
        return memories.tags(self._connection)

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        return memories.find_known(self._connection, [identity(draft) for draft in drafts])

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        return memories.known_contents(self._connection, contents, filters)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        return files.under(self._connection, root, space)

    def file_states(self, places: Sequence[tuple[str, str]], /) -> dict[tuple[str, str], FileState]:
        return files.states(self._connection, places)

    def file_keys(self, paths: Sequence[str], space: str, /) -> list[int]:
        return files.memories_of_paths(self._connection, paths, space)

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        return files.texts(self._connection, paths, space)

    def folders(self, space: str, /) -> list[Folder]:
        return files.listed_folders(self._connection, space)

    def noted_folders(self, space: str, /) -> list[str]:
        return files.noted_folders(self._connection, space)

    def folder_above(self, path: str, space: str, /) -> str | None:
        return files.folder_above(self._connection, path, space)

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        return self._indexes.vectors.models(self._connection)

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        return self._indexes.vectors.missing(self._connection, model, count, after)

    def count_without_vectors(self, model: Model, /) -> int:
        chunks = int(self._connection.execute("select count(*) from chunks").get)
        return chunks - self._indexes.vectors.count(self._connection, model)

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        return memories.without_tokens(self._connection, count, after)


# A snapshot that sees a part of a store only: nothing it returns depends on the words or memories of the rest.
#
# BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.

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
    chunks: int
    read: int
    holding: Mapping[str, int]


# A small part is read as a whole, so its counts are exact. In a larger one, what is frequent in the store is counted
# in a sample, since a word that half of the chunks hold would take as long as a search to count.
class _PartStatistics(Statistics):
    def __init__(self, connection: Session, indexes: Indexes, within: Filters, cache: PartCache) -> None:
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
        counts = dict.fromkeys(asked, 0)
        for word in asked:
            if whole[word] > _FREQUENT and (found := sampled.holding.get(word, 0)):
                counts[word] = round(found * sampled.chunks / sampled.read)
            elif whole[word]:
                counted = partial(self._counted_of, word)
                counts[word] = self._cache.counts.of(self._version, (self._within, word), counted)
        return counts

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

    def _counted_of(self, word: str) -> int:
        keyword_query.open_places(self._connection)
        inside, parameters = _inside(self._within, "doc")
        holding = f"select distinct doc from temp.places where term = :word and {inside} limit {_FREQUENT}"
        counted = f"select count(*) from ({holding})"
        return int(self._connection.execute(counted, {**parameters, "word": word}).get)


@dataclass(eq=False, repr=False)
class PartSnapshot(SqliteSnapshot):
    """A snapshot in which only the memories exist that filters let through."""

    _within: Filters
    _cache: PartCache

    @property
    def is_all(self) -> bool:
        where, parameters = condition(SQLITE, self._within)
        found = f"select not exists (select 1 from memories where not coalesce({where}, 0))"
        return self._cache.is_all.of(
            version(self._connection), self._within, lambda: bool(self._connection.execute(found, parameters).get)
        )

    @cached_property
    def corpus(self) -> Statistics:
        return _PartStatistics(self._connection, self._indexes, self._within, self._cache)

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        def over(connection: Session) -> Result:
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
        where, parameters = condition(SQLITE, self._within)
        joined = "memories join tags on tags.memory = memories.key" if facet == "tag" else "memories"
        column = _COLUMNS[facet]
        found = f"select distinct {column} from {joined} where coalesce({column}, '') <> '' and {where}"
        return [row[0] for row in self._connection.execute(found, parameters)]

    def sessions(self, filters: Filters, /) -> list[str]:
        return super().sessions(self._within & filters)

    def event_span(self) -> tuple[datetime, datetime]:
        where, parameters = condition(SQLITE, self._within)
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

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        # In whichever column: it decides between spellings, and the part is not counted by columns.
        return self.corpus.frequencies([stem])[stem]

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        return super().vector_matches(model, vector, self._within & filters, count, threshold)

    def sample(self, count: int, /) -> list[int]:
        return evenly(chunks_of(self._connection, self._within), count)


def chunks_of(connection: Session, within: Filters) -> list[int]:
    where, parameters = condition(SQLITE, within)
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
    where, parameters = condition(SQLITE, within)
    joined = "chunks as part join memories on memories.key = part.memory"
    return f"exists (select 1 from {joined} where part.id = {chunk} and {where})", parameters
