"""Which arithmetic the static model uses: MLX where that is fast, else NumPy, with the same numbers up to rounding."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from platform import machine

import numpy as np

from jupyter_memory.embedders.checked import NO_DIRECTION
from jupyter_memory.embedders.runtime.token_table import Done, Floats, Ids, TokenTable
from jupyter_memory.embedders.tokenizer.bundled import half_precision
from jupyter_memory.errors import EmbedderError
from jupyter_memory.runtime import one_core
from jupyter_memory.types.protocols import Vectors


def load_table(file: Path) -> TokenTable:
    """Return the table of a checked safetensors file in float32."""
    if not _mlx_is_fast():
        return NumpyTable(file)
    try:
        from jupyter_memory.embedders.runtime.mlx_table import MlxTable
    except ImportError:
        # MLX has no wheels for Windows and Intel Macs.
        return NumpyTable(file)
    return MlxTable(file)


def _mlx_is_fast() -> bool:
    """Return whether MLX is here and, on Linux, a BLAS for it: with its own it takes four times as long as NumPy."""
    if not has_mlx():
        return False
    if sys.platform != "linux":
        return True
    from jupyter_memory.embedders.runtime.blas import fast_blas

    return fast_blas().library is not None


def arithmetic() -> str:
    """Return what the static model computes with, and the library that multiplies matrices for it."""
    if not has_mlx():
        why = "is not installed, and only larger models need it" if runs_mlx() else "does not run here"
        return f"NumPy, since MLX {why}"
    if sys.platform != "linux":
        return "MLX"
    from jupyter_memory.embedders.runtime.blas import fast_blas

    blas = fast_blas()
    return f"NumPy ({blas.notice})" if blas.notice else f"MLX with {blas.name}"


def has_mlx() -> bool:
    """Return whether MLX is installed; an uninstall may leave the empty folder ``mlx``, which does not count."""
    return is_installed("mlx.core")


def is_installed(module: str) -> bool:
    """Return whether a module can be found; it is not imported, as that takes longer than all else of a status."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def runs_mlx() -> bool:
    """Return whether MLX has wheels for this kind of machine: Linux, and Macs with Apple silicon."""
    return sys.platform == "linux" or (sys.platform == "darwin" and machine() == "arm64")


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
