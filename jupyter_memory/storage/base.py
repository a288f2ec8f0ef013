"""What a store asks of a database, whichever it is: values, and protocols of an engine and its two indexes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.text.code import Definitions
from jupyter_memory.text.markdown import embedded_head
from jupyter_memory.types import Chunk, Draft, Filters, Memory, Outcome, Run, ScoredChunk, Terms
from jupyter_memory.types.memory import ChunkTokens, Pictures, Thumbnail
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Recent, Undoable


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose vectors the store holds."""

    id: int
    fingerprint: str
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft ready to be written: chunked, and embedded if there is a model."""

    draft: Draft
    vectors: Vectors | None  # one for each chunk
    tokens: Sequence[ChunkTokens] = ()  # of each chunk; without them a search tokenises what it compares
    idents: Sequence[str] = ()  # the words of each chunk's column ``ident``, where they are known already
    definitions: Definitions | None = None  # the names that a source in Python defines


@dataclass(frozen=True, slots=True)
class Predecessor:
    """What a memory keeps when its content is replaced: its id, what its user gave it, how often it was read."""

    id: str | None  # None for the further parts of a file that was one memory so far
    pinned: bool
    tags: tuple[str, ...]
    accessed: int
    stored_at: datetime | None = None  # None where the text is another now


@dataclass(frozen=True, slots=True)
class Passage:
    """What the keyword index holds of a chunk, as text."""

    title: str = ""
    context: str = ""
    text: str = ""
    tags: str = ""
    ident: str = ""  # the identifiers of title and text

    def __str__(self) -> str:
        return "\n".join(part for part in (self.title, self.context, self.text, self.tags) if part)


class ChunkSpan(NamedTuple):
    """Where a chunk begins and ends in its memory's text, its first line in the file, and its structural prefix."""

    start: int
    stop: int
    line: int | None
    context: str


class ChunkVectors(NamedTuple):
    """Chunks that have a vector: their ids and the keys of their memories, ``(n,)``, and the vectors, ``(n, d)``."""

    ids: NDArray[np.int64]
    memories: NDArray[np.int64]
    vectors: NDArray[np.float32]


class ChunkWords(NamedTuple):
    """What the keyword index gets of a chunk: where it belongs, and the words of its columns."""

    space: str
    memory: int
    chunk: int
    title: str
    context: str
    text: str
    tags: str
    ident: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self[3:]


class EmbeddedParts(NamedTuple):
    """What is embedded of a chunk: `text.markdown.embedding_text` makes one text of it."""

    kind: str
    title: str
    context: str
    text: str

    def head_and_text(self) -> tuple[str, str]:
        return embedded_head(self.kind, self.title, self.context), self.text


class Calibration(NamedTuple):
    """How far a model can be trusted in a store, and how many chunks the store had when that was measured."""

    chunks: int
    value: float


class QueryVector(NamedTuple):
    """The vector of a question, float32 ``(dimensions,)``, by the model with this fingerprint."""

    fingerprint: str
    text: str
    vector: Vectors


def mismatch(active: Model, embedder: Embedder | Model) -> str:
    """Say that a store and an embedder do not go together, and how to go on."""
    return (
        f"This store was written with {active.name} ({active.dimensions} dimensions), and the embedder is "
        f"{embedder.name} ({embedder.dimensions}). Open it with embedder='auto', or write every vector anew with "
        "store.reembed()."
    )


# What rows hold: times as whole numbers, the ids of new memories, and what makes two memories the same.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ID_BYTES = 8
Identity = tuple[str, str, str, str, str]  # source, kind, space, location and content hash of a memory


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970; exact, unlike ``timestamp()``."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


@lru_cache(4_096)  # many memories are stored at one moment
def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(0, 0, micros)


def content_hash(draft: Draft) -> str:
    return fingerprint(draft.title, draft.text)


def fingerprint(title: str, text: str) -> str:
    return blake2b(f"{title}\0{text}".encode(), digest_size=16).hexdigest()


def identity(draft: Draft) -> Identity:
    return (draft.source, draft.kind, draft.space, draft.location, content_hash(draft))


def new_ids(count: int) -> list[str]:
    """Return ids of new memories, all of them with one call of the system."""
    written = secrets.token_hex(_ID_BYTES * count)
    return [written[begin : begin + 2 * _ID_BYTES] for begin in range(0, len(written), 2 * _ID_BYTES)]


# From scored chunks to the best memories, each by its best chunk, with the same order for equal scores.


class Row(NamedTuple):
    """A chunk that an index returned, with what decides between equal scores."""

    memory: int
    chunk: int
    score: float
    event_at: int
    content_hash: str
    source: str
    location: str


def cut(rows: Sequence[Row], count: int) -> list[ScoredChunk]:
    """Return the best ``count`` memories by their best chunks; of equal scores the newer, then by content and place."""
    best: dict[int, Row] = {}
    for row in rows:
        known = best.get(row.memory)
        # Of two chunks with equal scores the earlier represents the memory.
        if known is None or (-row.score, row.chunk) < (-known.score, known.chunk):
            best[row.memory] = row
    ordered = sorted(
        best.values(), key=lambda row: (-row.score, -row.event_at, row.content_hash, row.source, row.location)
    )
    return [ScoredChunk(row.memory, row.chunk, row.score) for row in ordered[:count]]


def is_settled(rows: Sequence[Row], asked: int, count: int) -> bool:
    """Return whether ``rows``, the best ``asked`` chunks in order, are enough to name the best ``count`` memories."""
    if len(rows) < asked:
        return True
    # No chunk that is not among them can tie with memories that score better than the last row.
    return len({row.memory for row in rows if row.score > rows[-1].score}) >= count


# The words of a store, as signals read them.


class Corpus(Protocol):
    """The statistics of the words of a store or a part of it; a word is a stem, as the keyword index has it."""

    @property
    def chunks(self) -> int: ...  # how many there are
    def words(self, text: str, /) -> list[str]: ...  # those of a text, in their order
    # How many chunks hold each word, 0 for none; those that are ``searched`` for next are read at once.
    def frequencies(self, words: Iterable[str], /, *, searched: bool = False) -> Mapping[str, int]: ...
    def beginning(self, letters: str, /) -> Sequence[str]: ...  # the words of the index that begin with these letters
    # The words of nine letters and more that end with any of these letters; all are read.
    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]: ...
    # Whether any chunk holds a word, or words side by side, in one of these columns.
    def holds_word(self, word: str, columns: Collection[str], /) -> bool: ...
    def holds_phrase(self, phrase: str, columns: Collection[str], /) -> bool: ...
    # How many chunks hold a stem in that of these columns where most do.
    def chunk_count(self, stem: str, columns: Collection[str], /) -> int: ...


# What a database is to a store; a session is one of its own transactions.

Result = TypeVar("Result")


class KeywordIndex(Protocol):
    """The words of chunks, each with the columns that hold it, and BM25 over them; higher is better.

    ``weights`` maps columns to BM25 weights; a column that is not among them is not searched.
    """

    def version(self, session: Any, /) -> str: ...  # what differs between any two states of the index
    def corpus(self, session: Any, within: Filters, /) -> Corpus: ...  # the words of the memories that match
    def search(
        self, session: Any, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories, each by its best chunk."""

    def scores(
        self, session: Any, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /
    ) -> dict[int, float]:
        """Return the BM25 of those of these memories that hold any of the terms, whatever the filters."""

    def highlights(
        self, session: Any, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        """Return where the terms occur in the texts of chunks, ``[start, end)`` in code points, by chunk."""

    def put(self, session: Any, words: Sequence[ChunkWords], /) -> None: ...  # index chunks that are not in the index
    # Take chunks out before they change or go; False if ``finish`` is to be called.
    def remove(self, session: Any, chunks: Sequence[int], /) -> bool: ...
    def finish(self, session: Any, /) -> None: ...  # what is quicker at the end of the transaction
    def rebuild(self, session: Any, /) -> None: ...  # all anew, as the texts of the chunks are now


class VectorIndex(Protocol):
    """The vectors of chunks, of each model, and the search for the nearest."""

    def search(
        self, session: Any, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by cosine, each by its best chunk; none below ``threshold``."""

    def cosines(self, session: Any, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        """Return the best cosine of each of these memories that has vectors."""

    def read(self, session: Any, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        """Return the vectors of those of these chunks that have one."""

    def missing(self, session: Any, model: Model, limit: int, after: int = 0, /) -> list[int]:
        """Return up to ``limit`` chunks above ``after`` that have no vector of a model, lowest first."""

    def register(self, session: Any, embedder: Embedder | Model, /, *, indexed: bool = True) -> Model:
        """Return the model of an embedder, added where the store lacks it; the first one is the active one.

        What is quicker for many vectors at once is left to ``Engine.tidy`` if it need not be ``indexed`` yet.
        """

    # The model of an embedder; raises ``EmbeddingMismatch`` where the store holds the vectors of another one.
    def for_writing(self, session: Any, embedder: Embedder | Model, /) -> Model: ...
    # Let searches use the model of an embedder, unless a chunk lacks its vector; returns whether they do.
    def activate(self, session: Any, embedder: Embedder, /) -> bool: ...
    # Store float32 ``(len(chunks), dimensions)`` of unit length; returns how many.
    def add(self, session: Any, model: Model, chunks: Sequence[int], vectors: Vectors, /) -> int: ...
    # Remove the vectors of chunks, of every model or of some; or a model, and return how many vectors it had.
    def remove(self, session: Any, chunks: Sequence[int], of: Sequence[Model] | None = None, /) -> None: ...
    def drop(self, session: Any, model: Model, /) -> int: ...
    def damaged(self, session: Any, model: Model, /) -> list[int]: ...  # chunks whose vector is
    def count(self, session: Any, model: Model, /) -> int: ...
    def bytes_each(self, model: Model, /) -> int: ...  # of a vector in the store


class Engine(Protocol):
    """A database: its two indexes, and what it alone can say."""

    keywords: KeywordIndex
    vectors: VectorIndex

    # Within one state of the store; a read within another one is part of it.
    def read(self) -> AbstractContextManager[Any]: ...
    def change(
        self, work: Callable[[Any], Result], /, *, at_once: float | None = None, yielding: bool = False
    ) -> Result:
        """Run ``work`` in one transaction; it may run twice, so it changes nothing outside.

        ``at_once`` is for what may be lost in a power cut: it does not wait for the disk, and so many seconds for
        another writer. ``yielding`` is for the steps of long work, which let other writers go first.
        """

    # What removes something, also on a full disk, and tidying up after it.
    def remove(self, work: Callable[[Any], Result], /, *, compact_at: float = 0.5) -> Result: ...
    def scrub(self) -> None: ...  # leaves no trace of what was removed
    def tidy(self, *, compact_at: float = 0.5) -> None:
        """Do what is quicker for many changes at once, and give room back if more than this part of it is free."""

    # Run what forgets, and keep what it removed so that it can be taken back, and where it was moved (`Undoable`).
    def kept(
        self, session: Any, until: datetime, space: str, moved: list[str], forget: Callable[[], int], /
    ) -> int: ...
    # Those of these spaces into which the person who opened the store may not write.
    def refused(self, spaces: Sequence[str], /) -> list[str]: ...
    # Up to ``count`` chunks of what matches filters, evenly from the first to the last.
    def sample(self, session: Any, count: int, within: Filters, /) -> list[int]: ...


# The history of a store: what its user ran, a row for each run, and a memory of kind history for each text.


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to read: those that fit everything that is given, in the space if it is not empty."""

    space: str = ""
    error: str | None = None
    outcome: Outcome | None = None
    session: str | None = None
    notebook: str | None = None
    memory_id: str | None = None
    cell: str | None = None
    after: datetime | None = None  # after < started < before
    before: datetime | None = None


class Noted(NamedTuple):
    """What noting runs did: how many were new or got their outcome, and the places of those without a text."""

    changed: int
    left: Sequence[int]


# What leaves a store for a folder or another store: memories with all that belongs to them, and what was indexed.

# What became of a memory that was put into a store: it was new; there already and kept or changed; or its content was
# there under another id, which has its tags and pin now.
Became = Literal["added", "kept", "updated", "merged"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory as a store holds it: with its tier below a pin, its chunks in their order, its runs and pictures."""

    memory: Memory
    tier: str
    chunks: tuple[Chunk, ...]
    runs: tuple[Run, ...] = ()
    thumbnails: tuple[Thumbnail, ...] = ()

    @property
    def draft(self) -> Draft:
        """Return the draft that gives another store the same memory, with its chunks and pictures."""
        names = ("text", "title", "kind", "pinned", "space", "source", "location", "lang", "tags", "severity", "domain")
        more = ("event_at", "valid_from", "valid_until", "session", "metadata")
        return Draft(
            **{name: getattr(self.memory, name) for name in (*names, *more)},
            tier=self.tier,
            context=self.chunks[0].context if self.chunks else "",
            pictures=Pictures(self.thumbnails),
            chunks=self.chunks,
        )


@dataclass(frozen=True, slots=True)
class Arriving:
    """A memory on its way into a store that keeps the id, the times and the count it had in another one."""

    id: str
    prepared: Prepared
    indexed_at: datetime
    stored_at: datetime
    accessed: int = 0
    runs: tuple[Run, ...] = ()


class NotedFolder(NamedTuple):
    """A folder that was indexed or is watched, or one within such a folder that is described or hidden."""

    path: str
    space: str
    watched: bool
    indexed_at: datetime | None
    description: str = ""
    hidden: bool = False  # from searches that do not name it


class NotedFile(NamedTuple):
    space: str
    state: FileState


class NotedSearch(NamedTuple):
    search: Recent
    hits: tuple[str, ...]


class Forgotten:
    """What ``Writer.forget`` kept so that it can be taken back; on a server, nothing.

    No search, list, count, export or backup shows it, but its texts are still in the store's files. A ``space`` is that
    of the stores that forgot; an empty one stands for all of them.
    """

    def pending(self, space: str, /) -> list[Undoable]:
        """Return what can be taken back, the last first, expired or not."""
        return []

    def undo(self, space: str, /) -> int:
        """Take the last forgetting back, as ``MemoryStore.undo`` says; return how many memories came back."""
        return 0

    def drop(self, until: datetime | None, /) -> int:
        """Remove for good what can be taken back until this time, or all of it; return how many memories went."""
        return 0


# Who may read and write a store that several people share; the database decides, not this package.

Level = Literal["reader", "writer", "owner"]


class Right(NamedTuple):
    """What a role of the database may do in a space; in every space if it is None."""

    role: str
    level: Level
    space: str | None
