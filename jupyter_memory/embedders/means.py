"""The mean of each text's token vectors, batch by batch: a compiled graph on a GPU, a batch to each core on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from threading import local

import numpy as np

from jupyter_memory.embedders.arrays import BLAS, mx
from jupyter_memory.embedders.batches import Batch
from jupyter_memory.embedders.nomic_bert import NomicBert, on_cpu
from jupyter_memory.embedders.resident import computing

# Tokens of a batch, padding included. On the CPU larger arrays are fetched from the system and given back at every
# step; on a GPU one token needs about 20 kB of intermediate values.
_SLOTS_CPU = 512
_SLOTS_GPU = 8_192

Compute = Callable[[mx.array, mx.array | None], mx.array]

_mine = local()


def slots() -> int:
    """Return how many tokens, padding included, a batch should have here."""
    return _SLOTS_CPU if on_cpu() else _SLOTS_GPU


def mean_vectors(
    model: NomicBert, token_ids: Sequence[Sequence[int]], batches: Iterable[Batch]
) -> Iterator[tuple[Batch, mx.array]]:
    """Yield each batch with float32 ``(rows, width)``, the means over the tokens of its texts."""
    return in_batches(partial(_means, model) if on_cpu() else _compiled(model), token_ids, batches)


def in_batches(
    compute: Compute, token_ids: Sequence[Sequence[int]], batches: Iterable[Batch], padding: int = 0
) -> Iterator[tuple[Batch, mx.array]]:
    """Yield each batch with what ``compute`` makes of its ids and mask, both ``(rows, tokens)``.

    Ids behind the end of a text are ``padding``; the mask, float32, is 1 for tokens and 0 for padding, and None on the
    CPU where nothing is.
    """
    if not on_cpu():
        for batch in batches:
            yield batch, compute(*_padded(token_ids, batch, padding))
        return
    batches = iter(batches)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    while some := list(islice(batches, cores)):
        with _streams(len(some), cores) as streams:
            found = []
            for batch, stream in zip(some, streams, strict=True):
                with mx.stream(stream):
                    ids, mask = _padded(token_ids, batch, padding)
                    even = all(len(token_ids[row]) == batch.tokens for row in batch.rows)
                    found.append(compute(ids, None if even else mask))
            mx.eval(found)
        yield from zip(some, found, strict=True)


@contextmanager
def _streams(count: int, cores: int) -> Iterator[list[mx.Stream]]:
    """Give streams, whose simple operations run on a thread each, and share the threads of OpenBLAS among them."""
    if len(getattr(_mine, "streams", ())) < cores:
        # A stream belongs to the thread that made it.
        _mine.streams = [mx.new_stream(mx.cpu) for _ in range(cores)]
    with BLAS.threads(cores // count):
        yield _mine.streams[:count]


@computing.kept
def _compiled(model: NomicBert) -> Compute:
    """Return a graph that is traced once for each shape."""
    compiled: Compute = mx.compile(lambda ids, mask: _means(model, ids, mask))
    return compiled


def _padded(token_ids: Sequence[Sequence[int]], batch: Batch, padding: int) -> tuple[mx.array, mx.array]:
    ids = np.full((len(batch.rows), batch.tokens), padding, dtype=np.int32)
    mask = np.zeros(ids.shape, dtype=np.float32)
    for number, row in enumerate(batch.rows):
        ids[number, : len(token_ids[row])] = token_ids[row]
        mask[number, : len(token_ids[row])] = 1
    return mx.array(ids), mx.array(mask)


def _means(model: NomicBert, ids: mx.array, mask: mx.array | None) -> mx.array:
    hidden = model(ids, mask).astype(mx.float32)
    if mask is None:
        return mx.mean(hidden, axis=1)
    mask = mask[:, :, None]
    return mx.sum(hidden * mask, axis=1) / mx.sum(mask, axis=1)
