"""What goes into an embedder and what comes out, checked: anybody's object can be an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jupyter_memory.embedders.tokenizer.pieces import TakesTokens, Tokens
from jupyter_memory.errors import EmbedderError
from jupyter_memory.protocols import Embedder, Vectors

# What a text without words is embedded as.
NOTHING = "<unk>"


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
    """Return float32 ``(len(texts), dimensions)``.

    Raises:
        EmbedderError: the embedder gives something else, or a vector that has no direction.
    """
    given = embedder.embed_documents(texts) if texts else np.empty((0, embedder.dimensions))
    return _checked(given, (len(texts), embedder.dimensions), embedder)


def of_tokens(embedder: Embedder, given: TakesTokens, found: Tokens) -> Vectors:
    """Return float32 ``(len(found.ends), dimensions)`` for the tokens of texts.

    Raises:
        EmbedderError: the embedder gives something else, or a vector that has no direction.
    """
    return _checked(given.embed_tokens(found), (found.ends.size, embedder.dimensions), embedder)


def question(embedder: Embedder, text: str) -> Vectors:
    """Return float32 ``(dimensions,)``.

    Raises:
        EmbedderError: the embedder gives something else, or a vector that has no direction.
    """
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
