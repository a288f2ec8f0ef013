"""A store, and what it holds at one moment, whole or in part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import (
    Calibration,
    ChunkSpan,
    ChunkVectors,
    Corpus,
    EmbeddedParts,
    Engine,
    Forgotten,
    KeywordIndex,
    Model,
    Passage,
    VectorIndex,
    identity,
)
from jupyter_memory.storage.sql import SHOWN_TIER, Cache, Session
from jupyter_memory.storage.tables import activity, files, memories, models, thumbnails
from jupyter_memory.storage.transfer import Transfer
from jupyter_memory.storage.writer import RunLog, Thumbnails, Writer
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Selection, Terms
from jupyter_memory.types.memory import ChunkTokens
from jupyter_memory.types.protocols import FileState, Vectors
from jupyter_memory.types.report import Feedback, Folder, Recent


class Snapshot:
    """One state of a store: whatever others write meanwhile is not seen.

    Of a part, only the memories that match ``within`` are seen: whatever takes filters is bounded by it, and whatever
    takes keys got them from there.
    """

    def __init__(self, engine: Engine, session: Session, within: Filters) -> None:
        self._engine = engine
        self._session = session
        self.within = within

    @cached_property
    def corpus(self) -> Corpus:
        """Return the statistics of the words, of the part only."""
        return self._engine.keywords.corpus(self._session, self.within)

    @property
    def version(self) -> str:
        """Return what differs between any two states of the store's chunks and their index."""
        return self._engine.keywords.version(self._session)

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        """Return the key of a memory by its id.

        Raises:
            UnknownMemory: no memory has this id.
        """
        key = memories.key_of(self._session, memory_id)
        if key is None or (self.within and not self.keys(Filters(), [memory_id])):
            raise UnknownMemory(memory_id)
        return key

    def memories(self, keys: Sequence[int], /) -> dict[int, Memory]:
        """Return the memories with these keys, all of which must be there."""
        return memories.load(self._session, keys)

    def keys(self, filters: Filters, among: Sequence[str] | None = None, /) -> list[int]:
        """Return the keys of the memories that the filters let through, of those with the ids ``among`` if given."""
        return memories.keys_where(self._session, self.within & filters, among)

    def selection(self, filters: Filters, /) -> Selection:
        """Return which memories the filters let through, and what they are."""
        return memories.selection(self._session, self.within & filters)

    def exists(self, filters: Filters, /) -> bool:
        """Return whether the filters let any memory through."""
        return memories.exists(self._session, self.within & filters)

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        """Return memories without a query: core, note, mcp, file, history; the newest first within each."""
        return memories.browse(self._session, self.within & filters, limit)

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        """Return how many of the memories that the filters let through have each value of kind, lang, tier and tag."""
        return memories.facet_counts(self._session, self.within & filters)

    def facet_values(self, facet: str, /) -> list[str]:
        """Return every value that a facet has in the store."""
        return memories.facet_values(self._session, facet, self.within)

    def sessions(self, filters: Filters, /) -> list[str]:
        """Return the names of all sessions of the memories that the filters let through."""
        return memories.sessions(self._session, self.within & filters)

    def event_span(self) -> tuple[datetime, datetime]:
        """Return the earliest and the latest event time of a store that is not empty."""
        return memories.event_span(self._session, self.within)

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        """Return where chunks lie in their memories' texts, by chunk."""
        return memories.spans(self._session, chunks)

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        """Return the structural prefix of the first chunk of memories, by memory id."""
        return memories.first_contexts(self._session, ids)

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        """Return the ids of the chunks of memories."""
        return memories.chunks_of(self._session, keys)

    def passages(self, chunks: Sequence[int], /) -> Mapping[int, Passage]:
        return memories.passages(self._session, chunks)

    def texts(self, keys: Sequence[int], /) -> Mapping[int, str]:
        return memories.texts(self._session, keys)

    def definitions(self, keys: Sequence[int], /) -> Mapping[int, Definitions]:
        return memories.definitions_of(self._session, keys)

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by BM25 (higher is better), each by its best chunk.

        ``weights`` maps columns to BM25 weights; a column that is not among them is not searched.
        """
        return self._engine.keywords.search(self._session, terms, weights, self.within & filters, count)

    def keyword_scores(self, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /) -> dict[int, float]:
        """Return the BM25 of those of these memories that hold any of the terms, whatever the filters."""
        return self._engine.keywords.scores(self._session, terms, weights, keys)

    def highlights(
        self, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        """Return where the terms occur in the texts of chunks, ``[start, end)`` in code points, by chunk."""
        return self._engine.keywords.highlights(self._session, terms, weights, texts)

    # -- vectors -------------------------------------------------------------------------------------------------------

    def active_model(self) -> Model | None:
        """Return the model that searches use, None in a store without vectors."""
        return models.active(self._session)

    def model(self, fingerprint: str, /) -> Model | None:
        """Return the model of this fingerprint, None where the store holds no vectors of it."""
        return models.known(self._session, fingerprint)

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by cosine, each by its best chunk; none below ``threshold``."""
        return self._engine.vectors.search(self._session, model, vector, self.within & filters, count, threshold)

    def cosines(self, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        """Return the best cosine of each of these memories that has vectors."""
        return self._engine.vectors.cosines(self._session, model, vector, keys)

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        """Return the vectors of those of these chunks that have one."""
        return self._engine.vectors.read(self._session, model, chunks)

    def calibration(self, model: Model, /) -> Calibration | None:
        """Return how far a model can be trusted here, None where that was never measured."""
        return models.calibration(self._session, model)

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        """Return the highest id of a chunk, 0 in an empty store."""
        return int(self._session.value(self._session.dialect.newest_chunk))

    def sample(self, count: int, /) -> list[int]:
        """Return the ids of up to ``count`` chunks, evenly from the first to the last."""
        return self._engine.sample(self._session, count, self.within)

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        """Return the tokens of those of these chunks for which they are stored."""
        return memories.tokens_of(self._session, chunks)

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        """Return what is embedded of chunks, by chunk."""
        return memories.embedded_parts(self._session, chunks)

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        """Return the keys of up to ``count`` memories in Python above ``after`` without definitions, lowest first."""
        return memories.lacking_definitions(self._session, count, after)

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        """Return how many judged hits were what was looked for, and how many were judged."""
        return activity.accepted(self._session)

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        """Return the stored vector of a question and whether it should move to the front, None where there is none."""
        return activity.query_vector(self._session, fingerprint, text)

    def has_query_vectors(self) -> bool:
        """Return whether the vector of any question is stored."""
        return activity.has_query_vectors(self._session)

    def recent_searches(self, limit: int, /) -> list[Recent]:
        """Return the last searches, the newest first."""
        return activity.recent(self._session, limit)

    def last_search(self, origin: str, /) -> tuple[Recent, tuple[str, ...]] | None:
        """Return the last search of a person from one place, with the ids of its hits; None where none is kept."""
        return activity.last_search(self._session, origin)

    def query_of(self, query_id: str, /) -> str:
        """Return the words of a recent search, empty where it is not known."""
        return activity.query_of(self._session, query_id)

    def feedback(self) -> list[Feedback]:
        """Return what people said of hits, the newest first."""
        return activity.judged(self._session)

    # -- contents ------------------------------------------------------------------------------------------------------

    def count(self, filters: Filters, /) -> int:
        """Return how many memories the filters let through."""
        return memories.count(self._session, self.within & filters)

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""
        return memories.tags(self._session, self.within)

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        """Return for each draft the key of the memory that holds the same content in the same place, else None."""
        return memories.find_known(self._session, [identity(draft) for draft in drafts])

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        """Return which of these ids have a memory, or another memory says the same; ``contents`` maps ids to hashes."""
        return memories.known_contents(self._session, contents, filters)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        """Return the files at or below a path that are indexed in a space, by path."""
        return files.under(self._session, root, space)

    def file_states(self, places: Sequence[tuple[str, str]], /) -> dict[tuple[str, str], FileState]:
        """Return what is known of indexed files, by path and space; files that are not indexed are left out."""
        return files.states(self._session, places)

    def file_keys(self, paths: Sequence[str], space: str, /) -> list[int]:
        """Return the keys of the memories that files hold in a space."""
        return files.memories_of_paths(self._session, paths, space)

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        """Return the location and the text of each memory that files hold in a space, by path."""
        return files.texts(self._session, paths, space)

    def folders(self, space: str, /) -> list[Folder]:
        """Return the indexed folders and single files of a space, by path, not compared with the disk."""
        return files.listed_folders(self._session, space)

    def noted_folders(self, space: str, /) -> list[str]:
        """Return the paths of the folders on the list, those that are above others first."""
        return files.noted_folders(self._session, space)

    def folder_above(self, path: str, space: str, /) -> str | None:
        """Return the topmost folder on the list that a path lies in, None where there is none."""
        return files.folder_above(self._session, path, space)

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """Return every model whose vectors the store holds, complete or not, the oldest first."""
        return models.every(self._session)

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        """Return up to ``count`` chunks above ``after`` that have no vector of a model, lowest first."""
        return self._engine.vectors.missing(self._session, model, count, after)

    def count_without_vectors(self, model: Model, /) -> int:
        """Return how many chunks have no vector of a model."""
        return memories.count_chunks(self._session) - self._engine.vectors.count(self._session, model)

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        """Return up to ``count`` chunks above ``after`` whose tokens are not stored, lowest first."""
        return memories.without_tokens(self._session, count, after)


def counts(engine: Engine, session: Session) -> dict[str, Any]:
    """Return what a store holds in numbers: memories by kind, tier and space, files, pictures, models and vectors."""
    of, active = session.dialect.of("memories"), models.active(session)
    pictures, size = thumbnails.count(session)
    [(number, pinned)] = session.rows(f"select count(*), count(case when pinned then 1 end) from memories where {of}")
    kinds, tiers, spaces = (
        dict(session.rows(f"select {value}, count(*) from memories where {of} group by 1 order by 2 desc, 1"))
        for value in ("kind", SHOWN_TIER, "space")
    )
    return {
        "memories": number,
        "chunks": memories.count_chunks(session),
        "files": files.count_read(session),
        "thumbnails": {"number": pictures, "bytes": size},
        "pinned": pinned,
        "kinds": kinds,
        "tiers": tiers,
        "spaces": spaces,
        "model": active.name if active else None,
        "models": [
            {
                "name": model.name,
                "fingerprint": model.fingerprint,
                "dimensions": model.dimensions,
                "active": model == active,
                "vectors": (held := engine.vectors.count(session, model)),
                "bytes": held * engine.vectors.bytes_each(model),
            }
            for model in models.every(session)
        ],
    }


# What the tables are for, by their names; whatever is not here is small. A table of vectors is that of one model.
_TABLES = {
    "texts": ("memories", "texts", "tags", "chunks", "definitions"),
    "words": ("keyword_*", "word_*", "postings", "frequencies", "totals"),
    "vectors": ("vectors", "vectors_*", "codes_*", "chunk_tokens", "models", "trust"),
    "pictures": ("thumbnails",),
    "history": ("runs",),
    "searches": ("searches", "feedback", "query_vectors", "query_keys"),
    "files": ("files", "folders"),
    "forgotten": ("forgotten",),
}


def by_kind(sizes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the bytes of tables, given with their indexes, by what they are for."""
    found = dict.fromkeys((*_TABLES, "other"), 0)
    for table, size in sizes:
        kinds = (kind for kind, names in _TABLES.items() if any(fnmatchcase(table, name) for name in names))
        found[next(kinds, "other")] += size
    return found


class Storage(Engine):
    """A store of memories in a database."""

    # Has the connections.
    database: Any
    # What was forgotten and can be taken back.
    forgotten: Forgotten

    def __init__(self, database: Any, path: StorePath, keywords: KeywordIndex, vectors: VectorIndex) -> None:
        self.database = database
        self.path = path
        self.keywords, self.vectors = keywords, vectors
        self.writer, self.runs, self.thumbnails = Writer(self), RunLog(self), Thumbnails(self)
        self.transfer = Transfer(self)
        self._complete: Cache[Filters, bool] = Cache(16)

    @property
    def notices(self) -> Sequence[str]:
        """Return what the user should know of the store, such as that it is read-only."""
        notices: Sequence[str] = self.database.notices
        return notices

    @property
    def read_only(self) -> bool:
        """Return whether nothing can be written."""
        return bool(self.database.read_only)

    @property
    def created(self) -> bool:
        """Return whether opening the store made it."""
        return bool(self.database.created)

    @property
    def replaced(self) -> bool:
        """Return whether the store was moved, removed or replaced since it was opened: nothing is written to it."""
        return bool(self.database.replaced)

    @property
    def writes_at_once(self) -> bool:
        """Return whether a small change can be written without waiting for the disk."""
        return bool(self.database.writes_at_once)

    def read(self) -> AbstractContextManager[Any]:
        reading: AbstractContextManager[Any] = self.database.read()
        return reading

    @contextmanager
    def snapshot(self, within: Filters | None = None) -> Iterator[Snapshot]:
        """Read within one state of the store, of which only the memories that match ``within`` are seen.

        Raises:
            Interrupted: another thread stopped it.
        """
        part = within or Filters()
        with self.read() as session:
            # A part that is all of the store costs nothing.
            covered = part and self._complete.of(
                self.keywords.version(session), part, lambda: memories.covers(session, part)
            )
            yield Snapshot(self, session, Filters() if covered else part)

    def interrupt(self, thread: int, /) -> bool:
        """Stop what a thread reads, which then raises ``Interrupted``; return whether it was reading anything."""
        return bool(self.database.interrupts.stop(thread))

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return counts by kind, tier and space, the models with their vectors and bytes, files, and size on disk."""

    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk by what they are for; all of it is read, which takes a moment in a large store."""

    @abstractmethod
    def held(self) -> int:
        """Return the bytes of what the store holds, without room that is free; known at once."""

    @abstractmethod
    def problems(self) -> Iterable[str]:
        """Check the store and return what is wrong, each with what to do."""

    @abstractmethod
    def backup(self, target: Path, /) -> None:
        """Copy the store as it is at this moment, while others may go on writing.

        Raises:
            InputError: there is something at ``target`` already.
        """

    def close(self) -> None:
        """Close the store; closing it again does nothing."""
        self.database.close()
