"""Opens the database that the place of a store names, and IPython's history. No other module names a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jupyter_memory.storage.base import Storage
from jupyter_memory.storage.sqlite import backup
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.storage import SqliteStorage
from jupyter_memory.storage.sqlite.storage import versions as sqlite_versions
from jupyter_memory.types import Run


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


def ipython_runs(path: Path) -> Iterator[Run]:
    """Yield what IPython's own history holds, in the order in which it ran; nothing is written there.

    Raises:
        InputError: there is no such file, it is not a history of IPython, or another program keeps it locked.
    """
    # Imported late: few need it, and some builds of Python lack the module that it reads with.
    from jupyter_memory.storage.sqlite import ipython_history

    return ipython_history.ipython_runs(path)


def versions() -> dict[str, str]:
    """Return the versions of the databases and their extensions, by name."""
    return sqlite_versions()
