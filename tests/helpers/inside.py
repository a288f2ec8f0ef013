"""A look into the storage of an open store and at the bytes of its files, and what another program does with them."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from jupyter_memory import MemoryStore
from jupyter_memory.storage import Storage, open_storage


@contextmanager
def storage_of(store: MemoryStore) -> Iterator[Storage]:
    with closing(open_storage(store.path, busy_seconds=5)) as storage:
        yield storage


def run_sql(store: MemoryStore | Path, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Run statements on the file of a store, as another program does, and return their rows."""
    with closing(apsw.Connection(str(store if isinstance(store, Path) else store.path))) as connection:
        return connection.execute(sql, parameters).fetchall()


@contextmanager
def while_another_writes(store: MemoryStore) -> Iterator[None]:
    """Hold the write lock of a store, as another program does."""
    with closing(apsw.Connection(str(store.path))) as connection:
        connection.execute("begin immediate")
        yield


def faults(store: MemoryStore) -> list[str]:
    """Return what is out of step in a store: texts, keyword rows, vectors and codes, and what its own check says."""
    with storage_of(store) as storage, storage.database.read() as connection:
        chunks = {row[0] for row in connection.execute("select id from chunks")}
        owners = {row[0] for row in connection.execute("select distinct memory from chunks")}
        memories = {row[0] for row in connection.execute("select key from memories")}
        texts = {row[0] for row in connection.execute("select memory from texts")}
        held = {"keyword_docsize": {row[0] for row in connection.execute("select id from keyword_docsize")}}
        for model, active in connection.execute("select id, active from models").fetchall():
            for table in (f"vectors_{model}", f"codes_{model}"):
                rows = {row[0] for row in connection.execute(f"select chunk from {table}")}
                held[table] = rows if active or rows - chunks else chunks
    found = [f"{table} is out of step with the chunks" for table, rows in held.items() if rows != chunks]
    if not memories == texts == owners:
        found.append("memories, texts and chunks are out of step")
    return [*found, *store.doctor()]


def bytes_beside(path: Path) -> bytes:
    """Return all bytes of a store and of every file that begins with its name or with a dot and its name."""
    files = (file for file in path.parent.iterdir() if file.name.lstrip(".").startswith(path.name))
    return b"".join(file.read_bytes() for file in sorted(files) if file.is_file())


def words_left(path: Path, words: Iterable[str]) -> list[str]:
    content = bytes_beside(path).lower()
    return [word for word in words if word.lower().encode() in content]
