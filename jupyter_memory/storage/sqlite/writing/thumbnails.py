"""The thumbnails of a SQLite store; `storage.base.Thumbnails` says what each method does."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.connection.scrubbing import note_removal
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import memories, thumbnails
from jupyter_memory.storage.sqlite.writing.changes import Changes
from jupyter_memory.storage.sqlite.writing.transactions import Transactions
from jupyter_memory.types.memory import Thumbnail


class SqliteThumbnails:
    """The thumbnails of one store."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._transactions = Transactions(database, vectors)

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        with self._database.read() as connection:
            return thumbnails.get(connection, memories.known_key(connection, memory_id), place)

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        with self._database.read() as connection:
            return thumbnails.of_file(connection, path, space)

    def size(self, without: Sequence[str], space: str, /) -> int:
        with self._database.read() as connection:
            return thumbnails.count(connection)[1] - thumbnails.size_in(connection, without, space)

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        with self._database.read() as connection:
            return thumbnails.unread(connection, paths, space)

    def clear(self) -> int:
        def clear(changes: Changes) -> int:
            removed = thumbnails.clear(changes.connection)
            note_removal(changes.connection)
            return removed

        with self._database.read() as connection:
            if not thumbnails.count(connection)[0]:
                return 0
        return self._transactions.removed(clear)
