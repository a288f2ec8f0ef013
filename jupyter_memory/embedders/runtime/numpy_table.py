"""A table of token vectors in NumPy, where MLX does not run: the same numbers, to the rounding of float32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from jupyter_memory.embedders.checked import NO_DIRECTION
from jupyter_memory.embedders.runtime.token_table import Done, Floats, Ids
from jupyter_memory.embedders.tokenizer.bundled import half_precision
from jupyter_memory.errors import EmbedderError
from jupyter_memory.one_core import one_core
from jupyter_memory.protocols import Vectors


class NumpyTable:
    """Token vectors as a NumPy array; see ``TokenTable``."""

    def __init__(self, file: Path) -> None:
        self._table = half_precision(file).astype(np.float32)

    @property
    def rows(self) -> int:
        return int(self._table.shape[0])

    @property
    def width(self) -> int:
        return int(self._table.shape[1])

    def run(self, work: Callable[[], Done], /) -> Done:
        return work()

    def total(self, ids: Ids, /) -> Floats:
        total: Floats = self._table[ids].sum(axis=0, keepdims=True)
        return total

    def product(self, often: Floats, ids: Ids, /) -> Floats:
        with one_core():
            found: Floats = often @ self._table[ids]
        return found

    def means(self, sums: Floats, counts: Floats, dimensions: int, /) -> Vectors:
        vectors = (sums / counts)[:, :dimensions]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        # NaN fails these comparisons.
        if not ((lengths > 0) & (lengths < np.inf)).all():
            raise EmbedderError(NO_DIRECTION)
        unit: Vectors = vectors / lengths
        return unit
