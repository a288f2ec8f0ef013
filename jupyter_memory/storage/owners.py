"""Which memory each chunk belongs to, kept in memory: both legs of every search ask it of their best chunks."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.locks import Lock

Keys = NDArray[np.int64]


class Owners:
    """The memories of one store's chunks, 8 bytes each; safe to share between threads."""

    def __init__(self) -> None:
        self._known: tuple[int, Keys] = -1, np.zeros(1, np.int64)
        self._lock = Lock()

    def of(self, connection: apsw.Connection) -> Keys:
        """Return the key of each chunk's memory by the chunk's id as this transaction sees it, 0 where there is none.

        Only what is new is read, unless something was removed.
        """
        removals = connection.execute("select value from counters where name = 'removals'").get
        with self._lock:
            before, keys = self._known
            if before != removals:
                keys = np.zeros(1, np.int64)
            # All of them are quicker to read from the index by memory.
            newer = "where id >= ?" if keys.size > 1 else "where ? > 0"
            row: Any = connection.execute(
                f"select group_concat(id), group_concat(memory) from chunks {newer}", (keys.size,)
            ).fetchone()
            if row[0] is not None:
                chunks = np.fromstring(row[0], np.int64, sep=",")
                keys = np.concatenate([keys, np.zeros(int(chunks.max()) + 1 - keys.size, np.int64)])
                keys[chunks] = np.fromstring(row[1], np.int64, sep=",")
            self._known = removals, keys
            return keys
