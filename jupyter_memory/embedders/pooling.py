"""The sum of each text's token vectors, many texts at once in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.arrays import mx

# Token vectors gathered at once: 8 MB at 256 dimensions. Larger groups leave the cache: half the speed.
_SLOTS = 8192


def with_padding(table: mx.array) -> mx.array:
    """Return a token table in float32 with a row of zeros at its end, the padding of `sum_tokens`."""
    padding = mx.zeros((1, table.shape[1]), dtype=table.dtype)
    return mx.concatenate([table, padding]).astype(mx.float32)


def sum_tokens(table: mx.array, token_ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return float32 ``(len(token_ids), width)``: the sum of the rows of ``table`` that each text names."""
    sums = np.empty((len(token_ids), table.shape[1]), dtype=np.float32)
    padding = table.shape[0] - 1
    for rows in _alike(token_ids):
        ids = np.full((len(rows), len(token_ids[rows[-1]])), padding, dtype=np.int32)
        for filled, row in zip(ids, rows, strict=True):
            filled[: len(token_ids[row])] = token_ids[row]
        sums[rows] = np.asarray(mx.sum(table[mx.array(ids)], axis=1))
    return sums


def _alike(token_ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the rows in groups of similar length, shortest first, so that little is padding."""
    group: list[int] = []
    for row in sorted(range(len(token_ids)), key=lambda row: len(token_ids[row])):
        if group and (len(group) + 1) * len(token_ids[row]) > _SLOTS:
            yield group
            group = []
        group.append(row)
    if group:
        yield group
