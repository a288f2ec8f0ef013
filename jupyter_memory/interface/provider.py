"""The store that magics and server share in a process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from jupyter_memory.config import JupyterMemory, store_path
from jupyter_memory.errors import NoStore, StoreClosed
from jupyter_memory.text.paths import StorePath, may_exist, store_at

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore

# Seconds that a server which stops waits for a store that is being opened: its disk may not answer.
_PATIENCE = 2.0


class StoreProvider:
    """The store that the settings name; every method may block. Relative paths in its queries begin at ``folder``."""

    def __init__(self, settings: JupyterMemory, folder: str | None = None) -> None:
        self.settings = settings
        self._folder = folder
        self._lock = threading.Lock()
        self._store: MemoryStore | None = None
        self.closed = False

    @property
    def path(self) -> StorePath:
        """Return where the store is, whether there is one or not."""
        return store_at(store_path(self.settings))

    @property
    def exists(self) -> bool:
        """Return whether there may be a store."""
        return may_exist(self.path)

    def store(self, *, create: bool = False) -> MemoryStore:
        """Return the open store; with ``create`` it is created if it does not exist.

        After a ``StoreError`` the next request tries again, unless the provider was closed for good.
        """
        with self._lock:
            if self._store is not None and (self._store.closed or self._store.replaced):
                self._store.close()
                self._store = None
            if self._store is None and not self.closed:
                if not create and not self.exists:
                    raise NoStore(f"There is no store at {self.path} yet. Index a folder or add a note to make it.")
                # Imported late: this loads NumPy and SQLite, and a server without requests need not wait for them.
                from jupyter_memory.store.store import MemoryStore

                chosen, space, at = self.settings, self.settings.space or None, self._folder
                self._store = MemoryStore(self.path, chosen.embedder, chosen.profile, space, settings=chosen, folder=at)
            store = self._store
        if store is None or self.closed:
            if store is not None:
                store.close()
            raise StoreClosed("The store was closed for good.")
        return store

    def interrupt(self, thread: int) -> None:
        """Interrupt the query of a thread."""
        # Without the lock: the loop of the server must not wait for a store that is being opened.
        store = self._store
        if store is not None:
            store.interrupt(thread)

    def close(self) -> None:
        """Close the store, for good; one that is being opened is closed as soon as it is open."""
        self.closed = True
        if self._lock.acquire(timeout=_PATIENCE):
            try:
                if self._store is not None:
                    self._store.close()
            finally:
                self._lock.release()
