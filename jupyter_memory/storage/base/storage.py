"""A database that holds a store: it opens snapshots, has one writer, and keeps thumbnails and what was forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from jupyter_memory.storage.base.runs import RunLog
from jupyter_memory.storage.base.snapshot import Snapshot
from jupyter_memory.storage.base.transfer import Transfer
from jupyter_memory.storage.base.writer import Writer
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types import Filters
from jupyter_memory.types.memory import Thumbnail
from jupyter_memory.types.report import Undoable


class SearchStorage(Protocol):
    """What a search asks of a store."""

    @property
    def path(self) -> StorePath:
        """Return the store's file, or the URL of its database."""
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


class Storage(SearchStorage, Protocol):
    """A store of memories in a database."""

    def snapshot(self, within: Filters | None = None) -> AbstractContextManager[Snapshot]:
        """Read within one state of the store, of which only the memories that ``within`` lets through are seen.

        Raises:
            Interrupted: another thread stopped it.
        """
        ...

    @property
    def writer(self) -> Writer:
        """Return what changes the store."""
        ...

    @property
    def runs(self) -> RunLog:
        """Return what the store holds of the history."""
        ...

    @property
    def transfer(self) -> Transfer:
        """Return what takes memories out of the store, and puts those of another one into it."""
        ...

    @property
    def thumbnails(self) -> Thumbnails:
        """Return what the store holds of pictures."""
        ...

    @property
    def forgotten(self) -> Forgotten:
        """Return what was forgotten and can be taken back."""
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

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk by what they are for; all of it is read, which takes a moment in a large store."""
        ...

    def held(self) -> int:
        """Return the bytes of what the store holds, without room that is free; known at once."""
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


class Thumbnails(Protocol):
    """What a store holds of pictures. Each method is one transaction. ``Writer`` stores them with their memories."""

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        """Return a picture of a memory by its place, counted from 0; None where there is none.

        Raises:
            UnknownMemory: no memory has this id.
        """
        ...

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        """Return the pictures of a file in a space by their origin."""
        ...

    def size(self, without: Sequence[str], space: str, /) -> int:
        """Return how many bytes all pictures have, but for those of some files in a space."""
        ...

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        """Return which of these files show pictures that nobody has read yet."""
        ...

    def clear(self) -> int:
        """Remove all pictures without a trace, so that their files count as unread; return how many went."""
        ...


class Forgotten(Protocol):
    """What ``Writer.forget`` kept because it was given a time until which that can be taken back.

    No search, list, count, export or backup shows it, but its texts are still in the store's files. A ``space`` is that
    of the stores that forgot; an empty one stands for all of them.
    """

    def pending(self, space: str, /) -> list[Undoable]:
        """Return what can be taken back, the last first, expired or not."""
        ...

    def undo(self, space: str, /) -> int:
        """Take the last forgetting back, all of it; return how many memories came back, 0 where there is nothing.

        They have their ids, pins, tags, vectors, feedback and pictures again. If the same content was remembered
        meanwhile, it becomes one memory, with the id of before and the tags of both.
        """
        ...

    def drop(self, until: datetime | None, /) -> int:
        """Remove for good what can be taken back until this time, or all of it; return how many memories went."""
        ...
