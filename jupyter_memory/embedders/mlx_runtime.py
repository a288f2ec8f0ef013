"""MLX on a fast BLAS: batches of texts of similar lengths, and vectors made shorter."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import local

import numpy as np

from jupyter_memory.embedders.base import NO_DIRECTION
from jupyter_memory.embedders.blas import fast_blas
from jupyter_memory.embedders.lifecycle import clear_cache, in_mlx_thread
from jupyter_memory.errors import EmbedderError, InputError
from jupyter_memory.types.protocols import Vectors

# It has to be loaded before MLX. So other modules import ``mx`` and ``nn`` from here.
BLAS = fast_blas()
# Wider graphs are walked depth first, so that batches on different streams wait for each other; by default from 20 on.
if sys.platform == "linux":
    os.environ.setdefault("MLX_BFS_MAX_WIDTH", "400")

import mlx.core as mx  # noqa: E402
from mlx import nn  # noqa: E402

__all__ = ["batches", "embedded", "mx", "nn", "on_cpu", "read_tensors", "shorten"]

# The share of a batch that may be padding.
_MOST_PADDING = 0.12
# Tokens of a batch, padding included. On the CPU, larger arrays are allocated and freed at every step; on a GPU, one
# token needs about 20 kB of intermediate values.
_SLOTS_CPU = 512
_SLOTS_GPU = 8_192
# Texts tokenised at once.
_BLOCK = 1_024

Compute = Callable[[mx.array, mx.array | None], mx.array]
Finish = Callable[[mx.array], mx.array]
Tokenise = Callable[[Sequence[str]], list[list[int]]]


def on_cpu() -> bool:
    return bool(mx.default_device() == mx.Device(mx.cpu))


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of the input that are computed together, each padded to ``tokens``."""

    rows: tuple[int, ...]
    tokens: int


def batches(lengths: Sequence[int], budget: int) -> Iterator[Batch]:
    """Yield batches of at most ``budget`` slots, or of one row, the longest texts first."""
    # A power of two of rows, and one of eight lengths to an octave: few shapes, whose compiled graphs are used again.
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(order):
        longest = lengths[order[start]]
        step = max(1, (1 << (longest.bit_length() - 1)) // 8)
        tokens = -(-longest // step) * step
        count = used = 0
        for row in order[start : start + max(1, budget // tokens)]:
            used += lengths[row]
            slots = tokens * (count + 1)
            if count and slots - used > max(_MOST_PADDING * slots, slots - (count + 1) * longest):
                break
            count += 1
        count = 1 << (count.bit_length() - 1)
        yield Batch(tuple(order[start : start + count]), tokens)
        start += count


def embedded(
    texts: Sequence[str], dimensions: int, tokenise: Tokenise, compute: Compute, finish: Finish, padding: int = 0
) -> Vectors:
    """Return float32 ``(len(texts), dimensions)``: ``finish`` of what ``compute`` makes of ids and mask of each batch.

    Both are ``(rows, tokens)``; the mask is 1 for tokens and 0 for padding, or None on the CPU where nothing is
    padding. ``compute`` only describes a graph, so that batches run side by side; ``finish`` may wait for values.
    """
    vectors = np.empty((len(texts), dimensions), dtype=np.float32)
    is_cpu = on_cpu()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most, budget = (cores, _SLOTS_CPU) if is_cpu else (1, _SLOTS_GPU)

    @in_mlx_thread
    def computed(token_ids: Sequence[Sequence[int]], some: Sequence[Batch]) -> list[Vectors]:
        if not is_cpu:
            return [np.asarray(finish(compute(*_padded(token_ids, batch, padding)))) for batch in some]
        # Streams that each compute on a thread of their own, and share the threads of OpenBLAS.
        streams = getattr(_MINE, "streams", [])
        if len(streams) < most:
            streams = _MINE.streams = [mx.new_stream(mx.cpu) for _ in range(most)]
        with BLAS.threads(most // len(some)):
            found = []
            for batch, stream in zip(some, streams, strict=False):
                with mx.stream(stream):
                    ids, mask = _padded(token_ids, batch, padding)
                    even = all(len(token_ids[row]) == batch.tokens for row in batch.rows)
                    found.append(compute(ids, None if even else mask))
            mx.eval(found)
        return [np.asarray(finish(one)) for one in found]

    for start in range(0, len(texts), _BLOCK):
        token_ids = tokenise(texts[start : start + _BLOCK])
        rest = batches([len(ids) for ids in token_ids], budget)
        # Between two turns others may compute, and a waiting caller may be interrupted.
        while some := list(islice(rest, most)):
            for batch, found in zip(some, computed(token_ids, some), strict=True):
                vectors[[start + row for row in batch.rows]] = found
    clear_cache()
    return vectors


_MINE = local()


def _padded(token_ids: Sequence[Sequence[int]], batch: Batch, padding: int) -> tuple[mx.array, mx.array]:
    ids = np.full((len(batch.rows), batch.tokens), padding, dtype=np.int32)
    mask = np.zeros(ids.shape, dtype=np.float32)
    for number, row in enumerate(batch.rows):
        ids[number, : len(token_ids[row])] = token_ids[row]
        mask[number, : len(token_ids[row])] = 1
    return mx.array(ids), mx.array(mask)


# Below this the squares lose digits in float32, and the direction of a row is unreliable.
_SMALLEST_SQUARE = 1e-30


def shorten(vectors: mx.array, dimensions: int) -> mx.array:
    """Return the first ``dimensions`` values of each row, with length 1 (float32)."""
    width = vectors.shape[-1]
    if not 1 <= dimensions <= width:
        raise InputError(f"Vectors of {width} dimensions cannot be cut to {dimensions}. Ask for fewer.")
    # In float32, as half precision overflows at the square of 256.
    vectors = vectors[..., :dimensions].astype(mx.float32)
    squares = mx.sum(mx.square(vectors), axis=-1, keepdims=True)
    # NaN fails these comparisons.
    sound = (squares >= _SMALLEST_SQUARE) & (squares < float("inf"))
    if not mx.all(sound).item():
        raise EmbedderError(NO_DIRECTION)
    return vectors / mx.sqrt(squares)


@in_mlx_thread
def read_tensors(file: Path) -> dict[str, mx.array]:
    """Return the tensors of a file by name; MLX reads each when it is first used, which must be in its thread."""
    tensors = mx.load(str(file))
    assert isinstance(tensors, dict), "a safetensors file holds tensors by name"
    return tensors
