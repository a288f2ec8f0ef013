"""What can be exchanged: embedders, retrievers, terms and catalogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.types import Draft, Ranking

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors, documents and queries each in their own way.

    ``fingerprint`` names everything that decides a vector (model, revision, dimensions, prefixes, pooling): vectors
    of two fingerprints are never compared. ``threshold`` is the cosine below which a find is noise. `embedders.base`
    has the protocols of what an embedder may declare beyond this.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def threshold(self) -> float: ...

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1."""
        ...

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1."""
        ...


class Term(Protocol):
    """One summand of a profile: turns the ranking that it reads into contributions."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> str:
        """Return the name of the retriever or signal that it reads."""
        ...

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]: ...


@runtime_checkable
class WeightedTerm(Term, Protocol):
    """A term with a weight that feedback and sliders may change: a dataclass with that field."""

    @property
    def weight(self) -> float: ...


# With this begins the content hash of a file that could not be read as what its name says. The version of the reader
# follows, or this mark where the system refused the file: that may change while the file does not.
UNREAD = "-"
REFUSED = UNREAD + "!"


@dataclass(frozen=True, slots=True)
class FileState:
    """What the catalog knows of an indexed file; ``mtime_ns`` and ``size`` as ``os.stat`` gives them.

    ``indexed_at`` is when it was read last, in microseconds since 1970; None for one that is only being read.
    ``pictures`` says whether those in it were read too, ``dated`` whether it was asked for its date; None leaves what
    is known of that as it is.
    """

    path: str
    mtime_ns: int
    size: int
    content_hash: str
    indexed_at: int | None = None
    pictures: bool | None = None
    dated: bool | None = None

    @property
    def is_incomplete(self) -> bool:
        """Return whether the file was read while pictures were not kept, or by a version that asked for no date."""
        return self.pictures is False or (self.dated is False and not self.is_unread)

    @property
    def is_unread(self) -> bool:
        """Return whether the file could not be read."""
        return self.content_hash.startswith(UNREAD)


class Catalog(Protocol):
    """The indexed files of a store. Every method is one transaction, so a file is stored as it was or as it is."""

    def files_under(self, root: str, /) -> Mapping[str, FileState]:
        """Return the known files at or below ``root``, by path."""
        ...

    def held(self, paths: Sequence[str], /) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the location and the text of each memory of these files, by path; files without any are left out."""
        ...

    def expect(self, paths: Sequence[Path], root: Path, redacting: bool, /) -> None:
        """Announce the files that will be read, in their order; ``root`` is the folder from which they are named."""
        ...

    def read(self, path: Path, root: Path, redacting: bool, /) -> list[Draft]:
        """Return the memories of a file, as drafts."""
        ...

    def rename(self, old: str, new: str, /) -> None:
        """Note that a file has another path now: its memories keep their ids, tags and pins."""
        ...

    def touch(self, state: FileState, /) -> None:
        """Note that a file has a new modification time but the content it had."""
        ...

    def replace_files(self, files: Sequence[tuple[FileState, Sequence[Draft]]], /) -> int:
        """Replace what is stored of these files; return how many memories they hold now."""
        ...

    def forget_files(self, paths: Sequence[str], /) -> int:
        """Remove files and their memories; return how many memories went."""
        ...
