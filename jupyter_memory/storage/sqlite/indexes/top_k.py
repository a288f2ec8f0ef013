"""From the chunks that an index scores to the best memories."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.shared.top_k import Row, cut, is_settled
from jupyter_memory.storage.sqlite.sql import removals
from jupyter_memory.types import ScoredChunk

Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ScoredChunks:
    """Chunks with a score each, higher is better, in no order."""

    chunks: Keys
    scores: NDArray[np.float64]

    @classmethod
    def read(cls, rows: Any) -> Self:
        """Return what a statement gives as pairs of chunk and score."""
        both = np.fromiter(rows, [("chunk", np.int64), ("score", np.float64)])
        return cls(np.ascontiguousarray(both["chunk"]), np.ascontiguousarray(both["score"]))

    def at_least(self, floor: float) -> Self:
        """Return those that score no less."""
        kept = self.scores >= floor
        return type(self)(self.chunks[kept], self.scores[kept])

    def above_zero(self) -> Self:
        """Return those that score more than nothing."""
        kept = self.scores > 0
        return type(self)(self.chunks[kept], self.scores[kept])

    def among(self, chunks: Keys, /) -> Self:
        """Return those of these chunks whose score is not 0."""
        fits = np.isin(self.chunks, chunks)
        return type(self)(self.chunks[fits], self.scores[fits]).above_zero()

    def top(self, count: int) -> dict[int, float]:
        """Return the scores of the best ``count``, best first; where the cut meets equal scores, any of them."""
        best = np.arange(self.chunks.size)
        if count < best.size:
            best = np.argpartition(-self.scores, count)[:count]
        best = best[np.argsort(-self.scores[best])]
        return dict(zip(self.chunks[best].tolist(), self.scores[best].tolist(), strict=True))


class Ranked(Protocol):
    """Scored chunks that can return the best of them."""

    def top(self, count: int) -> dict[int, float]:
        """Return the scores of the best ``count``, best first; where the cut meets equal scores, any of them."""
        ...


class ChunkOwners:
    """The memories of one store's chunks, 8 bytes each; safe to share between threads."""

    def __init__(self) -> None:
        self._known: Cache[str, Keys] = Cache(1)

    def of(self, connection: apsw.Connection) -> Keys:
        """Return the key of each chunk's memory by the chunk's id as this transaction sees it, 0 where there is none.

        Only what is new is read, unless something was removed.
        """
        state = removals(connection)
        keys = self._known.get(state, "")
        # All of them are quicker to read from the index by memory.
        newer, first = ("where ? = 0", 0) if keys is None else ("where id >= ?", keys.size)
        keys = np.zeros(1, np.int64) if keys is None else keys
        row: Any = connection.execute(
            f"select group_concat(id), group_concat(memory) from chunks {newer}", (first,)
        ).fetchone()
        if row[0] is not None:
            chunks = np.fromstring(row[0], np.int64, sep=",")
            keys = np.concatenate([keys, np.zeros(int(chunks.max()) + 1 - keys.size, np.int64)])
            keys[chunks] = np.fromstring(row[1], np.int64, sep=",")
            self._known.put(state, "", keys)
        return keys


def best_memories(connection: apsw.Connection, scored: Ranked, count: int, owners: ChunkOwners) -> list[ScoredChunk]:
    """Return the best ``count`` memories among scored chunks, each by its best chunk; only those are looked up."""
    keys, asked = owners.of(connection), count + 16
    while True:
        rows = _with_owners(connection, scored.top(asked), keys)
        if is_settled(rows, asked, count):
            return cut(rows, count)
        asked *= 4


def _with_owners(connection: apsw.Connection, scores: Mapping[int, float], keys: Keys) -> list[Row]:
    """Return chunks with their memories, and with what decides between equal scores where there are any."""
    owned = [(keys.item(chunk), chunk, score) for chunk, score in scores.items() if chunk < keys.size]
    often = Counter(scores.values())
    tied = _ages(connection, [memory for memory, _, score in owned if often[score] > 1])
    return [Row(memory, chunk, score, *tied.get(memory, (0, ""))) for memory, chunk, score in owned if memory]


def _ages(connection: apsw.Connection, memories: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Return the event time of each memory and the hash of its content."""
    if not memories:
        return {}
    # One row, since another thread may run Python whenever a row is fetched.
    found = connection.execute(
        """
        select json_group_array(json_array(key, event_at, content_hash))
        from memories where key in (select value from json_each(?))
        """,
        (json.dumps(memories),),
    ).get
    return {key: (event_at, hash_) for key, event_at, hash_ in json.loads(found)}
