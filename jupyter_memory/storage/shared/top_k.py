"""From scored chunks to the best memories, each by its best chunk, with the same order for equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jupyter_memory.types import ScoredChunk


class Row(NamedTuple):
    """A chunk that an index returned, with what decides between equal scores."""

    memory: int
    chunk: int
    score: float
    event_at: int
    content_hash: str


def cut(rows: Sequence[Row], count: int) -> list[ScoredChunk]:
    """Return the best ``count`` memories, each by its best chunk; of equal scores the newer, then by content hash."""
    best: dict[int, Row] = {}
    for row in rows:
        known = best.get(row.memory)
        # Of two chunks with equal scores the earlier represents the memory.
        if known is None or (-row.score, row.chunk) < (-known.score, known.chunk):
            best[row.memory] = row
    ordered = sorted(best.values(), key=lambda row: (-row.score, -row.event_at, row.content_hash))
    return [ScoredChunk(row.memory, row.chunk, row.score) for row in ordered[:count]]


def is_settled(rows: Sequence[Row], asked: int, count: int) -> bool:
    """Return whether ``rows``, the best ``asked`` chunks in order, are enough to name the best ``count`` memories.

    They are if the index has no more, or if enough memories score better than its last row: then no chunk that it did
    not return can be among them or tie with them.
    """
    if len(rows) < asked:
        return True
    return len({row.memory for row in rows if row.score > rows[-1].score}) >= count
