"""A store of memories, whichever database has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from jupyter_memory.storage.base import Forgotten
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.storage.transfer import Transfer
from jupyter_memory.storage.writer import RunLog, Thumbnails, Writer
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types import Filters


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
