"""Opens the database that the place of a store names; no other module names one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_memory.errors import InputError, MissingExtra
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.storage.snapshot import Storage as Storage
from jupyter_memory.storage.sqlite.database import BUSY_SECONDS, Database
from jupyter_memory.storage.sqlite.storage import SqliteStorage
from jupyter_memory.storage.sqlite.storage import restore as restore
from jupyter_memory.storage.sqlite.storage import versions as versions
from jupyter_memory.text.paths import DatabaseAddress, StorePath
from jupyter_memory.types import Filters

if TYPE_CHECKING:
    from jupyter_memory.storage.postgres.storage import Team


@dataclass(frozen=True, slots=True)
class PartOfStore:
    """What a search asks of a store, as if it held only what matches filters."""

    storage: Storage
    within: Filters

    @property
    def path(self) -> StorePath:
        return self.storage.path

    @property
    def removals(self) -> int:
        return self.storage.removals

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return self.storage.snapshot(self.within)


SearchStorage = Storage | PartOfStore


def open_storage(
    path: StorePath | Database, *, busy_seconds: float = BUSY_SECONDS, space: str = "", read_only: bool = False
) -> Storage:
    """Open or create the store in a file, perhaps one that is open already, or on a server.

    With a ``space``, nothing else of a store on a server is seen or counted; a file is not divided so. With
    ``read_only`` nothing is ever written. Raises ``StoreError`` or, where its package is missing, ``MissingExtra``.
    """
    if isinstance(path, DatabaseAddress):
        with _driver():
            from jupyter_memory.storage.postgres.storage import PostgresStorage
        storage = PostgresStorage(path, busy_seconds=busy_seconds, space=space)
        if read_only:
            storage.refuse_writing()
        return storage
    if not isinstance(path, Database):
        path = Database(path, busy_seconds=busy_seconds, read_only=read_only)
    return SqliteStorage(path)


def open_team(path: StorePath, *, busy_seconds: float) -> Team:
    """Open the rights in a store on a server, which is made if the database has none; raises as ``open_storage``."""
    if not isinstance(path, DatabaseAddress):
        raise InputError(
            f"{path} is a file, and who may open it is a matter of the disk. Name a database: --store "
            "postgresql://USER@HOST/DATABASE"
        )
    # Imported late: an extra brings the driver, and a store in a file need not wait for it.
    with _driver():
        from jupyter_memory.storage.postgres.storage import Team
    return Team(path, busy_seconds=busy_seconds)


@contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("psycopg"):
            raise
        raise MissingExtra("A store on a PostgreSQL server", "postgres") from None
