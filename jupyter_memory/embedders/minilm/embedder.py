"""The embedder all-MiniLM-L6-v2, computed by MLX; questions and documents are embedded alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jupyter_memory.embedders.bert.pooling import embed
from jupyter_memory.embedders.matryoshka import normalise
from jupyter_memory.embedders.minilm.folder import open_folder, revision, shape_of
from jupyter_memory.types.protocols import Vectors

# Measured on the judged sets (benchmarks/README.md): 0.3 loses 6 % of the relevant pairs and keeps out 82 % of the
# unrelated ones, 0.28 loses 5 and keeps out 78 %, 0.25 3.5 and 71 %, 0.35 10 and 90 %. With covalence SciFact's
# nDCG@10 is .722 at 0.3, .720 up to 0.28 and .717 at 0.35.
THRESHOLD = 0.3

_RECIPE = "ctx1"


@dataclass(frozen=True)
class MiniLmEmbedder:
    """Embeds text with the model of a folder: ``config.json``, ``tokenizer.json`` and ``*.safetensors``.

    The first text loads the files, once for all embedders of a process.

    Raises:
        EmbedderUnavailable: config.json is missing, or of another model.
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @property
    def name(self) -> str:
        return "minilm"

    @cached_property
    def dimensions(self) -> int:
        """Return the length of a vector.

        Raises:
            EmbedderUnavailable: config.json is missing, or of another model.
        """
        return shape_of(self.path).width

    @property
    def threshold(self) -> float:
        """Return the cosine below which a hit is noise."""
        return THRESHOLD

    @cached_property
    def fingerprint(self) -> str:
        """Return what decides a vector: model, weights, dimensions, pooling, recipe of the text.

        Raises:
            EmbedderUnavailable: the model's files are missing.
        """
        return f"minilm-{revision(self.path)}/d{self.dimensions}/mean/{_RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Return float32 ``(len(texts), dimensions)``, each row of length 1; a text is read up to 256 tokens.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
            EmbedderError: a vector has no direction.
        """
        return embed(lambda: open_folder(self.path), texts, self.dimensions, normalise)

    def embed_query(self, text: str, /) -> Vectors:
        """Return float32 ``(dimensions,)`` of length 1.

        Raises:
            EmbedderUnavailable: the model's files are missing or damaged.
            EmbedderError: the vector has no direction.
        """
        vector: Vectors = self.embed_documents([text])[0]
        return vector
