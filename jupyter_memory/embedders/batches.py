"""Texts of similar length together, in few shapes, with little padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Slots of a batch that may be padding.
_MOST_PADDING = 0.12


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of the input that are computed together, each padded to ``tokens``."""

    rows: tuple[int, ...]
    tokens: int


def batches(lengths: Sequence[int], budget: int) -> Iterator[Batch]:
    """Yield batches, the longest texts first, that hold every row once.

    A batch has a power of two of rows and a length of `shape_of`, so that few shapes occur and a compiled graph is
    used again; it has at most ``budget`` slots, or one row.

    >>> [(batch.rows, batch.tokens) for batch in batches([12, 40, 11, 12], budget=64)]
    [((1,), 40), ((0, 3), 12), ((2,), 11)]
    """
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(order):
        tokens = shape_of(lengths[order[start]])
        count = _fitting([lengths[row] for row in order[start : start + max(1, budget // tokens)]], tokens)
        count = 1 << (count.bit_length() - 1)
        yield Batch(tuple(order[start : start + count]), tokens)
        start += count


def shape_of(length: int) -> int:
    """Return the length to which a text is padded: at most an eighth more, with eight lengths to an octave.

    >>> [shape_of(length) for length in (5, 17, 100, 129, 512)]
    [5, 18, 104, 144, 512]
    """
    step = max(1, (1 << (length.bit_length() - 1)) // 8)
    return -(-length // step) * step


def _fitting(lengths: Sequence[int], tokens: int) -> int:
    """Return how many of these lengths, longest first, share a batch before too much of it is padding."""
    used = 0
    for count, length in enumerate(lengths):
        used += length
        slots = tokens * (count + 1)
        if count and slots - used > max(_MOST_PADDING * slots, slots - (count + 1) * lengths[0]):
            return count
    return len(lengths)
