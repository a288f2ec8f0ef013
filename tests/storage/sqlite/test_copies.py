"""Copies of a store: whole or not there, never over anything, put back where nobody is at work, removed if left."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from jupyter_memory import (
    InputError,
    JupyterMemoryError,
    MemoryStore,
    StoreClosed,
    StoreDamaged,
    StoreOpen,
    StoreTooNew,
)
from jupyter_memory.storage import migrations

SECRET = b"Walrossherde"
# Stops just before the copy gets its name.
STOPPED = """
import os, sys, time
from jupyter_memory import MemoryStore
def link(*_):
    print("copied", flush=True)
    time.sleep(300)
os.link = link
MemoryStore(sys.argv[1]).backup(sys.argv[2])
"""
# Killed at the same moment, while a copy is made before a major migration.
KILLED = """
import os, sys
from pathlib import Path
from jupyter_memory.storage import Database, Migration, migrations
os.link = lambda *_: os._exit(9)
Database(Path(sys.argv[1]), steps=(*migrations(), Migration(3000, "create table more (x)")))
"""

# -- backup and restore ------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(week_store, tmp_path):
    """A backup of the week, whose store is closed."""
    copy = week_store.backup(tmp_path / "copy.sqlite")
    week_store.close()
    return copy


def titles(path):
    """Return the titles that a store holds."""
    with MemoryStore(path) as store:
        assert store.doctor() == []
        return {hit.memory.title for hit in store.browsed(limit=100).hits}


def test_a_backup_is_of_one_moment(week_store, tmp_path, week):
    """What is added after the copy is not in it, and the copy needs no log beside it."""
    copy = week_store.backup(tmp_path / "copy.sqlite")
    week_store.add("later")

    assert {file.name for file in tmp_path.iterdir()} == {"store", "copy.sqlite"}
    assert len(titles(copy)) == len(week)


def test_a_backup_never_overwrites(week_store, tmp_path):
    """A name that is taken, a link to nowhere, or a folder that is not there are refused, and nothing is left."""
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    for name in ("taken", "link", "no/such/folder/copy.sqlite", "store"):
        with pytest.raises(InputError):
            week_store.backup(tmp_path / name)
    with pytest.raises(InputError, match=r"Make the folder .*folder first"):
        week_store.backup(tmp_path / "no/such/folder/copy.sqlite")
    assert (tmp_path / "taken").read_text() == "mine"
    assert {file.name for file in tmp_path.iterdir()} == {"store", "taken", "link"}


@pytest.mark.parametrize("journal", ["wal", "truncate"])
def test_restore_over_an_open_store(copy, sqlite, remember, tmp_path, week, journal):
    """While a store is open in this process it is not replaced, and goes on; without a log, while it is written."""
    path = tmp_path / "busy.sqlite"
    opened = sqlite(path)
    connection = opened.database.connection
    connection.pragma("journal_mode", journal)
    remember(opened, "here first")
    if journal == "truncate":
        connection.execute("begin immediate")

    with pytest.raises(StoreOpen, match=r"is open, here or in another program\. Close it first"):
        MemoryStore.restore(copy, to=path, overwrite=True)
    if journal == "truncate":
        connection.execute("rollback")
    remember(opened, "still here")
    assert list(opened.problems()) == []
    opened.close()
    MemoryStore.restore(copy, to=path, overwrite=True)
    assert len(titles(path)) == len(week)


def test_restore_under_an_idle_store_without_a_log(store, copy, tmp_path, network_home):
    """Without a log an idle store looks like a closed one: it is replaced, and what was open writes no more."""
    opened = store()
    opened.add("here first")
    assert opened.stats()["journal"] == "truncate"
    MemoryStore.restore(copy, to=opened.path, overwrite=True)

    with pytest.raises(StoreClosed, match="open it again"):
        opened.add("into a file that nobody sees")
    assert "here first" not in titles(opened.path)


def hold(path, opened, done):
    """Keep a store open in another process."""
    with MemoryStore(path, embedder=None) as store:
        store.add("from another process")
        opened.set()
        done.wait(100)


def test_restore_over_a_store_open_elsewhere(copy, tmp_path):
    """While another process has a store open it is not replaced."""
    context = multiprocessing.get_context("spawn")
    opened, done = context.Event(), context.Event()
    path = tmp_path / "theirs.sqlite"
    process = context.Process(target=hold, args=(path, opened, done))
    process.start()
    try:
        assert opened.wait(100)
        with pytest.raises(StoreOpen):
            MemoryStore.restore(copy, to=path, overwrite=True)
    finally:
        done.set()
        process.join(300)
    assert process.exitcode == 0
    with MemoryStore(path, embedder=None) as store:
        assert store.hits("another process").hits


def test_restore_leaves_nothing_of_the_old_store(copy, tmp_path, bytes_of):
    """Of a store that was replaced nothing is left, not even a log that a crash left behind."""
    path = tmp_path / "old.sqlite"
    with MemoryStore(path, embedder=None) as store:
        store.add("walruses everywhere")
        log = path.with_name(path.name + "-wal").read_bytes()
    path.with_name(path.name + "-wal").write_bytes(log)
    MemoryStore.restore(copy, to=path, overwrite=True)

    assert b"walrus" not in bytes_of(path)
    assert {file.name for file in tmp_path.iterdir()} == {"store", "copy.sqlite", "old.sqlite"}


@pytest.mark.parametrize("damage", ["empty", "cut", "middle", "text", "other", "newer", "missing", "folder"])
def test_a_backup_that_is_none(copy, tmp_path, week, damage):
    """A damaged, empty or foreign backup is refused before the store in its place is touched."""
    content = copy.read_bytes()
    if damage == "cut":
        copy.write_bytes(content[: len(content) // 2])
    elif damage == "middle":
        # Every page from the second third on; a page of text alone would only lose its text.
        middle = len(content) // 3
        copy.write_bytes(content[:middle] + os.urandom(len(content) - middle))
    elif damage in ("empty", "text"):
        copy.write_text("" if damage == "empty" else "Umsatz in Zürich")
    elif damage in ("other", "newer"):
        connection = apsw.Connection(str(copy))
        connection.pragma("application_id" if damage == "other" else "user_version", 9000)
        connection.close()
    else:
        copy.unlink()
        if damage == "folder":
            copy.mkdir()
    path = tmp_path / "good.sqlite"
    with MemoryStore(path, embedder=None) as store:
        store.add("worth keeping", title="Good")
    before = path.read_bytes()

    expected = {"newer": StoreTooNew, "missing": InputError, "folder": InputError}.get(damage, StoreDamaged)
    for overwrite in (False, True):  # what is wrong with a backup is said before that it would overwrite something
        with pytest.raises(expected) as told:
            MemoryStore.restore(copy, to=path, overwrite=overwrite)
        assert "overwrite" not in str(told.value)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".*"))
    assert titles(path) == {"Good"}


def test_restore_in_any_place(copy, tmp_path, week):
    """A damaged store is what a backup is for, a link goes on pointing to it, and below a file there is no place."""
    damaged, link = tmp_path / "damaged.sqlite", tmp_path / "link.sqlite"
    damaged.write_bytes(os.urandom(50_000))
    link.symlink_to(damaged)
    MemoryStore.restore(copy, to=link, overwrite=True)
    assert link.is_symlink() and titles(damaged) == {record["title"] for record in week}

    (tmp_path / "taken").write_text("a file")
    for where in ("taken/memory.sqlite", "store"):
        with pytest.raises(JupyterMemoryError):
            MemoryStore.restore(copy, to=tmp_path / where, overwrite=True)


# -- what is left of copies --------------------------------------------------------------------------------------------


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
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == 9

    assert beside(path) and not list(path.parent.glob("*.bak"))
    with MemoryStore(path, embedder=None) as store:
        assert store.stats()["version"] == migrations()[-1].version
    assert beside(path) == []


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("meanwhile", [True, False])
def test_the_name_of_a_copy(week_store, monkeypatch, links, meanwhile):
    """A copy takes the name of no file made meanwhile, also on a drive without hard links; nothing else is left."""
    target, link = week_store.path.with_name("copy.sqlite"), os.link

    def linked(copy, name):
        if meanwhile:
            Path(name).write_text("mine")
        if not links:
            raise PermissionError(1, "Operation not permitted")
        link(copy, name)

    monkeypatch.setattr(os, "link", linked)
    if meanwhile:
        with pytest.raises(InputError, match="No file can be made"):
            week_store.backup(target)
        with pytest.raises(InputError, match="exists already"):
            week_store.backup(target)
        assert target.read_text() == "mine"
    else:
        week_store.backup(target)
        assert len(titles(target)) == 10
    assert beside(week_store.path) == ["copy.sqlite"]


def test_what_cannot_be_removed_is_named(week_store, monkeypatch):
    """Where a copy cannot be removed, doctor says which file that is and how to remove it."""
    left = week_store.path.with_name(".jupyter-memory-12-0123456789abcdef.copy")
    left.write_bytes(SECRET)

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", refuse)

    (problem,) = week_store.doctor()
    assert problem.endswith(f"Remove it with: rm '{left}'")
