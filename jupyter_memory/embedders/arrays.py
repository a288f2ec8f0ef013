"""MLX with a fast BLAS under it: our files take ``mx`` and ``nn`` from here, as the BLAS has to be loaded first."""

from __future__ import annotations

from typing import Any

from jupyter_memory.embedders.blas import fast_blas

BLAS = fast_blas()

import mlx.core as mx  # noqa: E402

__all__ = ["mx", "nn", "BLAS"]  # noqa: F822


def __getattr__(name: str) -> Any:
    # A table of token vectors has no layers, and does not wait for their import.
    if name == "nn":
        import mlx.nn

        return mlx.nn
    raise AttributeError(name)
