"""The thumbnails of a PostgreSQL store; `storage.base.Thumbnails` says what each method does."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.storage.postgres.connection.database import Database
from jupyter_memory.storage.postgres.tables import memories, thumbnails
from jupyter_memory.types.picture import Thumbnail


class PostgresThumbnails:
    """The thumbnails of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        with self._database.read() as session:
            return thumbnails.get(session, memories.known_key(session, memory_id), place)

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        with self._database.read() as session:
            return thumbnails.of_file(session, path, space)

    def size(self, without: Sequence[str], space: str, /) -> int:
        with self._database.read() as session:
            return thumbnails.count(session)[1] - thumbnails.size_in(session, without, space)

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        with self._database.read() as session:
            return thumbnails.unread(session, paths, space)

    def clear(self) -> int:
        return self._database.change(thumbnails.clear)
