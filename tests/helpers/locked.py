"""A store whose write lock another program holds."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from jupyter_memory import MemoryStore


@contextmanager
def while_another_writes(store: MemoryStore) -> Iterator[None]:
    connection = apsw.Connection(str(store.path))
    connection.execute("begin immediate")
    try:
        yield
    finally:
        connection.close()
