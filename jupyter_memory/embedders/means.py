"""The mean of each text's token vectors: one compiled graph on a GPU, every core for itself on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import local

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.arrays import BLAS, mx
from jupyter_memory.embedders.nomic_bert import NomicBert, on_cpu

_mine = local()


def mean_vectors(model: NomicBert, token_ids: Sequence[Sequence[int]], tokens: int) -> mx.array:
    """Return float32 ``(len(token_ids), width)``, computed; texts shorter than ``tokens`` are padded."""
    ids = np.zeros((len(token_ids), tokens), dtype=np.int32)
    mask = np.zeros(ids.shape, dtype=np.float32)
    for row, some in enumerate(token_ids):
        ids[row, : len(some)] = some
        mask[row, : len(some)] = 1
    return _on_cores(model, ids, mask) if on_cpu() else _compiled(model)(mx.array(ids), mx.array(mask))


def _on_cores(model: NomicBert, ids: NDArray[np.int32], mask: NDArray[np.float32]) -> mx.array:
    # MLX's simple operations run on one thread; a stream has a thread of its own.
    with _streams(len(ids)) as streams:
        parts = []
        shares = zip(np.array_split(ids, len(streams)), np.array_split(mask, len(streams)), strict=True)
        for stream, (some, shown) in zip(streams, shares, strict=True):
            with mx.stream(stream):
                parts.append(_means(model, mx.array(some), None if shown.all() else mx.array(shown)))
        mx.eval(parts)
    return mx.concatenate(parts)


@contextmanager
def _streams(rows: int) -> Iterator[list[mx.Stream]]:
    """Give streams for these rows, and each stream its share of the threads that multiply matrices."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not hasattr(_mine, "streams"):
        # A stream belongs to the thread that made it.
        _mine.streams = [mx.new_stream(mx.cpu) for _ in range(cores)]
    streams = _mine.streams[:rows]
    with BLAS.threads(max(1, cores // len(streams))):
        yield streams


@lru_cache(maxsize=1)
def _compiled(model: NomicBert) -> Callable[[mx.array, mx.array], mx.array]:
    """Return a graph that is traced once for each shape."""
    compiled: Callable[[mx.array, mx.array], mx.array] = mx.compile(lambda ids, mask: _means(model, ids, mask))
    return compiled


def _means(model: NomicBert, ids: mx.array, mask: mx.array | None) -> mx.array:
    hidden = model(ids, mask).astype(mx.float32)
    if mask is None:
        return mx.mean(hidden, axis=1)
    mask = mask[:, :, None]
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)
