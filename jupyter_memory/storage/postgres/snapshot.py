"""What a store holds at one moment, whole or in part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage import words
from jupyter_memory.storage.base import (
    Calibration,
    ChunkSpan,
    ChunkVectors,
    EmbeddedParts,
    Model,
    Passage,
    Snapshot,
)
from jupyter_memory.storage.postgres import keyword, vectors
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.keyword import begun
from jupyter_memory.storage.postgres.postings import Statistics, StatisticsCache, bits_of
from jupyter_memory.storage.postgres.tables import activity, files
from jupyter_memory.storage.shared import from_micros, identity, is_below
from jupyter_memory.storage.sql import POSTGRES, condition
from jupyter_memory.storage.tables import memories, models
from jupyter_memory.storage.words import keyed, stems
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import FileState, Vectors
from jupyter_memory.types.report import Feedback, Folder, Recent

Result = TypeVar("Result")


class PostgresSnapshot:
    """A read transaction of one connection."""

    def __init__(self, session: Session, cache: StatisticsCache, within: Filters | None = None) -> None:
        self._session = session
        self._within = within or Filters()
        self._statistics = Statistics(session, self.version, cache)

    @property
    def corpus(self) -> Statistics | _PartStatistics:
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
        return memories.keys_where(self._session, self._within & filters, among)

    def selection(self, filters: Filters, /) -> Selection:
        return memories.selection(self._session, self._within & filters)

    def exists(self, filters: Filters, /) -> bool:
        return memories.exists(self._session, self._within & filters)

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        return memories.browse(self._session, self._within & filters, limit)

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        return memories.facet_counts(self._session, self._within & filters)

    def facet_values(self, facet: str, /) -> list[str]:
        return memories.facet_values(self._session, facet, self._within)

    def sessions(self, filters: Filters, /) -> list[str]:
        return memories.sessions(self._session, self._within & filters)

    def event_span(self) -> tuple[datetime, datetime]:
        return memories.event_span(self._session, self._within)

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        return memories.spans(self._session, chunks)

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        return memories.first_contexts(self._session, ids)

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        return memories.chunks_of(self._session, keys)

    def passages(self, chunks: Sequence[int], /) -> dict[int, Passage]:
        return memories.passages(self._session, chunks)

    def texts(self, keys: Sequence[int], /) -> dict[int, str]:
        return memories.texts(self._session, keys)

    def definitions(self, keys: Sequence[int], /) -> dict[int, Definitions]:
        return memories.definitions_of(self._session, keys)

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        return memories.lacking_definitions(self._session, count, after)

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        return keyword.search(self._session, self._statistics, terms, weights, self._within & filters, count)

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
        return keyword.holds_phrase(self._session, self._statistics, phrase, weights)

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        return self.corpus.is_held(word, columns)

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        return self.corpus.chunk_count(stem, columns)

    # -- vectors -------------------------------------------------------------------------------------------------------

    def active_model(self) -> Model | None:
        return models.active(self._session)

    def model(self, fingerprint: str, /) -> Model | None:
        return models.known(self._session, fingerprint)

    def is_large(self, model: Model, /) -> bool:
        return False

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        return vectors.search(self._session, model, vector, self._within & filters, count, threshold)

    def cosines(self, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        return vectors.cosines(self._session, model, vector, keys)

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        return vectors.of_chunks(self._session, model, chunks)

    def calibration(self, model: Model, /) -> Calibration | None:
        return models.calibration(self._session, model)

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        # Space by space, each from the end of the index: the highest of several spaces at once is found by reading all.
        highest = self._session.value(
            """
            select max(of_space.id) from unnest(:spaces::text[]) as wanted (space) cross join lateral (
                select chunks.id from chunks where chunks.space = wanted.space order by chunks.id desc limit 1
            ) as of_space
            """
        )
        return int(highest or 0)

    def sample(self, count: int, /) -> list[int]:
        return sample_chunks(self._session, count, self.corpus.chunks, self._within)

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        return memories.tokens_of(self._session, chunks)

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        return memories.embedded_parts(self._session, chunks)

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        [(yes, judged)] = self._session.rows(
            f"select count(*) filter (where accepted), count(*) from feedback where {activity.OWN}",
            space=self._session.space,
        )
        return yes, judged

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        return activity.query_vector(self._session, fingerprint, text)

    def has_query_vectors(self) -> bool:
        return bool(
            self._session.value(
                f"select exists (select 1 from query_vectors where {activity.OWN})", space=self._session.space
            )
        )

    def recent_searches(self, limit: int, /) -> list[Recent]:
        rows = self._session.rows(
            f"""
            select query_id, query, profile, at, origin, cardinality(hits), client, tool
            from searches where {activity.OWN} order by number desc limit :limit
            """,
            space=self._session.space,
            limit=limit,
        )
        return [Recent(id_, query, profile, from_micros(at), *said) for id_, query, profile, at, *said in rows]

    def last_search(self, origin: str, /) -> tuple[Recent, tuple[str, ...]] | None:
        rows = self._session.rows(
            f"""
            select query_id, query, profile, at, hits from searches
            where {activity.OWN} and origin = :origin and client = '' order by number desc limit 1
            """,
            space=self._session.space,
            origin=origin,
        )
        if not rows:
            return None
        [(id_, query, profile, at, hits)] = rows
        return Recent(id_, query, profile, from_micros(at), origin, len(hits)), tuple(hits)

    def query_of(self, query_id: str, /) -> str:
        found = self._session.value(
            f"select query from searches where {activity.OWN} and query_id = :id",
            space=self._session.space,
            id=storable(query_id),
        )
        return "" if found is None else str(found)

    def feedback(self) -> list[Feedback]:
        return activity.judged(self._session)

    # -- contents ------------------------------------------------------------------------------------------------------

    def count(self, filters: Filters, /) -> int:
        return memories.count(self._session, self._within & filters)

    def tags(self) -> list[str]:
        return memories.tags(self._session, self._within)

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        return memories.find_known(self._session, [identity(draft) for draft in drafts])

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        return memories.known_contents(self._session, contents, filters)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        return files.under(self._session, root, space)

    def file_states(self, places: Sequence[tuple[str, str]], /) -> dict[tuple[str, str], FileState]:
        rows = self._session.rows(
            f"""
            select files.space, files.path, mtime_ns, size, content_hash, indexed_at, dated
            from unnest(:paths::text[], :spaces_of::text[]) as place (path, space)
            join files on files.space = place.space and md5(files.path) = md5(place.path) where {of("files")}
            """,
            paths=[path for path, _ in places],
            spaces_of=[space for _, space in places],
        )
        return {(row[1], row[0]): replace(FileState(*row[1:-1]), dated=row[-1]) for row in rows}

    def file_keys(self, paths: Sequence[str], space: str, /) -> list[int]:
        return files.memories_of_paths(self._session, paths, space)

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for path, location, text in self._session.rows(
            f"""
            select source, location, text
            from memories join texts on texts.space = memories.space and texts.memory = memories.key
            where {of("memories")} and {files.SOURCES} order by memories.key
            """,
            paths=list(paths),
            space=space,
        ):
            found.setdefault(str(path), []).append((str(location), str(text)))
        return found

    def folders(self, space: str, /) -> list[Folder]:
        return files.listed_folders(self._session, space)

    def noted_folders(self, space: str, /) -> list[str]:
        return sorted((row.path for row in files.noted_folders(self._session, space)), key=len)

    def folder_above(self, path: str, space: str, /) -> str | None:
        above = (row.path for row in files.noted_folders(self._session, space) if is_below(path, row.path))
        return min(above, key=len, default=None)

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        return models.every(self._session)

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        return vectors.missing(self._session, model, count, after)

    def count_without_vectors(self, model: Model, /) -> int:
        return self._statistics.chunks - vectors.count(self._session, model)

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        return memories.without_tokens(self._session, count, after)


def sample_chunks(session: Session, count: int, total: int, within: Filters) -> list[int]:
    """Return the ids of up to ``count`` of the ``total`` chunks of what matches filters, evenly from first to last."""
    places = np.unique(np.linspace(1, total, min(count, total)).astype(np.int64)) if total else np.empty(0, np.int64)
    joined = "join memories on memories.space = chunks.space and memories.key = chunks.memory" if within else ""
    where, parameters = condition(POSTGRES, within) if within else (of("chunks"), {})
    rows = session.rows(
        f"""
        with placed as (
            select chunks.id, row_number() over (order by chunks.id) as place from chunks {joined} where {where}
        )
        select id from placed where place = any(:places) order by id
        """,
        **parameters,
        places=places.tolist(),
    )
    return [row[0] for row in rows]


# A snapshot that sees a part of a store only: nothing it returns depends on the words or memories of the rest.
#
# BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.

_OWNED = """
    join chunks on chunks.space = postings.space and chunks.id = postings.chunk
    join memories on memories.space = chunks.space and memories.key = chunks.memory
"""


class _PartStatistics:
    # Counted from the postings of the chunks of a part.

    def __init__(self, session: Session, within: Filters, whole: Statistics) -> None:
        self._session = session
        self._within = within
        self._whole = whole
        self._chunks: int | None = None

    @property
    def chunks(self) -> int:
        if self._chunks is None:
            where, parameters = condition(POSTGRES, self._within)
            joined = "chunks join memories on memories.space = chunks.space and memories.key = chunks.memory"
            self._chunks = int(self._session.value(f"select count(*) from {joined} where {where}", **parameters))
        return self._chunks

    def words(self, text: str, /) -> list[str]:
        return stems(text)

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        asked = {keyed(word): word for word in words}
        # A word that nothing in the store holds need not be looked for.
        held = self._whole.frequencies(asked.values())
        where, parameters = condition(POSTGRES, self._within)
        found = dict(
            self._session.rows(
                f"""
                select postings.term, count(*) from postings {_OWNED}
                where {of("postings")} and postings.term = any(:terms) and {where} group by postings.term
                """,
                **parameters,
                terms=[term for term, word in asked.items() if held[word]],
            )
        )
        return {word: found.get(term, 0) for term, word in asked.items()}

    def beginning(self, letters: str, /) -> Sequence[str]:
        return self._held(self._whole.beginning(letters))

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        return self._held(self._whole.ending(letters))

    def is_held(self, word: str, columns: Collection[str]) -> bool:
        where, parameters = condition(POSTGRES, self._within)
        terms = list(dict.fromkeys(map(keyed, stems(word))))
        in_columns = " or ".join(f"in_{column} > 0" for column in COLUMNS if bits_of([column]) & bits_of(columns))
        found = self._session.rows(
            f"""
            select distinct postings.term from postings {_OWNED}
            where {of("postings")} and postings.term = any(:terms) and ({in_columns or "false"}) and {where}
            """,
            **parameters,
            terms=terms,
        )
        return len(found) == len(terms)

    def chunk_count(self, stem: str, columns: Collection[str]) -> int:
        # In whichever column: it decides between spellings, and the part is not counted by columns.
        return self.frequencies([stem])[stem]

    def _held(self, words: Sequence[str]) -> Sequence[str]:
        found = self.frequencies(words) if words else {}
        return [word for word in words if found[word]]


class PartSnapshot(PostgresSnapshot):
    """A snapshot in which only the memories exist that match some filters."""

    def __init__(self, session: Session, cache: StatisticsCache, within: Filters) -> None:
        super().__init__(session, cache, within)
        self._part = _PartStatistics(session, within, self._statistics)

    @property
    def corpus(self) -> _PartStatistics:
        return self._part

    @property
    def is_all(self) -> bool:
        where, parameters = condition(POSTGRES, self._within)
        other = f"select 1 from memories where {of('memories')} and not coalesce({where}, false)"
        return not self._session.value(f"select exists ({other})", **parameters)

    def key_of(self, memory_id: str, /) -> int:
        found = self.keys(Filters(), [memory_id])
        if not found:
            raise UnknownMemory(memory_id)
        return found[0]

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        return bool(keyword.search(self._session, self._statistics, Terms(phrases=(phrase,)), weights, self._within, 1))
