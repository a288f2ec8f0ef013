"""A folder, and a store that it is indexed into."""

from __future__ import annotations

import pytest


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "wöche"
    folder.mkdir()
    return folder


@pytest.fixture
def index(store):
    """Index a folder into one store, and return the report."""
    memory = store()

    def indexed(path):
        return memory.index(path, progress=False)

    indexed.memory = memory
    return indexed
