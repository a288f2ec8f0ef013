"""A look into the storage of a store that is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import apsw

from jupyter_memory import MemoryStore
from jupyter_memory.storage import Storage, open_storage


@contextmanager
def storage_of(store: MemoryStore) -> Iterator[Storage]:
    """Open the storage of a store beside it, through connections of its own."""
    with closing(open_storage(store.path, busy_seconds=5)) as storage:
        yield storage


def run_sql(store: MemoryStore, sql: str) -> list[tuple[Any, ...]]:
    """Run a statement on the file of a store, as another program does, and return its rows."""
    with closing(apsw.Connection(str(store.path))) as connection:
        return connection.execute(sql).fetchall()
