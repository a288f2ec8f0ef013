"""Everything that changes a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from jupyter_memory.storage.base.values import Model, Prepared, QueryVector
from jupyter_memory.text.code import Definitions
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import Embedder, FileState, Vectors
from jupyter_memory.types.report import Feedback, Recent


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

    def note_access(self, memory_id: str, patience: float, /) -> bool:
        """Count that a person used a memory; return whether there is such a memory.

        It does not wait for the disk, nor longer than ``patience`` seconds for another writer.
        """
        ...

    def forget_searches(self) -> int:
        """Forget the recent searches, all feedback and how often memories were used; return how many searches went."""
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

    def drop_damaged_vectors(self, embedder: Embedder, /) -> int:
        """Remove the damaged vectors of an embedder's model, which then count as missing; return how many."""
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

    def note_once(self, what: str, /) -> bool:
        """Note that something was done in this store; return whether this is the first time."""
        ...

    def drop_damaged_tokens(self) -> int:
        """Remove the damaged tokens of chunks, which then count as missing; return how many chunks had such."""
        ...

    def keep_tokens(self, tokens: Mapping[int, ChunkTokens], /) -> int:
        """Store the tokens of those of these chunks that are still there; return how many."""
        ...

    def keep_definitions(self, found: Mapping[int, Definitions], /) -> int:
        """Store what memories define, for those of these keys that are still there and lack it; return how many."""
        ...

    def drop_damaged_definitions(self) -> int:
        """Remove definitions that their texts do not hold, which then count as missing; return of how many memories."""
        ...

    # -- maintenance ---------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Rid the store's files of all traces of what was removed since the last time."""
        ...

    def rebuild(self) -> None:
        """Build the keyword index anew, and rid the store's files of all traces of what was removed."""
        ...
