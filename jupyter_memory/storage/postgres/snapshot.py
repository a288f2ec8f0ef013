"""One state of a PostgreSQL store, as searches ask it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from jupyter_memory.storage.base import (
    Calibration,
    ChunkSpan,
    ChunkVectors,
    Corpus,
    EmbeddedParts,
    Model,
    Passage,
    Snapshot,
)
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import SHOWN_TIER, condition
from jupyter_memory.storage.postgres.indexes import keyword, phrases, vectors, words
from jupyter_memory.storage.postgres.indexes.matches import begun
from jupyter_memory.storage.postgres.indexes.statistics import Statistics, StatisticsCache
from jupyter_memory.storage.postgres.tables import chunks as chunk_rows
from jupyter_memory.storage.postgres.tables import (
    definitions,
    files,
    folders,
    memories,
    overview,
    query_vectors,
    searches,
)
from jupyter_memory.storage.shared.rows import from_micros, identity
from jupyter_memory.text.code import Definitions
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import FileState, Vectors
from jupyter_memory.types.report import Feedback, Folder, Recent

Result = TypeVar("Result")

_MEMORIES = f"from memories where {of('memories')}"
_FACET_VALUES = {
    "tag": f"select distinct tag from tags where {of('tags')} order by 1",
    "tier": f"select distinct {SHOWN_TIER} {_MEMORIES} order by 1",
    "path": f"select distinct source {_MEMORIES} and source <> '' order by 1",
    **{
        name: f"select distinct {name} {_MEMORIES} and {name} <> '' order by 1"
        for name in ("kind", "lang", "space", "session")
    },
}


class PostgresSnapshot:
    """A read transaction of one connection; `storage.base.Snapshot` says what each method does."""

    def __init__(self, session: Session, cache: StatisticsCache) -> None:
        self._session = session
        self._statistics = Statistics(session, self.version, cache)

    @property
    def corpus(self) -> Corpus:
        return self._statistics

    @property
    def version(self) -> str:
        return str(self._session.totals.changes)

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        # The server reads in its own process, so nothing is gained by a second connection here.
        return lambda: work(self)

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        return memories.known_key(self._session, memory_id)

    def memories(self, keys: Sequence[int], /) -> dict[int, Memory]:
        return memories.load(self._session, keys)

    def keys(self, filters: Filters, among: Sequence[str] | None = None, /) -> list[int]:
        return memories.keys_where(self._session, filters, among)

    def selection(self, filters: Filters, /) -> Selection:
        return overview.selection(self._session, filters)

    def exists(self, filters: Filters, /) -> bool:
        where, parameters = condition(filters)
        return bool(self._session.value(f"select exists (select 1 from memories where {where})", parameters))

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        return overview.browse(self._session, filters, limit)

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        return overview.facet_counts(self._session, filters)

    def facet_values(self, facet: str, /) -> list[str]:
        return [row[0] for row in self._session.rows(_FACET_VALUES[facet])]

    def sessions(self, filters: Filters, /) -> list[str]:
        return overview.sessions(self._session, filters)

    def event_span(self) -> tuple[datetime, datetime]:
        [(first, last)] = self._session.rows(f"select min(event_at), max(event_at) {_MEMORIES}")
        return from_micros(first or 0), from_micros(last or 0)

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        return chunk_rows.spans(self._session, chunks)

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        return chunk_rows.first_contexts(self._session, ids)

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        return chunk_rows.of_memories(self._session, keys)

    def passages(self, chunks: Sequence[int], /) -> dict[int, Passage]:
        return chunk_rows.passages(self._session, chunks)

    def texts(self, keys: Sequence[int], /) -> dict[int, str]:
        return memories.texts(self._session, keys)

    def definitions(self, keys: Sequence[int], /) -> dict[int, Definitions]:
        return definitions.of_memories(self._session, keys)

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        return definitions.lacking(self._session, count, after)

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        return keyword.search(self._session, self._statistics, terms, weights, filters, count)

    def keyword_scores(self, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /) -> dict[int, float]:
        return keyword.scores_of(self._session, self._statistics, terms, weights, keys)

    def highlights(
        self, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        if "text" not in weights or not texts:
            return {}
        terms = begun(terms, self._statistics.first_with)
        inflected = [form for one in terms.forms for form in one.inflected]
        others = (*terms.respelled, *terms.compounded)
        return words.highlights(texts, (*terms.phrases, *terms.words, *inflected), terms.prefix, others)

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        return phrases.holds_phrase(self._session, self._statistics, phrase, weights)

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        return self._statistics.is_held(word, columns)

    def words_beginning(self, letters: str, /) -> Sequence[str]:
        return self._statistics.beginning(letters)

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        return self._statistics.chunk_count(stem, columns)

    # -- vectors -------------------------------------------------------------------------------------------------------

    def active_model(self) -> Model | None:
        return vectors.active(self._session)

    def model(self, fingerprint: str, /) -> Model | None:
        return vectors.known(self._session, fingerprint)

    def is_large(self, model: Model, /) -> bool:
        return False

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        return vectors.search(self._session, model, vector, filters, count, threshold)

    def cosines(self, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        return vectors.cosines(self._session, model, vector, keys)

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        return vectors.of_chunks(self._session, model, chunks)

    def calibration(self, model: Model, /) -> Calibration | None:
        return vectors.calibration(self._session, model)

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        return chunk_rows.newest(self._session)

    def sample(self, count: int, /) -> list[int]:
        return chunk_rows.sample(self._session, count, self._statistics.chunks)

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        return chunk_rows.tokens_of(self._session, chunks)

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        return chunk_rows.embedded_parts(self._session, chunks)

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        return searches.accepted(self._session)

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        return query_vectors.get(self._session, fingerprint, text)

    def has_query_vectors(self) -> bool:
        return not query_vectors.is_empty(self._session)

    def recent_searches(self, limit: int, /) -> list[Recent]:
        return searches.recent(self._session, limit)

    def last_search(self, origin: str, /) -> tuple[Recent, tuple[str, ...]] | None:
        return searches.last(self._session, origin)

    def query_of(self, query_id: str, /) -> str:
        return searches.query_of(self._session, query_id)

    def feedback(self) -> list[Feedback]:
        return searches.judged(self._session)

    # -- contents ------------------------------------------------------------------------------------------------------

    def count(self, filters: Filters, /) -> int:
        return overview.count(self._session, filters)

    def tags(self) -> list[str]:
        return overview.tags(self._session)

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        return memories.find_known(self._session, [identity(draft) for draft in drafts])

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        return overview.known_contents(self._session, contents, filters)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        return files.under(self._session, root, space)

    def file_states(self, places: Sequence[tuple[str, str]], /) -> dict[tuple[str, str], FileState]:
        return files.states(self._session, places)

    def file_keys(self, paths: Sequence[str], space: str, /) -> list[int]:
        return files.memories(self._session, paths, space)

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        return files.texts(self._session, paths, space)

    def folders(self, space: str, /) -> list[Folder]:
        return folders.listed(self._session, space)

    def noted_folders(self, space: str, /) -> list[str]:
        return folders.noted(self._session, space)

    def folder_above(self, path: str, space: str, /) -> str | None:
        return folders.above(self._session, path, space)

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        return vectors.models(self._session)

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        return vectors.missing(self._session, model, count, after)

    def count_without_vectors(self, model: Model, /) -> int:
        return self._statistics.chunks - vectors.count(self._session, model)

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        return chunk_rows.without_tokens(self._session, count, after)
