"""The transactions that change memories: room for them on a full disk, and no trace of what they removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.connection.room import compact, keep_reserve, scrub_with_room, with_room
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.writing.changes import Changes


class Transactions:
    """The transactions of one store."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._vectors = vectors

    @contextmanager
    def changing(self, *, yielding: bool = False) -> Iterator[Changes]:
        """Change memories in one transaction; the keyword index is updated at its end."""
        with self._database.write(yielding=yielding) as connection:
            changes = Changes(connection, self._vectors)
            yield changes
            changes.finish()
        keep_reserve(self._database.path)

    def removed(self, remove: Callable[[Changes], int]) -> int:
        """Run what removes memories, also on a full disk, and tidy up after it; return how many went."""

        def run() -> int:
            with self.changing() as changes:
                return remove(changes)

        count = with_room(self._database, run)
        self.scrub()
        return count

    def scrub(self, *, compact_at: float = 0.5) -> None:
        """Overwrite what is left of what was removed; rewrite the file if more than this part of it is free."""
        with self._database.read() as connection:
            needed = scrubbing.pending(connection) is not None
        if needed:
            scrub_with_room(self._database)
            compact(self._database, compact_at)
