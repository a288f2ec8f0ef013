"""MLX on top of a fast BLAS, which has to be loaded first: other modules import ``mx`` and ``nn`` from here."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from jupyter_memory.embedders.runtime.blas import fast_blas

BLAS = fast_blas()
# Batches run side by side, each on its own stream, only where MLX walks their graph breadth first. A graph wider than
# this limit is walked depth first, one stream after the other; a long text's graph is wider than the default of 20.
if sys.platform == "linux":
    os.environ.setdefault("MLX_BFS_MAX_WIDTH", "400")

import mlx.core as mx  # noqa: E402

__all__ = ["mx", "nn", "on_cpu", "own_stream", "BLAS"]  # noqa: F822


def __getattr__(name: str) -> Any:
    # The static model has no layers, so it does not import them.
    if name == "nn":
        import mlx.nn

        return mlx.nn
    raise AttributeError(name)


def on_cpu() -> bool:
    """Return whether MLX computes on the CPU."""
    return bool(mx.default_device() == mx.Device(mx.cpu))


_forked: int | None = None


def own_stream() -> None:
    """Give a forked child a stream to compute on: the thread behind its parent's stream was not forked.

    Elsewhere it does nothing, so call it before each computation.
    """
    global _forked
    if _forked == threading.get_ident():
        mx.set_default_stream(mx.new_stream(mx.default_device()))
        _forked = None


def _note_fork() -> None:
    # Most children, such as the one of `!ls`, never compute.
    global _forked
    _forked = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
