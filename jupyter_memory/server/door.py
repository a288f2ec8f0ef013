"""The door to the store: opened by the first request that needs it, in a thread, and again when the file changed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_memory.config import JupyterMemory, store_path
from jupyter_memory.errors import NoStore
from jupyter_memory.paths import absolute

if TYPE_CHECKING:
    from jupyter_memory.store import MemoryStore


class Door:
    """The store that the settings name; every method may block. Relative paths in its queries begin at ``folder``."""

    def __init__(self, settings: JupyterMemory, folder: str | None = None) -> None:
        self.settings = settings
        self._folder = folder
        self._lock = threading.Lock()
        self._store: MemoryStore | None = None
        self._place: tuple[int, int] | None = None

    @property
    def path(self) -> Path:
        """Return the file of the store, whether it is there or not."""
        return absolute(store_path(self.settings))

    def store(self, *, make: bool = False) -> MemoryStore:
        """Return the open store; with ``make`` it is made if it is not there.

        Raises:
            NoStore: there is none, and nobody asked to make one.
            StoreError: it cannot be opened; the next request tries again.
        """
        with self._lock:
            place = _place(self.path)
            if self._store is not None and (self._store.closed or place != self._place):
                self._store.close()
                self._store = None
            if self._store is None:
                if place is None and not make:
                    raise NoStore(f"There is no store at {self.path} yet. Index a folder or add a note to make it.")
                self._store = self._opened()
                self._place = _place(self.path)
            return self._store

    def interrupt(self, thread: int) -> None:
        """Interrupt what a thread is asking the store."""
        # Without the lock: the loop of the server must not wait for a store that is being opened.
        store = self._store
        if store is not None:
            store.interrupt(thread)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _opened(self) -> MemoryStore:
        # Imported late: this wakes NumPy and SQLite, and a server that is never asked need not wait for them.
        from jupyter_memory.store import MemoryStore

        chosen = self.settings
        return MemoryStore(
            self.path, chosen.embedder, chosen.profile, chosen.space or None, settings=chosen, folder=self._folder
        )


def _place(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of its name, None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
