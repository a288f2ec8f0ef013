"""What the tests of the storage share: where a store lies, and rows that go in without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.storage import Prepared
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter
from jupyter_memory.types import Draft, Memory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "store" / "memory.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[Callable[..., Database]]:
    """Open database files, ``database(path, **options)``, and close them after the test."""
    opened: list[Database] = []

    def open_one(where: Path = path, **options: Any) -> Database:
        opened.append(Database(where, **{"busy_seconds": 0.1, **options}))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def remember() -> Callable[..., list[Memory]]:
    """Store drafts, or plain texts, without vectors: ``remember(database, *drafts)``."""

    def store(database: Database, *drafts: Draft | str) -> list[Memory]:
        given = [Draft(text=draft) if isinstance(draft, str) else draft for draft in drafts]
        library = SqliteWriter(database, VectorIndex())
        return library.add([Prepared(draft, None) for draft in with_chunks(given)], None)

    return store


@pytest.fixture
def network_home(path: Path) -> None:
    """Make the store's folder as many a network home is: with locks, but without memory shared between processes."""
    path.parent.mkdir(exist_ok=True)
    # SQLite makes a file of this name for the index of its log, and never follows a link there.
    path.with_name(path.name + "-shm").symlink_to(path.parent / "nowhere" / "at all")


@pytest.fixture(scope="module")
def index_of_one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """A connection to an empty store."""
    database = Database(tmp_path_factory.mktemp("one") / "memory.sqlite")
    yield database.connection
    database.close()
