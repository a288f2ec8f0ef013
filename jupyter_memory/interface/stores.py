"""The stores that are searched together, as a process opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_memory.config import JupyterMemory, ListedStore
from jupyter_memory.errors import NoStore
from jupyter_memory.text.paths import may_exist

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore


def opened(listed: ListedStore, settings: JupyterMemory) -> MemoryStore:
    """Open a store of the list; by its own model, whatever the settings choose for yours."""
    # Imported late: help, completion and wrong usage need not wait for it.
    from jupyter_memory.store.store import MemoryStore

    if listed.place is None or not may_exist(listed.place):
        raise NoStore(f"There is no store at {listed.place}. Check the path, or make it: --store PATH index FOLDER")
    space = settings.space or None
    return MemoryStore(listed.place, space=space, settings=settings, read_only=listed.read_only)
