"""Opens the database that the place of a store names: a SQLite file. No other module names a database."""

from __future__ import annotations

from pathlib import Path

from jupyter_memory.storage.base import Storage
from jupyter_memory.storage.sqlite import backup
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.storage import SqliteStorage
from jupyter_memory.storage.sqlite.storage import versions as sqlite_versions


def open_storage(path: Path, *, busy_seconds: float) -> Storage:
    """Open the store in a file, or make it; wait up to ``busy_seconds`` for another writer.

    Raises:
        StoreDamaged, StoreTooNew, StoreReadOnly: the file is no store, is of a newer major version, or cannot be made.
    """
    return SqliteStorage(Database(path, busy_seconds=busy_seconds))


def restore(path: Path, target: Path, *, overwrite: bool) -> None:
    """Make a store at ``target`` out of a backup.

    Raises:
        StoreOpen: the store at ``target`` is open, here or in another program.
        InputError: there is no backup at ``path``, or a store at ``target`` and ``overwrite`` is False.
    """
    backup.restore(path, target, overwrite=overwrite)


def versions() -> dict[str, str]:
    """Return the versions of the databases and their extensions, by name."""
    return sqlite_versions()
