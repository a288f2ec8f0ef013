"""What a store holds at one moment, whole or in part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

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
from jupyter_memory.storage.postgres.tables import activity, memories
from jupyter_memory.storage.shared import from_micros, identity
from jupyter_memory.storage.sql import POSTGRES, SHOWN_TIER, condition
from jupyter_memory.storage.tables import files
from jupyter_memory.storage.words import keyed, stems
from jupyter_memory.text.code import PYTHON, Definitions
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.chunk_tokens import MARK, ChunkTokens
from jupyter_memory.types.protocols import FileState, Vectors
from jupyter_memory.types.report import Feedback, Folder, Recent

Result = TypeVar("Result")

_MEMORIES = f"from memories where {of('memories')}"
_CHUNKS = f"from chunks where {of('chunks')}"
_CHUNK_TEXTS = f"from chunk_texts where {of('chunk_texts')} and id = any(:chunks) order by id"
# Browsing shows what people chose to keep before what was indexed; a search ranks the tiers differently. Cells of one
# time come in the order of their file, whose cells are written together.
_BROWSE_ORDER = (
    f"case {SHOWN_TIER} when 'core' then 0 when 'note' then 1 when 'mcp' then 2 "
    "else 3 + (kind = 'history')::integer end, event_at desc, source, memories.key"
)
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
        filters = self._within & filters
        where, parameters = condition(POSTGRES, filters)
        tagged = "exists (select 1 from tags where tags.space = memories.space and tags.memory = memories.key)"
        rows = self._session.rows(
            f"select id, kind, pinned, {tagged} from memories where {where} order by key", **parameters
        )
        return Selection(
            ids=tuple(str(row[0]) for row in rows),
            kinds=dict(Counter(str(row[1]) for row in rows).most_common()),
            pinned=sum(bool(row[2]) for row in rows),
            tagged=sum(bool(row[3]) for row in rows),
            filters=filters,
        )

    def exists(self, filters: Filters, /) -> bool:
        where, parameters = condition(POSTGRES, self._within & filters)
        return bool(self._session.value(f"select exists (select 1 from memories where {where})", **parameters))

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        where, parameters = condition(POSTGRES, self._within & filters)
        rows = self._session.rows(
            f"{memories.SELECT} where {where} order by {_BROWSE_ORDER} limit :limit", **parameters, limit=limit
        )
        return [memories.memory_of(row) for row in rows]

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        return memories.facet_counts(self._session, self._within & filters)

    def facet_values(self, facet: str, /) -> list[str]:
        return [row[0] for row in self._session.rows(_FACET_VALUES[facet])]

    def sessions(self, filters: Filters, /) -> list[str]:
        where, parameters = condition(POSTGRES, self._within & filters)
        rows = self._session.rows(
            f"select distinct session from memories where session is not null and {where} order by 1", **parameters
        )
        return [row[0] for row in rows]

    def event_span(self) -> tuple[datetime, datetime]:
        where, parameters = condition(POSTGRES, self._within)
        [(first, last)] = self._session.rows(
            f"select min(event_at), max(event_at) from memories where {where}", **parameters
        )
        return from_micros(first or 0), from_micros(last or 0)

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        rows = self._session.rows(
            f"select id, start, stop, line, context {_CHUNKS} and id = any(:chunks) order by id",
            chunks=list(chunks),
        )
        return {row[0]: ChunkSpan(*row[1:]) for row in rows}

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        rows = self._session.rows(
            f"""
            select distinct on (memories.key) memories.id, chunks.context
            from memories join chunks on chunks.space = memories.space and chunks.memory = memories.key
            where {of("memories")} and memories.id = any(:ids)
            order by memories.key, chunks.start
            """,
            ids=list(ids),
        )
        return dict(rows)

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        return memories.chunks_of(self._session, keys)

    def passages(self, chunks: Sequence[int], /) -> dict[int, Passage]:
        rows = self._session.rows(f"select id, title, context, text, tags {_CHUNK_TEXTS}", chunks=list(chunks))
        return {row[0]: Passage(*row[1:]) for row in rows}

    def texts(self, keys: Sequence[int], /) -> dict[int, str]:
        return memories.texts(self._session, keys)

    def definitions(self, keys: Sequence[int], /) -> dict[int, Definitions]:
        return memories.definitions_of(self._session, keys)

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        rows = self._session.rows(
            f"select key from memories where {memories.LACKING} and key > :after order by key limit :count",
            python=PYTHON,
            after=after,
            count=count,
        )
        return [row[0] for row in rows]

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
        return vectors.active(self._session)

    def model(self, fingerprint: str, /) -> Model | None:
        return vectors.known(self._session, fingerprint)

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
        return vectors.calibration(self._session, model)

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
        return memories.sample_chunks(self._session, count, self.corpus.chunks, self._within)

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        return memories.tokens_of(self._session, chunks)

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        rows = self._session.rows(f"select id, kind, title, context, text {_CHUNK_TEXTS}", chunks=list(chunks))
        return {row[0]: EmbeddedParts(*row[1:]) for row in rows}

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
        where, parameters = condition(POSTGRES, self._within & filters)
        return int(self._session.value(f"select count(*) from memories where {where}", **parameters))

    def tags(self) -> list[str]:
        rows = self._session.rows(f"select tag from tags where {of('tags')} group by tag order by count(*) desc, tag")
        return [row[0] for row in rows]

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        return memories.find_known(self._session, [identity(draft) for draft in drafts])

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        where, parameters = condition(POSTGRES, filters)
        rows = self._session.rows(
            f"""
            select id, content_hash from memories
            where {where} and (id = any(:ids) or content_hash = any(:contents))
            """,
            **parameters,
            ids=[*map(storable, contents)],
            contents=[*map(storable, contents.values())],
        )
        others = {content for id_, content in rows if id_ not in contents}
        return {id_ for id_, _ in rows if id_ in contents} | {one for one, held in contents.items() if held in others}

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        return files.under(self._session, root, space)

    def file_states(self, places: Sequence[tuple[str, str]], /) -> dict[tuple[str, str], FileState]:
        return files.states(self._session, places)

    def file_keys(self, paths: Sequence[str], space: str, /) -> list[int]:
        return files.memories_of_paths(self._session, paths, space)

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        return files.texts(self._session, paths, space)

    def folders(self, space: str, /) -> list[Folder]:
        return files.listed_folders(self._session, space)

    def noted_folders(self, space: str, /) -> list[str]:
        return files.noted_folders(self._session, space)

    def folder_above(self, path: str, space: str, /) -> str | None:
        return files.folder_above(self._session, path, space)

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        return vectors.models(self._session)

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        return vectors.missing(self._session, model, count, after)

    def count_without_vectors(self, model: Model, /) -> int:
        return self._statistics.chunks - vectors.count(self._session, model)

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        rows = self._session.rows(
            f"""
            select id {_CHUNKS} and id > :after and not exists (
                select 1 from chunk_tokens
                where chunk_tokens.space = chunks.space and chunk_tokens.chunk = chunks.id
                    and substr(ids, 1, 2) = :mark
            )
            order by id limit :count
            """,
            after=after,
            count=count,
            mark=MARK,
        )
        return [row[0] for row in rows]


# A snapshot that sees a part of a store only: nothing it returns depends on the words or memories of the rest.
#
# BM25 alone is that of the whole store, and with it the order of hits: its index counts words for all of them together.

_COLUMNS = {
    "tag": "tags.tag", "tier": SHOWN_TIER, "path": "memories.source", "kind": "memories.kind", "lang": "memories.lang",
    "space": "memories.space", "session": "memories.session",
}  # fmt: skip
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

    def facet_values(self, facet: str, /) -> list[str]:
        where, parameters = condition(POSTGRES, self._within)
        tagged = "memories join tags on tags.space = memories.space and tags.memory = memories.key"
        joined = tagged if facet == "tag" else "memories"
        column = _COLUMNS[facet]
        found = f"select distinct {column} from {joined} where coalesce({column}, '') <> '' and {where} order by 1"
        return [row[0] for row in self._session.rows(found, **parameters)]

    def tags(self) -> list[str]:
        counts = memories.facet_counts(self._session, self._within)["tag"]
        return sorted(counts, key=lambda tag: (-counts[tag], tag))

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        return bool(keyword.search(self._session, self._statistics, Terms(phrases=(phrase,)), weights, self._within, 1))
