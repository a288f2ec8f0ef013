"""The embedder nomic-embed-text, computed by MLX; questions and documents have different prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jupyter_memory.embedders.bert.pooling import embed
from jupyter_memory.embedders.matryoshka import shorten
from jupyter_memory.embedders.nomic.folder import open_folder, revision
from jupyter_memory.embedders.runtime.mlx import mx
from jupyter_memory.errors import InputError
from jupyter_memory.types.protocols import Vectors

DIMENSIONS = (768, 512, 256, 128, 64)
QUERY_PREFIX = "search_query: "
DOCUMENT_PREFIX = "search_document: "
THRESHOLD = 0.3

# Counts up when the text that an embedder receives is composed in another way.
_RECIPE = "ctx1"


@dataclass(frozen=True)
class NomicEmbedder:
    """Embeds text with the nomic-bert model of a folder: ``config.json``, ``tokenizer.json`` and ``*.safetensors``.

    ``layer_norm`` before the cut to ``dimensions`` is the model card's recipe; without it the values are cut unchanged.
    The first text loads the files, once for all embedders of a process.

    Raises:
        InputError: the model cannot be cut to these dimensions.
    """

    path: Path
    dimensions: int = 256
    layer_norm: bool = True

    def __post_init__(self) -> None:
        if self.dimensions not in DIMENSIONS:
            raise InputError(
                f"The nomic model has {', '.join(map(str, DIMENSIONS))} dimensions, not {self.dimensions}."
            )
        object.__setattr__(self, "path", Path(self.path))

    @property
    def name(self) -> str:
        return "nomic"

    @property
    def threshold(self) -> float:
        """Return the cosine below which a hit is noise."""
        return THRESHOLD

    @cached_property
    def fingerprint(self) -> str:
        """Return what decides a vector: model, weights, dimensions, prefixes, pooling, recipe of the text.

        Raises:
            EmbedderUnavailable: the model's files are missing.
        """
        pooling = "mean-ln" if self.layer_norm else "mean"
        return f"nomic-bert-{revision(self.path)}/d{self.dimensions}/search_query+search_document/{pooling}/{_RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1; a text is read up to 2,048 tokens.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
            EmbedderError: a vector has no direction.
        """
        return self._embed(DOCUMENT_PREFIX, texts)

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
            EmbedderError: the vector has no direction.
        """
        vector: Vectors = self._embed(QUERY_PREFIX, [text])[0]
        return vector

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        return embed(lambda: open_folder(self.path), [prefix + text for text in texts], self.dimensions, self._finish)

    def _finish(self, means: mx.array) -> mx.array:
        if self.layer_norm:
            means = mx.fast.layer_norm(means, None, None, 1e-5)
        return shorten(means, self.dimensions)
