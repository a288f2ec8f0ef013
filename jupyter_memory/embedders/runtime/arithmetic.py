"""Which arithmetic the static model uses: MLX where it runs, else NumPy."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from jupyter_memory.embedders.runtime.token_table import TokenTable


def load_table(file: Path) -> TokenTable:
    """Return the table of a checked safetensors file in float32."""
    try:
        from jupyter_memory.embedders.runtime.mlx_table import MlxTable
    except ImportError:
        # MLX has no wheels for Windows and Intel Macs.
        from jupyter_memory.embedders.runtime.numpy_table import NumpyTable

        return NumpyTable(file)
    return MlxTable(file)


def arithmetic() -> str:
    """Return what the static model computes with, and the library that multiplies matrices for it."""
    if not has_mlx():
        return "NumPy, since MLX does not run here"
    if sys.platform != "linux":
        return "MLX"
    from jupyter_memory.embedders.runtime.blas import fast_blas

    blas = fast_blas()
    return f"MLX ({blas.notice})" if blas.notice else f"MLX with {blas.name}"


def has_mlx() -> bool:
    """Return whether MLX is installed; an uninstall may leave the empty folder ``mlx``, which does not count."""
    try:
        # Found, not imported: that takes longer than all else that a status says.
        return find_spec("mlx.core") is not None
    except (ImportError, ValueError):
        return False
