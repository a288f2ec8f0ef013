"""The storages that must pass the contract of `storage.snapshot` and `storage.writer`: an empty store of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from contract import DRAFTS
from hashing import Hashing

from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Storage, open_storage


@pytest.fixture(params=["sqlite", "postgres"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    # Asked for first: without the extra or a server the test is skipped.
    server = request.param == "postgres"
    where = request.getfixturevalue("emptied_postgres") if server else tmp_path / "memory.sqlite"
    opened = open_storage(where, busy_seconds=2 if server else 0.1)
    yield opened
    opened.close()


@pytest.fixture
def filled(storage: Storage) -> Storage:
    storage.writer.add(prepare(DRAFTS, None), None)
    return storage


@pytest.fixture
def embedded(storage: Storage) -> Storage:
    embedder = Hashing()
    storage.writer.add(prepare(DRAFTS, embedder), embedder)
    return storage
