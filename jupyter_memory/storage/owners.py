"""Which memory each chunk belongs to: both retrievers of every search ask it of their best chunks."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.cache import Cache, removals

Keys = NDArray[np.int64]


class Owners:
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
