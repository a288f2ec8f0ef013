"""A table of token vectors in MLX."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from jupyter_memory.embedders.bert_weights import read_tensors
from jupyter_memory.embedders.lifecycle import in_mlx_thread
from jupyter_memory.embedders.mlx import BLAS, mx
from jupyter_memory.embedders.mlx_runtime import shorten
from jupyter_memory.embedders.token_table import Done, Floats, Ids
from jupyter_memory.types.protocols import Vectors


class MlxTable:
    """Token vectors as an MLX array; see ``TokenTable``."""

    def __init__(self, file: Path) -> None:
        self._table = _load(file)

    @property
    def rows(self) -> int:
        return int(self._table.shape[0])

    @property
    def width(self) -> int:
        return int(self._table.shape[1])

    @in_mlx_thread
    def run(self, work: Callable[[], Done], /) -> Done:
        return work()

    def total(self, ids: Ids, /) -> Floats:
        return np.asarray(mx.sum(self._table[mx.array(ids)], axis=0, keepdims=True))

    def product(self, often: Floats, ids: Ids, /) -> Floats:
        # One thread: the matrices are small, and several would wait for each other.
        with BLAS.threads(1):
            return np.asarray(mx.array(often) @ self._table[mx.array(ids)])

    def means(self, sums: Floats, counts: Floats, dimensions: int, /) -> Vectors:
        vectors: Vectors = np.asarray(shorten(mx.array(sums) / mx.array(counts), dimensions))
        return vectors


@in_mlx_thread
def _load(file: Path) -> mx.array:
    [table] = read_tensors(file).values()
    table = table.astype(mx.float32)
    # MLX is lazy, and another thread cannot finish what this one has begun.
    mx.eval(table)
    mx.clear_cache()
    return table
