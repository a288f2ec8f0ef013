"""The storages that must pass the contract of `storage.base`: an empty store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_memory.storage.base import Storage
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.storage import SqliteStorage


@pytest.fixture(params=["sqlite"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """An empty store."""
    opened = SqliteStorage(Database(tmp_path / "memory.sqlite", busy_seconds=0.1))
    yield opened
    opened.close()
