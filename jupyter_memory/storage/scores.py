"""The BM25 scores of single words by chunk, kept from search to search for as long as the index stays as it is.

A sum of BM25 scores by word is the score of the words together. Adding up what is kept costs a hundredth of what FTS5
takes for a frequent word, and the words of one person's questions come back.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import apsw
import numpy as np
from numpy.typing import NDArray

# Places of words that are kept, 16 bytes each; what was not asked for longest goes first.
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Scored:
    """Chunks, with a BM25 score each (negated, so that higher is better)."""

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]

    def top(self, count: int) -> dict[int, float]:
        """Return the best ``count``, best first; where the cut meets equal scores, any of them."""
        best = np.arange(self.chunks.size)
        if count < best.size:
            best = np.argpartition(-self.scores, count)[:count]
        best = best[np.argsort(-self.scores[best])]
        return dict(zip(self.chunks[best].tolist(), self.scores[best].tolist(), strict=True))


@dataclass(slots=True)
class Scores:
    """What is kept of one store's keyword index; safe to share between threads."""

    most: int = _MOST
    _version: str = ""
    _kept: OrderedDict[tuple[str, str], Scored] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def version(self, connection: apsw.Connection) -> str | None:
        """Return which state of the index this transaction sees; None where the search before saw another.

        Word by word costs more than all at once, so it is not worth it for an index that changes with every search.
        """
        # FTS5 writes its averages (1) and its structure (10) anew with every change.
        state = connection.execute("select hex(block) from keyword_data where id in (1, 10) order by id").fetchall()
        seen = ",".join(block for (block,) in state)
        with self._lock:
            if seen == self._version:
                return seen
            self._version, self._size = seen, 0
            self._kept.clear()
        return None

    def add_up(self, connection: apsw.Connection, version: str, matches: Sequence[str], weights: str) -> Scored:
        """Return every chunk that fits one of these FTS5 expressions, with the sum of its scores."""
        found = [self._of(connection, version, match, weights) for match in matches]
        chunks = np.concatenate([one.chunks for one in found])
        # Summed in the order of the expressions, as FTS5 does, so that not even the last digit differs.
        sums = np.bincount(chunks, np.concatenate([one.scores for one in found]))
        fits = np.zeros(sums.size, dtype=bool)
        fits[chunks] = True
        chunks = np.flatnonzero(fits)
        return Scored(chunks, sums[chunks])

    def _of(self, connection: apsw.Connection, version: str, match: str, weights: str) -> Scored:
        key = (match, weights)
        with self._lock:
            if version == self._version and key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        scored = _ask(connection, match, weights)
        with self._lock:
            if version == self._version and key not in self._kept:
                self._kept[key] = scored
                self._size += scored.chunks.size
                while self._size > self.most:
                    self._size -= self._kept.popitem(last=False)[1].chunks.size
        return scored


def _ask(connection: apsw.Connection, match: str, weights: str) -> Scored:
    rows: list[tuple[int, float]] = connection.execute(
        f"select rowid, -bm25(keyword, {weights}) from keyword where keyword match ?", (match,)
    ).fetchall()
    chunks = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    return Scored(chunks, np.fromiter((row[1] for row in rows), np.float64, len(rows)))
