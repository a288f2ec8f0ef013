"""A store, and what it holds at one moment, whole or in part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import Corpus, Engine, Forgotten, KeywordIndex, Model, VectorIndex, identity
from jupyter_memory.storage.sql import SHOWN_TIER, Cache, Session, delegated
from jupyter_memory.storage.tables import activity, files, thumbnails
from jupyter_memory.storage.tables import memories as rows
from jupyter_memory.storage.tables import models as known_models
from jupyter_memory.storage.transfer import Transfer
from jupyter_memory.storage.writer import RunLog, Thumbnails, Writer
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Terms
from jupyter_memory.types.protocols import UNREAD, Vectors

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Index = TypeVar("Index", KeywordIndex, VectorIndex)
EVERYTHING = Filters()


def _of_part(
    read: Callable[Concatenate[Session, Filters, Parameters], Result],
) -> Callable[Concatenate[Snapshot, Filters, Parameters], Result]:
    @wraps(read)
    def of_snapshot(
        snapshot: Snapshot, filters: Filters, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        return read(snapshot._session, snapshot.within & filters, *args, **kwargs)

    return of_snapshot


def _of_index(
    index: str, read: Callable[Concatenate[Index, Session, Parameters], Result]
) -> Callable[Concatenate[Snapshot, Parameters], Result]:
    @wraps(read)
    def of_snapshot(snapshot: Snapshot, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        of_engine = getattr(getattr(snapshot._engine, index), read.__name__)
        result: Result = of_engine(snapshot._session, *args, **kwargs)
        return result

    return of_snapshot


class Snapshot:
    """One state of a store: whatever others write meanwhile is not seen.

    Of a part, only the memories that match ``within`` are seen: whatever takes filters is bounded by it, and whatever
    takes keys got them from there. Most methods are functions of `storage.tables`, or of an index, with their
    docstrings.
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

    keys = _of_part(rows.keys_where)
    count = _of_part(rows.count)
    count_undated = _of_part(rows.count_undated)
    exists = _of_part(rows.exists)
    selection = _of_part(rows.selection)
    browse = _of_part(rows.browse)
    facet_counts = _of_part(rows.facet_counts)

    memories = delegated("_session", rows.load)
    whole = delegated("_session", rows.whole)
    known = delegated("_session", rows.known_contents)
    texts = delegated("_session", rows.texts)
    definitions = delegated("_session", rows.definitions_of)
    without_definitions = delegated("_session", rows.lacking_definitions)
    chunks_of = delegated("_session", rows.chunks_of)
    spans = delegated("_session", rows.spans)
    chunk_size = delegated("_session", rows.chunk_size)
    of_other_chunks = delegated("_session", rows.of_other_chunks)
    passages = delegated("_session", rows.passages)
    embedded_parts = delegated("_session", rows.embedded_parts)
    first_contexts = delegated("_session", rows.first_contexts)
    tokens = delegated("_session", rows.tokens_of)
    chunks_without_tokens = delegated("_session", rows.without_tokens)

    def key_of(self, memory_id: str, /) -> int:
        """Return the key of a memory by its id; raises ``UnknownMemory`` if there is none."""
        key = rows.key_of(self._session, memory_id)
        if key is None or (self.within and not self.keys(EVERYTHING, [memory_id])):
            raise UnknownMemory(memory_id)
        return key

    def memory(self, memory_id: str, /) -> Memory:
        """Return a memory by its id; raises ``UnknownMemory`` if there is none."""
        key = self.key_of(memory_id)
        return self.memories([key])[key]

    def by_id(self, ids: Iterable[str], filters: Filters = EVERYTHING, /) -> dict[str, Memory]:
        """Return those of these memories that are there and match filters, by their ids."""
        found = self.memories(self.keys(filters, [*ids])).values()
        return {memory.id: memory for memory in found}

    def facet_values(self, facet: str, filters: Filters = EVERYTHING, /) -> list[str]:
        """Return every value that a facet has among the memories that match filters."""
        return rows.facet_values(self._session, facet, self.within & filters)

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""
        return rows.tags(self._session, self.within)

    def event_span(self) -> tuple[datetime, datetime]:
        """Return the earliest and the latest event time of a store that is not empty."""
        return rows.event_span(self._session, self.within)

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        """Return for each draft the key of the memory that holds the same content in the same place, else None."""
        return rows.find_known(self._session, [identity(draft) for draft in drafts])

    def newest_chunk(self) -> int:
        """Return the highest id of a chunk, 0 in an empty store."""
        return int(self._session.value(self._session.dialect.newest_chunk))

    def sample(self, count: int, /) -> list[int]:
        """Return the ids of up to ``count`` chunks, evenly from the first to the last."""
        return self._engine.sample(self._session, count, self.within)

    # -- keywords and vectors ------------------------------------------------------------------------------------------

    keyword_scores = _of_index("keywords", KeywordIndex.scores)
    highlights = _of_index("keywords", KeywordIndex.highlights)
    cosines = _of_index("vectors", VectorIndex.cosines)
    vectors = _of_index("vectors", VectorIndex.read)
    chunks_without_vectors = _of_index("vectors", VectorIndex.missing)

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by BM25, as `KeywordIndex.search` finds them."""
        return self._engine.keywords.search(self._session, terms, weights, self.within & filters, count)

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by cosine, as `VectorIndex.search` finds them."""
        return self._engine.vectors.search(self._session, model, vector, self.within & filters, count, threshold)

    def count_without_vectors(self, model: Model, /) -> int:
        """Return how many chunks have no vector of a model."""
        return rows.count_chunks(self._session) - self._engine.vectors.count(self._session, model)

    # -- models, activity, files and folders ---------------------------------------------------------------------------

    active_model = delegated("_session", known_models.active)
    model = delegated("_session", known_models.known)
    models = delegated("_session", known_models.every)
    calibration = delegated("_session", known_models.calibration)

    accepted = delegated("_session", activity.accepted)
    feedback = delegated("_session", activity.judged)
    query_vector = delegated("_session", activity.query_vector)
    has_query_vectors = delegated("_session", activity.has_query_vectors)
    recent_searches = delegated("_session", activity.recent)
    last_search = delegated("_session", activity.last_search)
    query_of = delegated("_session", activity.query_of)

    files_under = delegated("_session", files.under)
    file_states = delegated("_session", files.states)
    file_keys = delegated("_session", files.memories_of_paths)
    file_texts = delegated("_session", files.texts)
    folders = delegated("_session", files.listed_folders)
    described = delegated("_session", files.described)
    noted_folders = delegated("_session", files.noted_folders)
    folder_above = delegated("_session", files.folder_above)


def counts(engine: Engine, session: Session) -> dict[str, Any]:
    """Return what a store holds in numbers: memories by kind, tier and space, files, pictures, models and vectors."""
    of, active = session.dialect.of("memories"), known_models.active(session)
    pictures, size = thumbnails.count(session)
    whole = f"{session.dialect.of('files')} and substr(content_hash, 1, 1) <> :unread"
    read = session.value(f"select count(*) from files where {whole}", unread=UNREAD)
    [(number, pinned)] = session.rows(f"select count(*), count(case when pinned then 1 end) from memories where {of}")
    kinds, tiers, spaces = (
        dict(session.rows(f"select {value}, count(*) from memories where {of} group by 1 order by 2 desc, 1"))
        for value in ("kind", SHOWN_TIER, "space")
    )
    return {
        "memories": number,
        "chunks": rows.count_chunks(session),
        "files": read,
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
            for model in known_models.every(session)
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
    database: Any  # has the connections
    forgotten = Forgotten()  # what can be taken back

    def __init__(self, database: Any, path: StorePath, keywords: KeywordIndex, vectors: VectorIndex) -> None:
        self.database = database
        self.path = path
        self.keywords, self.vectors = keywords, vectors
        self.writer, self.runs, self.thumbnails = Writer(self), RunLog(self), Thumbnails(self)
        self.transfer = Transfer(self)
        # What the user should know of the store, such as that it is read-only.
        self.notices: Sequence[str] = database.notices
        # Whether nothing can be written, and whether opening the store made it.
        self.read_only, self.created = bool(database.read_only), bool(database.created)
        self._complete: Cache[Filters, bool] = Cache(16)
        self.removals = 0  # how often the searches were forgotten through this object

    @property
    def replaced(self) -> bool:
        """Return whether the store was moved, removed or replaced since it was opened: nothing is written to it."""
        return bool(self.database.replaced)

    @property
    def writes_at_once(self) -> bool:
        """Return whether a small change can be written without waiting for the disk."""
        return bool(self.database.writes_at_once)

    def refuse_writing(self) -> None:
        """Refuse every change from now on, as where the disk or the server does."""
        self.read_only = self.database.read_only = True

    def read(self) -> AbstractContextManager[Any]:
        reading: AbstractContextManager[Any] = self.database.read()
        return reading

    @contextmanager
    def snapshot(self, within: Filters | None = None) -> Iterator[Snapshot]:
        """Read within one state of the store, of which only the memories that match ``within`` are seen."""
        part = within or Filters()
        with self.read() as session:
            # A part that is all of the store costs nothing.
            covered = part and self._complete.of(session.state, part, lambda: rows.covers(session, part))
            yield Snapshot(self, session, Filters() if covered else part)

    def interrupt(self, thread: int, /) -> bool:
        """Stop what a thread, by its ``get_ident()``, reads: it raises ``Interrupted``; return whether it read."""
        return bool(self.database.interrupts.stop(thread))

    @abstractmethod
    def identity(self) -> object: ...  # equal where two names lead to the same store
    @abstractmethod
    def stats(self) -> dict[str, Any]: ...  # `MemoryStore.stats` and the four below say what these are
    @abstractmethod
    def sizes(self) -> Mapping[str, int]: ...  # bytes on disk, for which all of it is read
    @abstractmethod
    def held(self) -> int: ...  # bytes without room that is free, known at once
    @abstractmethod
    def problems(self) -> Iterable[str]: ...
    @abstractmethod
    def backup(self, target: Path, /) -> None: ...

    def close(self) -> None:
        self.database.close()
