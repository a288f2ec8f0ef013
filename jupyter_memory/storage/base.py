"""What a store asks of a database, whichever it is: values, and protocols to read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.text.code import Definitions
from jupyter_memory.text.markdown import embedded_head
from jupyter_memory.types import Draft, Filters, Memory, Outcome, Run, ScoredChunk, Selection, Terms
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Feedback, Folder, HistoryStatus, Recent


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose vectors the store holds."""

    id: int
    fingerprint: str
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft ready to be written: chunked, with a vector for each chunk, or None where there is no model.

    ``tokens`` are those of each chunk; without them a search tokenises what it compares. ``idents`` are the words of
    each chunk's column ``ident``, where they are known already. ``definitions`` are the names that a source in Python
    defines, None for any other text.
    """

    draft: Draft
    vectors: Vectors | None
    tokens: Sequence[ChunkTokens] = ()
    idents: Sequence[str] = ()
    definitions: Definitions | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """What the keyword index holds of a chunk, as text."""

    title: str = ""
    context: str = ""
    text: str = ""
    tags: str = ""

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


class EmbeddedParts(NamedTuple):
    """What is embedded of a chunk: `text.markdown.embedding_text` makes one text of it."""

    kind: str
    title: str
    context: str
    text: str

    def head_and_text(self) -> tuple[str, str]:
        """Return what is put in front of the text, and the text."""
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


def mismatch(active: Model, embedder: Embedder) -> str:
    """Say that a store and an embedder do not go together, and how to go on."""
    return (
        f"This store was written with {active.name} ({active.dimensions} dimensions), and the embedder is "
        f"{embedder.name} ({embedder.dimensions}). Open it with embedder='auto', or write every vector anew with "
        "store.reembed()."
    )


# The words of a store and the texts of its memories, as signals read them.


class Corpus(Protocol):
    """The statistics of the whole store's words; a word is a stem, as the keyword index has it."""

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text, in their order."""

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word; 0 where none does."""

    def beginning(self, letters: str, /) -> Sequence[str]:
        """Return the words of the keyword index, as stems, that begin with these letters."""

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        """Return the words of nine letters and more, as stems, that end with any of these letters; all are read."""


class Texts(Protocol):
    """The texts of candidates, read apart from their rows: most searches show only a few of those they rank."""

    def passages(self, chunks: Sequence[int], /) -> Mapping[int, Passage]:
        """Return what the keyword index holds of chunks, by chunk."""

    def texts(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """Return the whole texts of memories, by key."""

    def definitions(self, keys: Sequence[int], /) -> Mapping[int, Definitions]:
        """Return what memories in Python define, by key, for those for which it is stored."""


# One state of a store: what a search may ask of a database, in the words of search.

Result = TypeVar("Result")


class Snapshot(Texts, Protocol):
    """One state of a store: whatever others write meanwhile is not seen."""

    @property
    def corpus(self) -> Corpus:
        """Return the statistics of the store's words."""

    @property
    def version(self) -> str:
        """Return what differs between any two states of the store's chunks and their index."""

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        """Begin ``work`` in another thread over the same state, and return what waits for its result."""

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        """Return the key of a memory by its id.

        Raises:
            UnknownMemory: no memory has this id.
        """

    def memories(self, keys: Sequence[int], /) -> dict[int, Memory]:
        """Return the memories with these keys, all of which must be there."""

    def keys(self, filters: Filters, among: Sequence[str] | None = None, /) -> list[int]:
        """Return the keys of the memories that the filters let through, of those with the ids ``among`` if given."""

    def selection(self, filters: Filters, /) -> Selection:
        """Return which memories the filters let through, and what they are."""

    def exists(self, filters: Filters, /) -> bool:
        """Return whether the filters let any memory through."""

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        """Return memories without a query: core, note, mcp, file, history; the newest first within each."""

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        """Return how many of the memories that the filters let through have each value of kind, lang, tier and tag."""

    def facet_values(self, facet: str, /) -> list[str]:
        """Return every value that a facet has in the store."""

    def sessions(self, filters: Filters, /) -> list[str]:
        """Return the names of all sessions of the memories that the filters let through."""

    def event_span(self) -> tuple[datetime, datetime]:
        """Return the earliest and the latest event time of a store that is not empty."""

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        """Return where chunks lie in their memories' texts, by chunk."""

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        """Return the structural prefix of the first chunk of memories, by memory id."""

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        """Return the ids of the chunks of memories."""

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by BM25 (higher is better), each by its best chunk.

        ``weights`` maps columns to BM25 weights; a column that is not among them is not searched.
        """

    def keyword_scores(self, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /) -> dict[int, float]:
        """Return the BM25 of those of these memories that hold any of the terms, whatever the filters."""

    def highlights(
        self, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        """Return where the terms occur in the texts of chunks, ``[start, end)`` in code points, by chunk."""

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        """Return whether any chunk holds these words side by side."""

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        """Return whether any chunk holds a word, by its stem, in one of these columns."""

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        """Return how many chunks hold a stem in that of these columns where most do."""

    # -- vectors -------------------------------------------------------------------------------------------------------

    def active_model(self) -> Model | None:
        """Return the model that searches use, None in a store without vectors."""

    def model(self, fingerprint: str, /) -> Model | None:
        """Return the model of this fingerprint, None where the store holds no vectors of it."""

    def is_large(self, model: Model, /) -> bool:
        """Return whether a vector search takes long enough to be worth a thread of its own."""

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by cosine, each by its best chunk; none below ``threshold``."""

    def cosines(self, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        """Return the best cosine of each of these memories that has vectors."""

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        """Return the vectors of those of these chunks that have one."""

    def calibration(self, model: Model, /) -> Calibration | None:
        """Return how far a model can be trusted here, None where that was never measured."""

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        """Return the highest id of a chunk, 0 in an empty store."""

    def sample(self, count: int, /) -> list[int]:
        """Return the ids of up to ``count`` chunks, evenly from the first to the last."""

    def tokens(self, chunks: Sequence[int], /) -> dict[int, ChunkTokens]:
        """Return the tokens of those of these chunks for which they are stored."""

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        """Return what is embedded of chunks, by chunk."""

    def without_definitions(self, count: int, after: int = 0, /) -> list[int]:
        """Return the keys of up to ``count`` memories in Python above ``after`` without definitions, lowest first."""

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        """Return how many judged hits were what was looked for, and how many were judged."""

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        """Return the stored vector of a question and whether it should move to the front, None where there is none."""

    def has_query_vectors(self) -> bool:
        """Return whether the vector of any question is stored."""

    def recent_searches(self, limit: int, /) -> list[Recent]:
        """Return the last searches, the newest first."""

    def last_search(self, origin: str, /) -> tuple[Recent, tuple[str, ...]] | None:
        """Return the last search of a person from one place, with the ids of its hits; None where none is kept."""

    def query_of(self, query_id: str, /) -> str:
        """Return the words of a recent search, empty where it is not known."""

    def feedback(self) -> list[Feedback]:
        """Return what people said of hits, the newest first."""

    # -- contents ------------------------------------------------------------------------------------------------------

    def count(self, filters: Filters, /) -> int:
        """Return how many memories the filters let through."""

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        """Return for each draft the key of the memory that holds the same content in the same place, else None."""

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        """Return which of these ids have a memory, or another memory says the same; ``contents`` maps ids to hashes."""

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        """Return the files at or below a path that are indexed in a space, by path."""

    def file_states(self, places: Sequence[tuple[str, str]], /) -> dict[tuple[str, str], FileState]:
        """Return what is known of indexed files, by path and space; files that are not indexed are left out."""

    def file_keys(self, paths: Sequence[str], space: str, /) -> list[int]:
        """Return the keys of the memories that files hold in a space."""

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        """Return the location and the text of each memory that files hold in a space, by path."""

    def folders(self, space: str, /) -> list[Folder]:
        """Return the indexed folders and single files of a space, by path, not compared with the disk."""

    def noted_folders(self, space: str, /) -> list[str]:
        """Return the paths of the folders on the list, those that are above others first."""

    def folder_above(self, path: str, space: str, /) -> str | None:
        """Return the topmost folder on the list that a path lies in, None where there is none."""

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """Return every model whose vectors the store holds, complete or not, the oldest first."""

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        """Return up to ``count`` chunks above ``after`` that have no vector of a model, lowest first."""

    def count_without_vectors(self, model: Model, /) -> int:
        """Return how many chunks have no vector of a model."""

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        """Return up to ``count`` chunks above ``after`` whose tokens are not stored, lowest first."""


# The history of a store: what its user ran, a row for each run, and a memory of kind history for each text.


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to read: those that fit everything that is given, in the space if it is not empty.

    ``after`` and ``before`` bound the start: ``after < started < before``.
    """

    space: str = ""
    error: str | None = None
    outcome: Outcome | None = None
    session: str | None = None
    notebook: str | None = None
    memory_id: str | None = None
    after: datetime | None = None
    before: datetime | None = None


class Noted(NamedTuple):
    """What noting runs did: how many were new or got their outcome, and the places of those without a text."""

    changed: int
    left: Sequence[int]


class RunLog(Protocol):
    """What a store holds of the history. Each method is one transaction."""

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        """Return for each draft whether history has a memory of its text, in its space."""

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        """Note runs, each with the draft of its text; ``fresh`` has the texts that the store may lack.

        A run is known by session, number and start: one that was noted without an outcome gets it, and otherwise
        stays as it is. A memory keeps its id, pin and tags when its text runs again, and its metadata tell of all its
        runs. A run whose text is neither in the store nor in ``fresh``, since somebody forgot it meanwhile, is left.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """

    def find(self, wanted: RunFilter, limit: int, /, *, oldest_first: bool = False) -> list[Run]:
        """Return runs with the texts of their memories, the newest first unless asked otherwise."""

    def numbers(self, session: str, /) -> set[int]:
        """Return the numbers of the runs that are noted of a session."""

    def status(self, space: str, /) -> HistoryStatus:
        """Return how many runs there are in a space, in the whole store if it is empty."""

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        """Remove the runs that began before ``since``, and all but the ``most`` newest; return how many went.

        Memories go with the last of their runs. Those with a pin or a tag stay, with all their runs.
        """
