"""What an embedder may declare beyond the protocol `Embedder`, and its vectors, checked before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jupyter_memory.embedders.tokenizer import Tokens
from jupyter_memory.errors import EmbedderError
from jupyter_memory.types.protocols import Embedder, Vectors

# Part of every fingerprint: counts up when the text that an embedder receives is composed in another way.
RECIPE = "ctx1"
NO_DIRECTION = (
    "A vector has no direction (all zeros, or not a number), so it cannot be compared with others. "
    "The model's files may be damaged: `%memory doctor` checks them."
)


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that reads the tokens of the static model, and so can embed texts that were tokenised already."""

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        """Return float32 ``(len(found.ends), dimensions)``, each row of length 1."""


@runtime_checkable
class QuickEmbedder(Protocol):
    """An embedder whose vectors of questions are not kept if it is ``quick``: a store reads them more slowly."""

    @property
    def quick(self) -> bool: ...


@runtime_checkable
class ReadingEmbedder(Protocol):
    """An embedder that can say whether it knows a word of a text; any other counts as knowing one of every text."""

    def reads(self, text: str, /) -> bool: ...


def reads(embedder: Embedder, text: str) -> bool:
    """Return whether a vector of this text means anything: of unknown words, all texts have the same."""
    return not isinstance(embedder, ReadingEmbedder) or embedder.reads(text)


def readable(text: str) -> str:
    """Return a text as the tokenizer can take it: only spaces is empty, half a surrogate pair is `�`."""
    if not text or text.isspace():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def documents(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return float32 ``(len(texts), dimensions)``."""
    given = embedder.embed_documents(texts) if texts else np.empty((0, embedder.dimensions))
    return _checked(given, (len(texts), embedder.dimensions), embedder)


def document(embedder: Embedder, text: str) -> Vectors:
    """Return float32 ``(dimensions,)`` for a text as it would be stored."""
    vector: Vectors = documents(embedder, [text])[0]
    return vector


def of_tokens(embedder: Embedder, given: TokenEmbedder, found: Tokens) -> Vectors:
    """Return float32 ``(len(found.ends), dimensions)`` for the tokens of texts."""
    return _checked(given.embed_tokens(found), (found.ends.size, embedder.dimensions), embedder)


def question(embedder: Embedder, text: str) -> Vectors:
    """Return float32 ``(dimensions,)``."""
    return _checked(embedder.embed_query(text), (embedder.dimensions,), embedder)


def _checked(given: Any, shape: tuple[int, ...], embedder: Embedder) -> Vectors:
    try:
        vectors = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        vectors = np.empty(0, np.float32)
    lengths = np.linalg.norm(vectors, axis=-1) if vectors.shape == shape else np.zeros(1)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EmbedderError(
            f"The embedder {embedder.name} must give float32 vectors of shape {shape}, each of length 1, and gave "
            f"{type(given).__name__} of shape {vectors.shape}. Nothing was stored."
        )
    return vectors
