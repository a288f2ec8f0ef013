"""What the tests of the storage share: where a store lies, and rows that go in without a model."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Database, Prepared, Storage, open_storage
from jupyter_memory.types import Draft, Memory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "memory.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[Callable[..., Database]]:
    with ExitStack() as opened:

        def open_one(where: Path = path, **options: Any) -> Database:
            return opened.enter_context(closing(Database(where, **{"busy_seconds": 0.1, **options})))

        yield open_one


@pytest.fixture
def sqlite(database: Callable[..., Database]) -> Iterator[Callable[..., Storage]]:
    with ExitStack() as opened:
        yield lambda *where, **options: opened.enter_context(closing(open_storage(database(*where, **options))))


@pytest.fixture
def remember() -> Callable[..., list[Memory]]:

    def store(opened: Database | Storage, *drafts: Draft | str) -> list[Memory]:
        given = [Draft(text=draft) if isinstance(draft, str) else draft for draft in drafts]
        storage = open_storage(opened) if isinstance(opened, Database) else opened
        chunked = [one.draft for one in prepare(given, None)]
        parts = [draft if draft.chunks else whole for draft, whole in zip(given, chunked, strict=True)]
        return storage.writer.add([Prepared(draft, None) for draft in parts], None)

    return store


@pytest.fixture
def network_home(path: Path) -> None:
    """Make the store's folder as many a network home is: with locks, but without memory shared between processes."""
    path.parent.mkdir(exist_ok=True)
    # SQLite makes a file of this name for the index of its log, and never follows a link there.
    path.with_name(path.name + "-shm").symlink_to(path.parent / "nowhere" / "at all")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Make a disk of so many megabytes, on its own; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with ExitStack() as mounted:

        def mount(megabytes: int) -> Path:
            command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(folder)]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=100)
            except (OSError, subprocess.CalledProcessError) as error:
                pytest.skip(f"no disk can be mounted here: {error}")
            mounted.callback(subprocess.run, ["umount", "-l", folder], check=True, timeout=100)
            return folder

        yield mount
