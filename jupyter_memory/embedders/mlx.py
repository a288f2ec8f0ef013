"""MLX on top of a fast BLAS, which has to be loaded first: other modules import ``mx`` and ``nn`` from here.

What computes with them is decorated with `lifecycle.in_mlx_thread`.
"""

from __future__ import annotations

import os
import sys

from jupyter_memory.embedders.blas import fast_blas

BLAS = fast_blas()
# Wider graphs are walked depth first, so that batches on different streams wait for each other; by default from 20 on.
if sys.platform == "linux":
    os.environ.setdefault("MLX_BFS_MAX_WIDTH", "400")

import mlx.core as mx  # noqa: E402
from mlx import nn  # noqa: E402

__all__ = ["mx", "nn", "on_cpu", "BLAS"]


def on_cpu() -> bool:
    """Return whether MLX computes on the CPU."""
    return bool(mx.default_device() == mx.Device(mx.cpu))
