"""The values that search, ingestion and a database exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.text.code import Definitions
from jupyter_memory.text.markdown import embedded_head
from jupyter_memory.types import Draft
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.protocols import Embedder, Vectors


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
    """What is embedded of a chunk: `text.structure.embedding_text` makes one text of it."""

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
