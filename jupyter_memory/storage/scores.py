"""The BM25 scores of single words by chunk, kept from search to search for as long as the index stays as it is.

The sum of the scores of words is the score of the words together. Adding up what is kept costs a hundredth of what
FTS5 takes for a frequent word, and the words of one person's questions come back.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.finds import Scored

# Scores that are kept, 16 bytes each; what was not asked for longest goes first.
_MOST = 1_000_000


class Match(NamedTuple):
    """What is looked for: an FTS5 expression, and what it comes to once words are reduced to their stems."""

    expression: str
    stems: tuple[str, ...]


@dataclass(slots=True)
class Kept:
    """Scores of one state of the index, and how many chunks hold a word; safe to share between threads."""

    state: str
    most: int = _MOST
    frequencies: dict[tuple[str, ...], int] = field(default_factory=dict)
    _scored: OrderedDict[tuple[tuple[str, ...], str], Scored] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add_up(self, connection: apsw.Connection, matches: Sequence[Match], weights: str) -> Scored:
        """Return every chunk that fits one of these expressions, with the sum of its scores."""
        found = [self._of(connection, match, weights) for match in matches]
        chunks = np.concatenate([one.chunks for one in found])
        scores = np.concatenate([one.scores for one in found])
        # Summed in the order of the expressions, as FTS5 does, so that not even the last digit differs.
        sums: NDArray[np.float64] = np.bincount(chunks, scores).astype(np.float64, copy=False)
        fits = np.zeros(sums.size, dtype=bool)
        fits[chunks] = True
        chunks = np.flatnonzero(fits)
        return Scored(chunks, sums[chunks])

    def _of(self, connection: apsw.Connection, match: Match, weights: str) -> Scored:
        key = (match.stems, weights)
        with self._lock:
            if key in self._scored:
                self._scored.move_to_end(key)
                return self._scored[key]
        scored = Scored.read(
            connection.execute(
                f"select rowid, -bm25(keyword, {weights}) from keyword where keyword match ?", (match.expression,)
            )
        )
        with self._lock:
            if key not in self._scored:
                self._scored[key] = scored
                self._size += scored.chunks.size
            while self._size > self.most:
                self._size -= self._scored.popitem(last=False)[1].chunks.size
        return scored


class Scores:
    """What is kept of one store's keyword index."""

    def __init__(self) -> None:
        self._kept = Kept("")

    def of(self, connection: apsw.Connection) -> Kept | None:
        """Return what is kept of the index as this transaction sees it; None where the last search saw another.

        Word by word costs more than all at once, so it is not worth it for an index that changes with every search.
        """
        state = index_state(connection)
        kept = self._kept
        if kept.state == state:
            return kept
        self._kept = Kept(state)
        return None


def index_state(connection: apsw.Connection) -> str:
    """Return what differs between any two states of the keyword index."""
    # FTS5 writes its averages (1) and its structure (10) anew with every change. An index built anew may look just
    # like an earlier one, so that is counted.
    parts = connection.execute(
        """
        select hex(block) from keyword_data where id in (1, 10)
        union all select value from counters where name = 'removals'
        """
    ).fetchall()
    return ",".join(str(part) for (part,) in parts)
