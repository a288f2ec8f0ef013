"""Texts to vectors: the mean of the vectors that a model gives to the tokens of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from jupyter_memory.embedders.bert.tokenizer import BertTokenizer
from jupyter_memory.embedders.runtime.batching import Batch, Compute, Finish, batches, in_batches, slots
from jupyter_memory.embedders.runtime.lifecycle import clear_cache, computing
from jupyter_memory.embedders.runtime.mlx import mx, on_cpu
from jupyter_memory.types.protocols import Vectors

# Texts tokenised at once.
_BLOCK = 1_024


class Transformer(Protocol):
    """A model: int ids and a float32 mask, both ``(batch, tokens)``, to ``(batch, tokens, width)``."""

    def __call__(self, ids: mx.array, mask: mx.array | None = None) -> mx.array: ...

    def __hash__(self) -> int: ...


def embed(
    opened: Callable[[], tuple[Transformer, BertTokenizer]], texts: Sequence[str], dimensions: int, finish: Finish
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
            for batch, found in mean_vectors(model, token_ids, grouped, finish):
                vectors[[start + row for row in batch.rows]] = found
        clear_cache()
    return vectors


def mean_vectors(
    model: Transformer, token_ids: Sequence[Sequence[int]], grouped: Iterable[Batch], finish: Finish
) -> Iterator[tuple[Batch, Vectors]]:
    """Yield each batch with what ``finish`` makes of float32 ``(rows, width)``, the means over its texts' tokens."""
    return in_batches(partial(_means, model) if on_cpu() else _compiled(model), token_ids, grouped, finish)


@computing.kept
def _compiled(model: Transformer) -> Compute:
    """Return a graph that is traced once for each shape."""
    compiled: Compute = mx.compile(lambda ids, mask: _means(model, ids, mask))
    return compiled


def _means(model: Transformer, ids: mx.array, mask: mx.array | None) -> mx.array:
    hidden = model(ids, mask).astype(mx.float32)
    if mask is None:
        return mx.mean(hidden, axis=1)
    mask = mask[:, :, None]
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)
