"""A store whose write lock another thread holds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from inside import storage_of

from jupyter_memory import MemoryStore


@contextmanager
def while_another_writes(store: MemoryStore) -> Iterator[None]:
    """Let another thread hold the write lock of the store's file."""
    begun, over = threading.Event(), threading.Event()

    def write() -> None:
        with storage_of(store) as storage, storage.database.write():
            begun.set()
            over.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert begun.wait(60)
        yield
    finally:
        over.set()
        writer.join(100)
