"""What search and ingestion ask of a database, in their own words: no SQL, and no type of a driver.

`Storage` opens snapshots and has one `Writer`. Both retrievers of a search read the same `Snapshot`. Whatever database
implements these, `tests/storage/contract` must pass for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.protocols import Embedder, FileState, Vectors
from jupyter_memory.types import Draft, Filters, Memory, ScoredChunk, Terms
from jupyter_memory.types.report import Feedback, Folder, Recent

Result = TypeVar("Result")
# Different tokens of a text.
TokenIds = NDArray[np.integer]


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

    ``tokens`` are the different tokens of each chunk; without them a search tokenises what it compares. ``idents`` are
    the words of each chunk's column ``ident``, where they are known already.
    """

    draft: Draft
    vectors: Vectors | None
    tokens: Sequence[TokenIds] = ()
    idents: Sequence[str] = ()


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
    """What is embedded of a chunk: `text.structure.embedding_text` makes one text of it."""

    kind: str
    title: str
    context: str
    text: str


class Calibration(NamedTuple):
    """How far a model can be trusted in a store, and how many chunks the store had when that was measured."""

    chunks: int
    value: float


class QueryVector(NamedTuple):
    """The vector of a question, float32 ``(dimensions,)``, by the model with this fingerprint."""

    fingerprint: str
    text: str
    vector: Vectors


class Corpus(Protocol):
    """The statistics of the whole store's words; a word is a stem, as the keyword index has it."""

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        ...

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text, in their order."""
        ...

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word; 0 where none does."""
        ...


class Texts(Protocol):
    """The texts of candidates, read apart from their rows: most searches show only a few of those they rank."""

    def passages(self, chunks: Sequence[int], /) -> Mapping[int, Passage]:
        """Return what the keyword index holds of chunks, by chunk."""
        ...

    def texts(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """Return the whole texts of memories, by key."""
        ...


class Snapshot(Texts, Protocol):
    """One state of a store: whatever others write meanwhile is not seen."""

    @property
    def corpus(self) -> Corpus:
        """Return the statistics of the store's words."""
        ...

    @property
    def version(self) -> str:
        """Return what differs between any two states of the store's chunks and their index."""
        ...

    def in_background(self, work: Callable[[Snapshot], Result], /) -> Callable[[], Result]:
        """Begin ``work`` in another thread over the same state, and return what waits for its result."""
        ...

    # -- memories ------------------------------------------------------------------------------------------------------

    def key_of(self, memory_id: str, /) -> int:
        """Return the key of a memory by its id.

        Raises:
            UnknownMemory: no memory has this id.
        """
        ...

    def memories(self, keys: Sequence[int], /) -> dict[int, Memory]:
        """Return the memories with these keys, all of which must be there."""
        ...

    def keys(self, filters: Filters, /) -> list[int]:
        """Return the keys of the memories that the filters let through."""
        ...

    def exists(self, filters: Filters, /) -> bool:
        """Return whether the filters let any memory through."""
        ...

    def browse(self, filters: Filters, limit: int, /) -> list[Memory]:
        """Return memories without a query: core, note, mcp, file; the newest first within each."""
        ...

    def facet_counts(self, filters: Filters, /) -> dict[str, dict[str, int]]:
        """Return how many of the memories that the filters let through have each value of kind, lang, tier and tag."""
        ...

    def facet_values(self, facet: str, /) -> list[str]:
        """Return every value that a facet has in the store."""
        ...

    def sessions(self, filters: Filters, /) -> list[str]:
        """Return the names of all sessions of the memories that the filters let through."""
        ...

    def event_span(self) -> tuple[datetime, datetime]:
        """Return the earliest and the latest event time of a store that is not empty."""
        ...

    def spans(self, chunks: Sequence[int], /) -> dict[int, ChunkSpan]:
        """Return where chunks lie in their memories' texts, by chunk."""
        ...

    def first_contexts(self, ids: Sequence[str], /) -> dict[str, str]:
        """Return the structural prefix of the first chunk of memories, by memory id."""
        ...

    def chunks_of(self, keys: Sequence[int], /) -> list[int]:
        """Return the ids of the chunks of memories."""
        ...

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_matches(
        self, terms: Terms, weights: Mapping[str, float], filters: Filters, count: int, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by BM25 (higher is better), each by its best chunk.

        ``weights`` maps columns to BM25 weights; a column that is not among them is not searched.
        """
        ...

    def keyword_scores(self, terms: Terms, weights: Mapping[str, float], keys: Sequence[int], /) -> dict[int, float]:
        """Return the BM25 of those of these memories that hold any of the terms, whatever the filters."""
        ...

    def highlights(
        self, terms: Terms, weights: Mapping[str, float], texts: Mapping[int, str], /
    ) -> dict[int, list[tuple[int, int]]]:
        """Return where the terms occur in the texts of chunks, ``[start, end)`` in code points, by chunk."""
        ...

    def holds_phrase(self, phrase: str, weights: Mapping[str, float], /) -> bool:
        """Return whether any chunk holds these words side by side."""
        ...

    def holds_word(self, word: str, columns: Collection[str], /) -> bool:
        """Return whether any chunk holds a word, by its stem, in one of these columns."""
        ...

    def words_beginning(self, letters: str, /) -> Sequence[str]:
        """Return the words of the keyword index, as stems, that begin with these letters."""
        ...

    def chunk_count_of(self, stem: str, columns: Collection[str], /) -> int:
        """Return how many chunks hold a stem in that of these columns where most do."""
        ...

    # -- vectors -------------------------------------------------------------------------------------------------------

    def active_model(self) -> Model | None:
        """Return the model that searches use, None in a store without vectors."""
        ...

    def model(self, fingerprint: str, /) -> Model | None:
        """Return the model of this fingerprint, None where the store holds no vectors of it."""
        ...

    def is_large(self, model: Model, /) -> bool:
        """Return whether a vector search takes long enough to be worth a thread of its own."""
        ...

    def vector_matches(
        self, model: Model, vector: Vectors, filters: Filters, count: int, threshold: float | None, /
    ) -> list[ScoredChunk]:
        """Return the best ``count`` memories by cosine, each by its best chunk; none below ``threshold``."""
        ...

    def cosines(self, model: Model, vector: Vectors, keys: Sequence[int], /) -> dict[int, float]:
        """Return the best cosine of each of these memories that has vectors."""
        ...

    def vectors(self, model: Model, chunks: Sequence[int], /) -> ChunkVectors:
        """Return the vectors of those of these chunks that have one."""
        ...

    def calibration(self, model: Model, /) -> Calibration | None:
        """Return how far a model can be trusted here, None where that was never measured."""
        ...

    # -- samples -------------------------------------------------------------------------------------------------------

    def newest_chunk(self) -> int:
        """Return the highest id of a chunk, 0 in an empty store."""
        ...

    def sample(self, count: int, /) -> list[int]:
        """Return the ids of up to ``count`` chunks, evenly from the first to the last."""
        ...

    def token_ids(self, chunks: Sequence[int], /) -> dict[int, TokenIds]:
        """Return the different tokens of those of these chunks for which they are stored."""
        ...

    def embedded_parts(self, chunks: Sequence[int], /) -> dict[int, EmbeddedParts]:
        """Return what is embedded of chunks, by chunk."""
        ...

    # -- activity ------------------------------------------------------------------------------------------------------

    def accepted(self) -> tuple[int, int]:
        """Return how many judged hits were what was looked for, and how many were judged."""
        ...

    def query_vector(self, fingerprint: str, text: str, /) -> tuple[Vectors, bool] | None:
        """Return the stored vector of a question and whether it should move to the front, None where there is none."""
        ...

    def has_query_vectors(self) -> bool:
        """Return whether the vector of any question is stored."""
        ...

    def recent_searches(self, limit: int, /) -> list[Recent]:
        """Return the last searches, the newest first."""
        ...

    def query_of(self, query_id: str, /) -> str:
        """Return the words of a recent search, empty where it is not known."""
        ...

    def feedback(self) -> list[Feedback]:
        """Return what people said of hits, the newest first."""
        ...

    # -- contents ------------------------------------------------------------------------------------------------------

    def count(self, filters: Filters, /) -> int:
        """Return how many memories the filters let through."""
        ...

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""
        ...

    def same_content(self, drafts: Sequence[Draft], /) -> list[int | None]:
        """Return for each draft the key of the memory that holds the same content in the same place, else None."""
        ...

    def known(self, contents: Mapping[str, str], filters: Filters, /) -> set[str]:
        """Return which of these ids have a memory, or another memory says the same; ``contents`` maps ids to hashes."""
        ...

    # -- files and folders ---------------------------------------------------------------------------------------------

    def files_under(self, root: str, space: str, /) -> dict[str, FileState]:
        """Return the files at or below a path that are indexed in a space, by path."""
        ...

    def file_texts(self, paths: Sequence[str], space: str, /) -> dict[str, list[tuple[str, str]]]:
        """Return the location and the text of each memory that files hold in a space, by path."""
        ...

    def folders(self, space: str, /) -> list[Folder]:
        """Return the indexed folders and single files of a space, by path, not compared with the disk."""
        ...

    def noted_folders(self, space: str, /) -> list[str]:
        """Return the paths of the folders on the list, those that are above others first."""
        ...

    def folder_above(self, path: str, space: str, /) -> str | None:
        """Return the topmost folder on the list that a path lies in, None where there is none."""
        ...

    # -- models --------------------------------------------------------------------------------------------------------

    def models(self) -> list[Model]:
        """Return every model whose vectors the store holds, complete or not, the oldest first."""
        ...

    def chunks_without_vectors(self, model: Model, count: int, after: int = 0, /) -> list[int]:
        """Return up to ``count`` chunks above ``after`` that have no vector of a model, lowest first."""
        ...

    def count_without_vectors(self, model: Model, /) -> int:
        """Return how many chunks have no vector of a model."""
        ...

    def chunks_without_tokens(self, count: int, after: int = 0, /) -> list[int]:
        """Return up to ``count`` chunks above ``after`` whose tokens are not stored, lowest first."""
        ...


class SearchStorage(Protocol):
    """What a search asks of a store."""

    @property
    def path(self) -> Path:
        """Return the store's file."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Read within one state of the store.

        Raises:
            Interrupted: another thread stopped it.
        """
        ...

    def searching(self, weights: Mapping[str, float], stop_words: Iterable[str], /) -> AbstractContextManager[None]:
        """Context manager for one search; afterwards a background thread caches the scores of frequent words.

        ``stop_words`` are not worth it, since questions do not contain them.
        """
        ...


class Writer(Protocol):
    """Everything that changes a store. Each method is one transaction: it happens whole or not at all.

    Every method raises ``StoreReadOnly`` where nothing can be written, and ``StoreLocked`` where another writer keeps
    the store busy for too long. What is forgotten leaves no trace in the store's files.
    """

    # -- memories ------------------------------------------------------------------------------------------------------

    def add(self, prepared: Sequence[Prepared], embedder: Embedder | None, /) -> list[Memory]:
        """Store memories; known content gets the new tags and metadata instead of a second copy.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        ...

    def merge(self, drafts: Sequence[Draft], /) -> list[Memory | None]:
        """Give known memories the tags, metadata and pin of these drafts; None for each draft that is not known."""
        ...

    def update(
        self,
        memory_id: str,
        changes: Mapping[str, Any],
        /,
        *,
        tags: Sequence[str] | None = None,
        prepared: Prepared | None = None,
        embedder: Embedder | None = None,
    ) -> Memory:
        """Change a memory: ``changes`` are fields of `Memory`, ``prepared`` has its new words and tags.

        Raises:
            UnknownMemory: no memory has this id.
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        ...

    def forget(self, chosen: Sequence[str] | Filters, /, *, everything: bool = False) -> int:
        """Remove memories by id or by filter, with the searches that showed them and the files that hold nothing more.

        With ``everything`` all searches go as well. Return how many memories went.

        Raises:
            UnknownMemory: one of the ids is not there; nothing is removed then.
        """
        ...

    # -- files and folders ---------------------------------------------------------------------------------------------

    def replace_files(
        self, files: Sequence[tuple[FileState, Sequence[Prepared]]], embedder: Embedder | None, space: str, /
    ) -> None:
        """Store files in place of what they were: a cell that is still there keeps its id, pin and tags.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        ...

    def touch_file(self, state: FileState, space: str, /) -> None:
        """Note that a file has a new modification time but the content it had."""
        ...

    def forget_files(self, paths: Sequence[str], space: str, /) -> int:
        """Remove files and their memories from a space; return how many memories went."""
        ...

    def rename(self, old: str, new: str, /) -> int:
        """Give all memories of the file or folder ``old`` the path ``new``, in every space; return how many."""
        ...

    def note_folder(self, path: str, space: str, at: datetime, /) -> None:
        """Put an indexed folder on the list, in place of those below it that nobody watches."""
        ...

    def watch(self, path: str, space: str, watched: bool, /) -> None:
        """Mark a folder as watched, or not; one that is not on the list is put there."""
        ...

    def remove_folder(self, path: str, space: str, /) -> int:
        """Take a folder off the list, with those below it, and forget its files; return how many memories went."""
        ...

    def drop_vacated(self, space: str, /) -> None:
        """Take unwatched folders off the list that are gone from the disk and whose files all moved away."""
        ...

    # -- activity ------------------------------------------------------------------------------------------------------

    def note_search(self, search: Recent, hits: Sequence[str], patience: float, /) -> None:
        """Put a search in front of the recent ones, with the ids of its hits; the same question before it goes.

        It does not wait for the disk, nor longer than ``patience`` seconds for another writer.
        """
        ...

    def forget_searches(self) -> int:
        """Forget the recent searches and all feedback; return how many searches there were."""
        ...

    def judge(self, feedback: Feedback, /) -> None:
        """Note what was said of a hit, in place of what was said of it before for the same question.

        Raises:
            UnknownMemory: no memory has this id.
        """
        ...

    def keep_query_vectors(self, vectors: Sequence[QueryVector], /) -> None:
        """Store the vectors of questions in front of the others, without waiting for the disk or another writer.

        Those of a model that the store does not have are left out.
        """
        ...

    def clear_query_vectors(self) -> None:
        """Forget the vector of every question, without waiting for the disk or another writer."""
        ...

    # -- models --------------------------------------------------------------------------------------------------------

    def register_model(self, embedder: Embedder, /) -> Model:
        """Return the model of an embedder, added where the store has no such model; its first one is the active one."""
        ...

    def add_vectors(self, embedder: Embedder, vectors: Mapping[int, Vectors], /) -> int:
        """Store the vectors of those of these chunks that are still there and lack one; return how many."""
        ...

    def activate_model(self, embedder: Embedder, /) -> bool:
        """Make searches use the model of an embedder, unless a chunk lacks its vector; return whether they do."""
        ...

    def drop_models(self, models: Sequence[Model], /) -> int:
        """Remove those of these models that are not in use, with their vectors; return how many vectors went."""
        ...

    def keep_calibration(self, model: Model, chunks: int, value: float, /) -> None:
        """Note how far a model can be trusted in a store of so many chunks."""
        ...

    def keep_token_ids(self, tokens: Mapping[int, TokenIds], /) -> int:
        """Store the different tokens of those of these chunks that are still there; return how many."""
        ...

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Rid the store's files of all traces of what was removed since the last time."""
        ...

    def rebuild(self) -> None:
        """Build the keyword index anew, and rid the store's files of all traces of what was removed."""
        ...


class Storage(SearchStorage, Protocol):
    """A store of memories in a database."""

    @property
    def writer(self) -> Writer:
        """Return what changes the store."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Return what the user should know of the store, such as that it is read-only."""
        ...

    @property
    def read_only(self) -> bool:
        """Return whether nothing can be written."""
        ...

    @property
    def created(self) -> bool:
        """Return whether opening the store made it."""
        ...

    @property
    def replaced(self) -> bool:
        """Return whether the store was moved, removed or replaced since it was opened: nothing is written to it."""
        ...

    @property
    def writes_at_once(self) -> bool:
        """Return whether a small change can be written without waiting for the disk."""
        ...

    def interrupt(self, thread: int, /) -> bool:
        """Stop what a thread reads, which then raises ``Interrupted``; return whether it was reading anything."""
        ...

    def stats(self) -> dict[str, Any]:
        """Return counts by kind, tier and space, the models with their vectors and bytes, files, and size on disk."""
        ...

    def problems(self) -> Iterable[str]:
        """Check the store and return what is wrong, each with what to do."""
        ...

    def backup(self, target: Path, /) -> None:
        """Copy the store as it is at this moment, while others may go on writing.

        Raises:
            InputError: there is something at ``target`` already.
        """
        ...

    def close(self) -> None:
        """Close the store; closing it again does nothing."""
        ...


def mismatch(active: Model, embedder: Embedder) -> str:
    """Say that a store and an embedder do not go together, and how to go on."""
    return (
        f"This store was written with {active.name} ({active.dimensions} dimensions), and the embedder is "
        f"{embedder.name} ({embedder.dimensions}). Open it with embedder='auto', or write every vector anew with "
        "store.reembed()."
    )
