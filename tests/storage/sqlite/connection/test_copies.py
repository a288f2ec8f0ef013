"""Copies of a store are there whole or not at all, and what killed processes left of them is removed."""

from __future__ import annotations

import os
import subprocess
import sys

import apsw
import pytest

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.storage.sqlite.connection import copies
from jupyter_memory.storage.sqlite.connection.migrations import Migration, migrations

SECRET = b"Walrossherde"
# Stops just before the copy is moved to its place.
STOPPED = """
import sys, time
from pathlib import Path
from jupyter_memory.storage.sqlite.connection import copies
from jupyter_memory.storage.sqlite.connection.file import open_file
with copies.copied(open_file(Path(sys.argv[1])), Path(sys.argv[2])):
    print("copied", flush=True)
    time.sleep(300)
"""


@pytest.fixture
def copying(week_store):
    """A process that is about to move its copy of the store to a place beside it."""
    target = week_store.path.with_name("copy.sqlite")
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(week_store.path), str(target)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "copied\n"
    yield process
    process.kill()
    process.communicate()


def beside(path):
    """Return the names beside a store that are not its own."""
    return sorted(file.name for file in path.parent.iterdir() if not file.name.startswith(path.name))


def opened(store):
    """Open the store again."""
    store.close()
    MemoryStore(store.path).close()


def forgotten(store):
    """Forget a memory."""
    store.forget(store.browsed(limit=1).hits[0].memory.id)


def restored(store):
    """Put a backup in the store's place."""
    backup = store.backup(store.path.parent.parent / "backup.sqlite")
    store.close()
    MemoryStore.restore(backup, to=store.path, overwrite=True)


def examined(store):
    """Let the store check itself."""
    assert store.doctor() == []


@pytest.mark.parametrize("way", [opened, forgotten, restored, examined])
def test_what_a_killed_copy_left_is_removed(week_store, copying, way):
    """A copy that a killed process left goes with the next opening, forgetting, restoring or check; no sooner."""
    names = beside(week_store.path)
    assert names and week_store.doctor() == [] and beside(week_store.path) == names, "its process still runs"
    copying.kill()
    copying.wait()

    way(week_store)
    assert beside(week_store.path) == []


@pytest.mark.parametrize(
    "name",
    [
        "memory.sqlite.bak", ".jupyter-memory.copy", ".jupyter-memory-12-abc.copy", "copy.sqlite-journal",
        ".jupyter-memory-12-0123456789abcdef.copy.txt",
    ],
)  # fmt: skip
def test_files_of_others_stay(week_store, name):
    """What is not surely ours is left alone."""
    file = week_store.path.with_name(name)
    file.write_bytes(b"")

    assert week_store.doctor() == [] and file.exists()


def test_a_migration_that_was_killed_leaves_no_copy(path):
    """The copy before a major migration is under its name only once it is whole."""
    MemoryStore(path, embedder=None).close()
    kill = "import os\nfrom jupyter_memory.storage.sqlite.connection import copies\nos.link = lambda *_: os._exit(9)\n"
    steps = "steps = (*migrations(), Migration(3000, 'create table more (x)'))\n"
    names = f"from {Migration.__module__} import Migration, migrations\n"
    then = f"from pathlib import Path\nfrom {copies.__package__}.database import Database\n"
    code = f"{kill}{names}{then}{steps}Database(Path({str(path)!r}), steps=steps)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9

    assert beside(path) and not list(path.parent.glob("*.bak"))
    with MemoryStore(path, embedder=None) as store:
        assert store.stats()["version"] == migrations()[-1].version
    assert beside(path) == []


def test_a_copy_is_never_over_what_came_meanwhile(week_store):
    """A file that somebody makes while the copy is written stays, and nothing else is left."""
    target = week_store.path.with_name("copy.sqlite")
    connection = week_store._storage.database.connection
    with pytest.raises(FileExistsError), copies.copied(connection, target) as copy:
        target.write_text("mine")
        os.link(copy, target)
    with pytest.raises(InputError, match="exists already"):
        week_store.backup(target)

    assert target.read_text() == "mine" and beside(week_store.path) == ["copy.sqlite"]


def test_a_drive_without_hard_links(week_store, monkeypatch):
    """Where no second name can be given, the copy is renamed; never over a file."""

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    target = week_store.path.with_name("copy.sqlite")
    connection = week_store._storage.database.connection
    copies.copy_into(connection, target)
    with pytest.raises(PermissionError):
        copies.copy_into(connection, target)

    assert beside(week_store.path) == ["copy.sqlite"]
    assert apsw.Connection(str(target)).execute("select count(*) from memories").get == 10


def test_what_cannot_be_removed_is_named(week_store, monkeypatch):
    """Where a copy cannot be removed, doctor says which file that is and how to remove it."""
    left = week_store.path.with_name(".jupyter-memory-12-0123456789abcdef.copy")
    left.write_bytes(SECRET)

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(copies.Path, "unlink", refuse)

    (problem,) = week_store.doctor()
    assert problem.endswith(f"Remove it with: rm '{left}'")
