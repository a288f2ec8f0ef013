"""nomic-embed-text and MiniLM: texts to vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from jupyter_memory.embedders.bert import Bert
from jupyter_memory.embedders.bert_weights import BertTokenizer, open_minilm, open_nomic, revision, width_of
from jupyter_memory.embedders.mlx_process import clear_cache, computing
from jupyter_memory.embedders.mlx_runtime import (
    Compute,
    Finish,
    batches,
    in_batches,
    mx,
    normalise,
    on_cpu,
    shorten,
    slots,
)
from jupyter_memory.errors import InputError
from jupyter_memory.types.protocols import Vectors

# Texts tokenised at once.
_BLOCK = 1_024


def embed(
    opened: Callable[[], tuple[Bert, BertTokenizer]], texts: Sequence[str], dimensions: int, finish: Finish
) -> Vectors:
    """Return float32 ``(len(texts), dimensions)``, which ``finish`` makes of the means over the tokens of each text.

    ``opened`` returns the model, loaded when the first text needs it.
    """
    vectors = np.empty((len(texts), dimensions), dtype=np.float32)
    with computing:
        model, tokenizer = opened()
        for start in range(0, len(texts), _BLOCK):
            token_ids = tokenizer.token_ids(texts[start : start + _BLOCK])
            grouped = batches([len(ids) for ids in token_ids], slots())
            compute = partial(_means, model) if on_cpu() else _compiled(model)
            for batch, found in in_batches(compute, token_ids, grouped, finish):
                vectors[[start + row for row in batch.rows]] = found
        clear_cache()
    return vectors


@computing.kept
def _compiled(model: Bert) -> Compute:
    compiled: Compute = mx.compile(lambda ids, mask: _means(model, ids, mask))
    return compiled


def _means(model: Bert, ids: mx.array, mask: mx.array | None) -> mx.array:
    hidden = model(ids, mask).astype(mx.float32)
    if mask is None:
        return mx.mean(hidden, axis=1)
    mask = mask[:, :, None]
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)


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
        return THRESHOLD

    @cached_property
    def fingerprint(self) -> str:
        pooling = "mean-ln" if self.layer_norm else "mean"
        weights = revision(self.path)
        return f"nomic-bert-{weights}/d{self.dimensions}/search_query+search_document/{pooling}/{_RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return self._embed(DOCUMENT_PREFIX, texts)

    def embed_query(self, text: str, /) -> Vectors:
        vector: Vectors = self._embed(QUERY_PREFIX, [text])[0]
        return vector

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        def finish(means: mx.array) -> mx.array:
            return shorten(mx.fast.layer_norm(means, None, None, 1e-5) if self.layer_norm else means, self.dimensions)

        return embed(lambda: open_nomic(self.path), [prefix + text for text in texts], self.dimensions, finish)


@dataclass(frozen=True)
class MiniLmEmbedder:
    """Embeds text with the model of a folder: ``config.json``, ``tokenizer.json`` and ``*.safetensors``.

    The first text loads the files, once for all embedders of a process.
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @property
    def name(self) -> str:
        return "minilm"

    @cached_property
    def dimensions(self) -> int:
        return width_of(self.path, "minilm")

    @property
    def threshold(self) -> float:
        return THRESHOLD

    @cached_property
    def fingerprint(self) -> str:
        return f"minilm-{revision(self.path)}/d{self.dimensions}/mean/{_RECIPE}"

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return embed(lambda: open_minilm(self.path), texts, self.dimensions, normalise)

    def embed_query(self, text: str, /) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector
