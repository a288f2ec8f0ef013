"""One state of a SQLite store, as searches ask it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import apsw

from jupyter_memory.storage.base import (
    Calibration,
    ChunkSpan,
    ChunkVectors,
    EmbeddedParts,
    Model,
    Passage,
    Snapshot,
)
from jupyter_memory.storage.shared.rows import from_micros, identity
from jupyter_memory.storage.sqlite.connection.background import BackgroundReader
from jupyter_memory.storage.sqlite.filters import SHOWN_TIER, condition
from jupyter_memory.storage.sqlite.indexes import keyword, keyword_query, statistics
from jupyter_memory.storage.sqlite.indexes.statistics import Statistics, StatisticsCache
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.indexes.word_scores import WordScoreCache
from jupyter_memory.storage.sqlite.sql import version
from jupyter_memory.storage.sqlite.tables import chunks as chunk_rows
from jupyter_memory.storage.sqlite.tables import definitions, files, folders, memories, query_vectors, searches
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


class SqliteSnapshot:
    """A read transaction of one connection; `storage.base.Snapshot` says what each method does."""

    def __init__(self, connection: apsw.Connection, indexes: Indexes) -> None:
        self._connection = connection
        self._indexes = indexes
        self._corpus: Statistics | None = None

    @property
    def corpus(self) -> Statistics:
        if self._corpus is None:
            self._corpus = self._indexes.counts.of(self._connection)
        return self._corpus

    @property
    def version(self) -> str:
        return version(self._connection)

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        def over(connection: apsw.Connection) -> Result:
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
        where, parameters = condition(filters)
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
        return chunk_rows.spans(self._connection, chunks)

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        return chunk_rows.first_contexts(self._connection, ids)

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        return chunk_rows.of_memories(self._connection, keys)

    def passages(self, chunks: Sequence[int], /) -> dict[int, Passage]:
        return chunk_rows.passages(self._connection, chunks)

    def texts(self, keys: Sequence[int], /) -> dict[int, str]:
        return memories.texts(self._connection, keys)

    def definitions(self, keys: Sequence[int], /) -> dict[int, Definitions]:
        return definitions.of_memories(self._connection, keys)

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        return definitions.lacking(self._connection, count, after)

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
        return statistics.is_held(self._connection, word, columns)

    def words_beginning(self, letters: str, /) -> Sequence[str]:
        return self.corpus.beginning(letters)

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        return statistics.chunk_count(self._connection, stem, columns)

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
        found = self._indexes.vectors.cosines(self._connection, model, vector, keys)
        return {key: cosine for key, (cosine, _) in found.items()}

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        return chunk_rows.vectors(self._connection, model, chunks)

    def calibration(self, model: Model, /) -> Calibration | None:
        return self._indexes.vectors.calibration(self._connection, model)

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        return chunk_rows.newest(self._connection)

    def sample(self, count: int, /) -> list[int]:
        return chunk_rows.sample(self._connection, count)

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        return chunk_rows.tokens_of(self._connection, chunks)

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        return chunk_rows.embedded_parts(self._connection, chunks)

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        return searches.accepted(self._connection)

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        return query_vectors.get(self._connection, fingerprint, text)

    def has_query_vectors(self) -> bool:
        return not query_vectors.is_empty(self._connection)

    def recent_searches(self, limit: int, /) -> list[Recent]:
        return searches.recent(self._connection, limit)

    def last_search(self, origin: str, /) -> tuple[Recent, tuple[str, ...]] | None:
        return searches.last(self._connection, origin)

    def query_of(self, query_id: str, /) -> str:
        return searches.query_of(self._connection, query_id)

    def feedback(self) -> list[Feedback]:
        return searches.judged(self._connection)

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
        return files.memories(self._connection, paths, space)

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        return files.texts(self._connection, paths, space)

    def folders(self, space: str, /) -> list[Folder]:
        return folders.listed(self._connection, space)

    def noted_folders(self, space: str, /) -> list[str]:
        return folders.noted(self._connection, space)

    def folder_above(self, path: str, space: str, /) -> str | None:
        return folders.above(self._connection, path, space)

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        return self._indexes.vectors.models(self._connection)

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        return self._indexes.vectors.missing(self._connection, model, count, after)

    def count_without_vectors(self, model: Model, /) -> int:
        chunks = int(self._connection.execute("select count(*) from chunks").get)
        return chunks - self._indexes.vectors.count(self._connection, model)

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        return chunk_rows.without_tokens(self._connection, count, after)
