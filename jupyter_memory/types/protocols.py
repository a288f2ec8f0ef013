"""What can be exchanged: embedders and terms; what is known of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.types import Ranking

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors; docs/extending.md says what else an embedder may declare."""

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    # All that decides a vector (model, revision, dimensions, prefixes, pooling): those of two are never compared.
    @property
    def fingerprint(self) -> str: ...
    # The cosine below which a find is noise.
    @property
    def threshold(self) -> float: ...

    # Float32 ``(len(texts), dimensions)`` and ``(dimensions,)``, each vector of length 1.
    def embed_documents(self, texts: Sequence[str], /) -> Vectors: ...
    def embed_query(self, text: str, /) -> Vectors: ...


class Term(Protocol):
    """One summand of a profile: turns the ranking of the retriever or signal that it reads into contributions."""

    @property
    def name(self) -> str: ...
    @property
    def reads(self) -> str: ...
    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]: ...


@runtime_checkable
class WeightedTerm(Term, Protocol):
    """A term with a weight that feedback and sliders may change; a dataclass."""

    @property
    def weight(self) -> float: ...


UNREAD = "-"  # begins the content hash of a file that could not be read; the version of the reader follows
REFUSED = UNREAD + "!"  # that of one that the system refused, which may change while the file does not


@dataclass(frozen=True, slots=True)
class FileState:
    """What the catalog knows of an indexed file; what is None of one that is being read stays as it is known."""

    path: str
    mtime_ns: int  # this and the size as ``os.stat`` gives them
    size: int
    content_hash: str
    indexed_at: int | None = None  # microseconds since 1970
    pictures: bool | None = None  # whether those in it were read, too
    dated: bool | None = None  # whether it was asked for its date

    @property
    def is_incomplete(self) -> bool:
        """Return whether the file was read while pictures were not kept, or by a version that asked for no date."""
        return self.pictures is False or (self.dated is False and not self.is_unread)

    @property
    def is_unread(self) -> bool:
        """Return whether the file could not be read."""
        return self.content_hash.startswith(UNREAD)
