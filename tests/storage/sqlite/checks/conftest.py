"""A sound store with vectors, and what the checks find once its rows were changed behind its back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.storage.sqlite.checks import tables


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of six notes, one of them long."""
    path = tmp_path_factory.mktemp("sound") / "memory.sqlite"
    with MemoryStore(path, "static") as store:
        store.add_many(
            [{"text": f"The λ of Zürich is {i}", "title": f"λ {i}", "tags": ["two"]} for i in range(5)]
            + [{"text": "The prices of Malmö are net of tax. " * 200}],
            progress=False,
        )
    return path


@pytest.fixture
def found(sound: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Return what the checks find after statements of plain SQL: ``found(*statements)``."""

    def after(*statements: str) -> list[str]:
        path = tmp_path / "memory.sqlite"
        shutil.copyfile(sound, path)
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("pragma foreign_keys = off")
            for statement in statements:
                connection.execute(statement)
            return list(tables.findings(connection))

    return after
