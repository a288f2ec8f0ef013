"""What leaves a store for a folder or another store: memories with all that belongs to them, and what was indexed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from jupyter_memory.storage.base.values import Calibration, Model, Prepared
from jupyter_memory.types import Chunk, Draft, Memory, Run
from jupyter_memory.types.memory import Pictures, Thumbnail
from jupyter_memory.types.protocols import Embedder, FileState
from jupyter_memory.types.report import Feedback, Recent

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
        ...

    def calibration(self) -> Calibration | None:
        """Return how far that model can be trusted here, None where that was never measured."""
        ...

    def spaces(self) -> list[str]:
        """Return the spaces that have memories, files or folders."""
        ...

    def memories(self) -> Iterator[Stored]:
        """Yield the memories in the order in which they were stored."""
        ...

    def prepared(self, memories: Sequence[Stored], /) -> list[Prepared]:
        """Return memories ready for another store: with the vectors, tokens, definitions and pictures that they have.

        A memory has the vectors of the model that searches use, or None if a chunk of it has none; tokens likewise.
        """
        ...

    def files(self) -> Iterator[NotedFile]:
        """Yield the files that are indexed."""
        ...

    def folders(self) -> Iterator[NotedFolder]:
        """Yield the folders on the list."""
        ...

    def feedback(self) -> Iterator[Feedback]:
        """Yield what people said of hits."""
        ...

    def searches(self) -> Iterator[NotedSearch]:
        """Yield the recent searches of the whole store, the oldest first; they belong to no space."""
        ...


class Transfer(Protocol):
    """Takes memories out of a store and puts them into one."""

    def contents(self, space: str, /) -> AbstractContextManager[Contents]:
        """Read what one state of the store holds in a space, in all of them if it is empty."""
        ...

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        """Return those of these spaces into which the person who opened the store may not write."""
        ...

    def begin(self, embedder: Embedder, /) -> Model:
        """Return the model of an embedder, added where the store lacks it, before many memories are put in.

        What is quicker for all of them at once may be left until `finish`.
        """
        ...

    def finish(self) -> None:
        """Do what was left until all memories are there."""
        ...

    def put(self, arriving: Sequence[Arriving], embedder: Embedder | None, /, *, update: bool) -> list[Became]:
        """Store memories with their ids and runs, in one transaction; return what became of each.

        A memory whose id is there stays as it is, or gets what arrives with ``update``. Either way it gets the runs
        that it lacks, and the pictures of its draft if it has none.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        ...

    def note(self, files: Sequence[NotedFile], folders: Sequence[NotedFolder], feedback: Sequence[Feedback], /) -> None:
        """Note what was indexed and said; what the store knows already of a file, a folder or a hit stays.

        Feedback on memories that are not there is left out.
        """
        ...
