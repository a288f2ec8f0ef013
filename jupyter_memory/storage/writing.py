"""What a store asks of a database to change it, and to move memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from jupyter_memory.storage.base import Calibration, Model, Prepared, QueryVector, RunLog, Snapshot
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types import Chunk, Draft, Filters, Memory, Run
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.memory import Pictures, Thumbnail
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Feedback, Recent, Undoable

# Everything that changes a store.


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

    def merge(self, drafts: Sequence[Draft], /) -> list[Memory | None]:
        """Give known memories the tags, metadata and pin of these drafts; None for each draft that is not known."""

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

    def forget(
        self,
        chosen: Sequence[str] | Filters,
        /,
        *,
        among: Sequence[str] | None = None,
        everything: bool = False,
        until: datetime | None = None,
        space: str = "",
    ) -> int:
        """Remove memories by id or by filter, with the searches that showed them and the files that hold nothing more.

        With ``among``, a filter removes none but these ids; those that are gone already are not missed. With
        ``everything`` all searches go as well. With ``until``, ``Forgotten`` can take it back, noted under ``space``.
        Return how many memories went.

        Raises:
            UnknownMemory: one of the ids is not there; nothing is removed then.
        """

    # -- files and folders ---------------------------------------------------------------------------------------------

    def replace_files(
        self, files: Sequence[tuple[FileState, Sequence[Prepared]]], embedder: Embedder | None, space: str, /
    ) -> None:
        """Store files in place of what they were: a cell that is still there keeps its id, pin and tags.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """

    def touch_file(self, state: FileState, space: str, /) -> None:
        """Note that a file has a new modification time but the content it had."""

    def forget_files(self, paths: Sequence[str], space: str, /) -> int:
        """Remove files and their memories from a space; return how many memories went."""

    def rename(self, old: str, new: str, /) -> int:
        """Give all memories of the file or folder ``old`` the path ``new``, in every space; return how many."""

    def note_folder(self, path: str, space: str, at: datetime, /) -> None:
        """Put an indexed folder on the list, in place of those below it that nobody watches."""

    def watch(self, path: str, space: str, watched: bool, /) -> None:
        """Mark a folder as watched, or not; one that is not on the list is put there."""

    def remove_folder(self, path: str, space: str, /) -> int:
        """Take a folder off the list, with those below it, and forget its files; return how many memories went."""

    def drop_vacated(self, space: str, /) -> None:
        """Take unwatched folders off the list that are gone from the disk and whose files all moved away."""

    # -- activity ------------------------------------------------------------------------------------------------------

    def note_search(self, search: Recent, hits: Sequence[str], patience: float, /) -> None:
        """Put a search in front of the recent ones, with the ids of its hits; the same question before it goes.

        It does not wait for the disk, nor longer than ``patience`` seconds for another writer.
        """

    def note_access(self, memory_id: str, patience: float, /) -> bool:
        """Count that a person used a memory; return whether there is such a memory.

        It does not wait for the disk, nor longer than ``patience`` seconds for another writer.
        """

    def forget_searches(self) -> int:
        """Forget the recent searches, all feedback and how often memories were used; return how many searches went."""

    def judge(self, feedback: Feedback, /) -> None:
        """Note what was said of a hit, in place of what was said of it before for the same question.

        Raises:
            UnknownMemory: no memory has this id.
        """

    def keep_query_vectors(self, vectors: Sequence[QueryVector], /) -> None:
        """Store the vectors of questions in front of the others, without waiting for the disk or another writer.

        Those of a model that the store does not have are left out.
        """

    def clear_query_vectors(self) -> None:
        """Forget the vector of every question, without waiting for the disk or another writer."""

    # -- models --------------------------------------------------------------------------------------------------------

    def register_model(self, embedder: Embedder, /) -> Model:
        """Return the model of an embedder, added where the store has no such model; its first one is the active one."""

    def add_vectors(self, embedder: Embedder, vectors: Mapping[int, Vectors], /) -> int:
        """Store the vectors of those of these chunks that are still there and lack one; return how many."""

    def drop_damaged_vectors(self, embedder: Embedder, /) -> int:
        """Remove the damaged vectors of an embedder's model, which then count as missing; return how many."""

    def activate_model(self, embedder: Embedder, /) -> bool:
        """Make searches use the model of an embedder, unless a chunk lacks its vector; return whether they do."""

    def drop_models(self, models: Sequence[Model], /) -> int:
        """Remove those of these models that are not in use, with their vectors; return how many vectors went."""

    def keep_calibration(self, model: Model, chunks: int, value: float, /) -> None:
        """Note how far a model can be trusted in a store of so many chunks."""

    def note_once(self, what: str, /) -> bool:
        """Note that something was done in this store; return whether this is the first time."""

    def drop_damaged_tokens(self) -> int:
        """Remove the damaged tokens of chunks, which then count as missing; return how many chunks had such."""

    def keep_tokens(self, tokens: Mapping[int, ChunkTokens], /) -> int:
        """Store the tokens of those of these chunks that are still there; return how many."""

    def keep_definitions(self, found: Mapping[int, Definitions], /) -> int:
        """Store what memories define, for those of these keys that are still there and lack it; return how many."""

    def drop_damaged_definitions(self) -> int:
        """Remove definitions that their texts do not hold, which then count as missing; return of how many memories."""

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Rid the store's files of all traces of what was removed since the last time."""

    def rebuild(self) -> None:
        """Build the keyword index anew, and rid the store's files of all traces of what was removed."""


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
    """A memory on its way into a store that keeps the id, the time and the count it had in another one."""

    id: str
    prepared: Prepared
    indexed_at: datetime
    accessed: int = 0
    runs: tuple[Run, ...] = ()


class NotedFolder(NamedTuple):
    """A folder on the list of those that were indexed."""

    path: str
    space: str
    watched: bool
    indexed_at: datetime | None


class NotedFile(NamedTuple):
    """What is known of a file, in a space."""

    space: str
    state: FileState


class NotedSearch(NamedTuple):
    """A recent search, with the ids of its hits."""

    search: Recent
    hits: tuple[str, ...]


class Contents(Protocol):
    """What one state of a store holds in a space, or in all of them."""

    def model(self) -> Model | None:
        """Return the model that searches use, None in a store without vectors."""

    def calibration(self) -> Calibration | None:
        """Return how far that model can be trusted here, None where that was never measured."""

    def spaces(self) -> list[str]:
        """Return the spaces that have memories, files or folders."""

    def memories(self) -> Iterator[Stored]:
        """Yield the memories in the order in which they were stored."""

    def prepared(self, memories: Sequence[Stored], /) -> list[Prepared]:
        """Return memories ready for another store: with the vectors, tokens, definitions and pictures that they have.

        A memory has the vectors of the model that searches use, or None if a chunk of it has none; tokens likewise.
        """

    def files(self) -> Iterator[NotedFile]:
        """Yield the files that are indexed."""

    def folders(self) -> Iterator[NotedFolder]:
        """Yield the folders on the list."""

    def feedback(self) -> Iterator[Feedback]:
        """Yield what people said of hits."""

    def searches(self) -> Iterator[NotedSearch]:
        """Yield the recent searches of the whole store, the oldest first; they belong to no space."""


class Transfer(Protocol):
    """Takes memories out of a store and puts them into one."""

    def contents(self, space: str, /) -> AbstractContextManager[Contents]:
        """Read what one state of the store holds in a space, in all of them if it is empty."""

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        """Return those of these spaces into which the person who opened the store may not write."""

    def begin(self, embedder: Embedder, /) -> Model:
        """Return the model of an embedder, added where the store lacks it, before many memories are put in.

        What is quicker for all of them at once may be left until `finish`.
        """

    def finish(self) -> None:
        """Do what was left until all memories are there."""

    def put(self, arriving: Sequence[Arriving], embedder: Embedder | None, /, *, update: bool) -> list[Became]:
        """Store memories with their ids and runs, in one transaction; return what became of each.

        A memory whose id is there stays as it is, or gets what arrives with ``update``. Either way it gets the runs
        that it lacks, and the pictures of its draft if it has none.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """

    def note(self, files: Sequence[NotedFile], folders: Sequence[NotedFolder], feedback: Sequence[Feedback], /) -> None:
        """Note what was indexed and said; what the store knows already of a file, a folder or a hit stays.

        Feedback on memories that are not there is left out.
        """


class SearchStorage(Protocol):
    """What a search asks of a store."""

    @property
    def path(self) -> StorePath:
        """Return the store's file, or the URL of its database."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Read within one state of the store.

        Raises:
            Interrupted: another thread stopped it.
        """

    def searching(self, weights: Mapping[str, float], stop_words: Iterable[str], /) -> AbstractContextManager[None]:
        """Context manager for one search; afterwards a background thread caches the scores of frequent words.

        ``stop_words`` are not worth it, since questions do not contain them.
        """


class Storage(SearchStorage, Protocol):
    """A store of memories in a database."""

    def snapshot(self, within: Filters | None = None) -> AbstractContextManager[Snapshot]:
        """Read within one state of the store, of which only the memories that ``within`` lets through are seen.

        Raises:
            Interrupted: another thread stopped it.
        """

    @property
    def writer(self) -> Writer:
        """Return what changes the store."""

    @property
    def runs(self) -> RunLog:
        """Return what the store holds of the history."""

    @property
    def transfer(self) -> Transfer:
        """Return what takes memories out of the store, and puts those of another one into it."""

    @property
    def thumbnails(self) -> Thumbnails:
        """Return what the store holds of pictures."""

    @property
    def forgotten(self) -> Forgotten:
        """Return what was forgotten and can be taken back."""

    @property
    def notices(self) -> Sequence[str]:
        """Return what the user should know of the store, such as that it is read-only."""

    @property
    def read_only(self) -> bool:
        """Return whether nothing can be written."""

    @property
    def created(self) -> bool:
        """Return whether opening the store made it."""

    @property
    def replaced(self) -> bool:
        """Return whether the store was moved, removed or replaced since it was opened: nothing is written to it."""

    @property
    def writes_at_once(self) -> bool:
        """Return whether a small change can be written without waiting for the disk."""

    def interrupt(self, thread: int, /) -> bool:
        """Stop what a thread reads, which then raises ``Interrupted``; return whether it was reading anything."""

    def stats(self) -> dict[str, Any]:
        """Return counts by kind, tier and space, the models with their vectors and bytes, files, and size on disk."""

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk by what they are for; all of it is read, which takes a moment in a large store."""

    def held(self) -> int:
        """Return the bytes of what the store holds, without room that is free; known at once."""

    def problems(self) -> Iterable[str]:
        """Check the store and return what is wrong, each with what to do."""

    def backup(self, target: Path, /) -> None:
        """Copy the store as it is at this moment, while others may go on writing.

        Raises:
            InputError: there is something at ``target`` already.
        """

    def close(self) -> None:
        """Close the store; closing it again does nothing."""


class Thumbnails(Protocol):
    """What a store holds of pictures. Each method is one transaction. ``Writer`` stores them with their memories."""

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        """Return a picture of a memory by its place, counted from 0; None where there is none.

        Raises:
            UnknownMemory: no memory has this id.
        """

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        """Return the pictures of a file in a space by their origin."""

    def size(self, without: Sequence[str], space: str, /) -> int:
        """Return how many bytes all pictures have, but for those of some files in a space."""

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        """Return which of these files show pictures that nobody has read yet."""

    def clear(self) -> int:
        """Remove all pictures without a trace, so that their files count as unread; return how many went."""


class Forgotten(Protocol):
    """What ``Writer.forget`` kept because it was given a time until which that can be taken back.

    No search, list, count, export or backup shows it, but its texts are still in the store's files. A ``space`` is that
    of the stores that forgot; an empty one stands for all of them.
    """

    def pending(self, space: str, /) -> list[Undoable]:
        """Return what can be taken back, the last first, expired or not."""

    def undo(self, space: str, /) -> int:
        """Take the last forgetting back, all of it; return how many memories came back, 0 where there is nothing.

        They have their ids, pins, tags, vectors, feedback and pictures again. If the same content was remembered
        meanwhile, it becomes one memory, with the id of before and the tags of both.
        """

    def drop(self, until: datetime | None, /) -> int:
        """Remove for good what can be taken back until this time, or all of it; return how many memories went."""


# Who may read and write a store that several people share; the database decides, not this package.

Level = Literal["reader", "writer", "owner"]


class Right(NamedTuple):
    """What a role of the database may do in a space; in every space if it is None."""

    role: str
    level: Level
    space: str | None


class Team(Protocol):
    """The rights in a store on a server; its owners alone change them."""

    def grant(self, role: str, level: Level, space: str | None, /) -> None:
        """Give a role a right in a space, in place of the one that it has there.

        Raises:
            InputError: there is no such role, or it is to own one space alone.
            StoreReadOnly: this user does not own the store.
        """

    def revoke(self, role: str, space: str | None, /) -> int:
        """Take away the rights of a role in a space, all of them if it is None; return how many it had.

        Raises:
            StoreReadOnly: this user does not own the store.
        """

    def rights(self) -> list[Right]:
        """Return the rights that this user may know of, by role and space."""

    def distribute(self) -> Sequence[str]:
        """Spread the tables over the machines of Citus, by space; return those that were not spread before.

        Raises:
            StoreError: the database has no Citus.
        """

    def close(self) -> None:
        """Close the connection."""
