"""The frequent words of the keyword index, read between searches so that no search waits for them.

FTS5 takes 3 microseconds a row for BM25, so a word in 30,000 chunks takes 0.1 s; and the words that are in many chunks
are in many questions, too. ``fts5vocab`` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import apsw

from jupyter_memory.storage.cache import version
from jupyter_memory.storage.statistics import open_word_counts

# Words of the vocabulary that one step looks at: 50 ms at 100,000 chunks.
_SLICE = 10_000
# A word in fewer chunks takes a few milliseconds when it is asked for; one in more takes too long to be read while a
# person may go on at any moment.
_LEAST, _LARGEST = 3_000, 100_000


class ReadAhead:
    """Reads the frequent words of one version of the index, the most frequent first, while there is room for them.

    ``read`` keeps the scores of a word, given by its stem; ``room`` returns for how many scores there is room;
    ``stop_words`` returns stems that nobody asks for.
    """

    def __init__(
        self,
        index: str,
        read: Callable[[apsw.Connection, str], None],
        room: Callable[[], int],
        stop_words: Callable[[apsw.Connection], Collection[str]],
    ) -> None:
        self.index = index
        self.done = False
        self._read = read
        self._room = room
        self._stop_words = stop_words
        self._last: str | None = ""
        self._frequent: list[tuple[int, str]] = []

    def __call__(self, connection: apsw.Connection) -> bool:
        """Take one step of some milliseconds; return whether there is more to do for this state of the index."""
        if version(connection) != self.index:
            return False
        if self._last is not None:
            self._look_on(connection, self._last)
        elif self._frequent and self._room() >= self._frequent[-1][0]:
            self._read(connection, self._frequent.pop()[1])
        else:
            self.done = True
        return not self.done

    def _look_on(self, connection: apsw.Connection, last: str) -> None:
        """Find the frequent words in the next part of the vocabulary."""
        open_word_counts(connection)
        rows: list[Any] = connection.execute(
            "select term, doc from temp.word_counts where term > ? limit ?", (last, _SLICE)
        ).fetchall()
        # A search leaves out what more than half of the chunks hold.
        most = min(_LARGEST, connection.execute("select coalesce(max(id), 0) from chunks").get // 2)
        self._frequent += [(chunks, stem) for stem, chunks in rows if _LEAST <= chunks <= most]
        self._last = rows[-1][0] if len(rows) == _SLICE else None
        if self._last is None:
            left_out = self._stop_words(connection)
            self._frequent = sorted(one for one in self._frequent if one[1] not in left_out)
