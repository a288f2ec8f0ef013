"""Copies of a store: whole or not there, never over anything, removed if left, and never mixed with an open store."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from inside import run_sql

from jupyter_memory import (
    InputError,
    JupyterMemoryError,
    MemoryStore,
    StoreClosed,
    StoreDamaged,
    StoreOpen,
    StoreTooNew,
)
from jupyter_memory.storage import open_storage

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


@pytest.fixture
def copy(week_store, tmp_path):
    copy = week_store.backup(tmp_path / "copy.sqlite")
    week_store.close()
    return copy


def titles(path):
    with MemoryStore(path) as store:
        assert store.doctor() == []
        return {hit.memory.title for hit in store.browsed(limit=100).hits}


def test_a_backup_is_of_one_moment(week_store, tmp_path, week):
    """What is added after the copy is not in it, and the copy needs no log beside it; it never overwrites."""
    copy = week_store.backup(tmp_path / "copy.sqlite")
    week_store.add("later")
    assert {file.name for file in tmp_path.iterdir()} == {"store", "copy.sqlite"}
    assert len(titles(copy)) == len(week)
    # A name that is taken, a link to nowhere, or a folder that is not there are refused, and nothing is left.
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("taken", "link", "no/such/folder/copy.sqlite", "store"):
        with pytest.raises(InputError, match=r"Make the folder .*folder first" if "folder" in name else None):
            week_store.backup(tmp_path / name)
    assert (tmp_path / "taken").read_text() == "mine"
    assert {file.name for file in tmp_path.iterdir()} == {"store", "taken", "link", "copy.sqlite"}


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


def test_restore_over_a_store_open_elsewhere(copy, tmp_path):
    path = tmp_path / "theirs.sqlite"
    program = """
import sys
from jupyter_memory import MemoryStore
with MemoryStore(sys.argv[1], embedder=None) as store:
    store.add("from another process")
    print("open", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(StoreOpen):
            MemoryStore.restore(copy, to=path, overwrite=True)
        process.stdin.close()
        assert process.wait(100) == 0
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
def test_a_backup_that_is_none(copy, tmp_path, damage):
    content, path = copy.read_bytes(), tmp_path / "good.sqlite"
    # Every page from the second third on; a page of text alone would only lose its text.
    middle = len(content) // 3
    other = {"cut": content[: len(content) // 2], "middle": content[:middle] + os.urandom(len(content) - middle)}
    other |= {"empty": b"", "text": "Umsatz in Zürich".encode()}
    if damage in other:
        copy.write_bytes(other[damage])
    elif damage in ("other", "newer"):
        run_sql(copy, f"pragma {'application_id' if damage == 'other' else 'user_version'} = 9000")
    else:
        copy.unlink()
        if damage == "folder":
            copy.mkdir()
    with MemoryStore(path, embedder=None) as store:
        store.add("worth keeping", title="Good")
    before = path.read_bytes()
    expected = {"newer": StoreTooNew, "missing": InputError, "folder": InputError}.get(damage, StoreDamaged)
    for overwrite in (False, True):  # what is wrong with a backup is said before that it would overwrite something
        with pytest.raises(expected) as told:
            MemoryStore.restore(copy, to=path, overwrite=overwrite)
        assert "overwrite" not in str(told.value)
    assert path.read_bytes() == before and not list(tmp_path.glob(".*")) and titles(path) == {"Good"}


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


@pytest.fixture
def copying(week_store):
    target = week_store.path.with_name("copy.sqlite")
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(week_store.path), str(target)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "copied\n"
    yield process
    process.kill()
    process.communicate()


def beside(path):
    return sorted(file.name for file in path.parent.iterdir() if not file.name.startswith(path.name))


@pytest.mark.parametrize("way", ["opened", "forgotten", "restored", "examined"])
def test_what_a_killed_copy_left_is_removed(week_store, copying, way):
    """A copy that a killed process left goes with the next opening, forgetting, restoring or check; no sooner."""
    names, path = beside(week_store.path), week_store.path
    assert names and week_store.doctor() == [] and beside(path) == names, "its process still runs"
    copying.kill()
    copying.wait()
    match way:
        case "opened":
            week_store.close()
            MemoryStore(path).close()
        case "forgotten":
            week_store.forget(week_store.browsed(limit=1).hits[0].memory.id)
        case "restored":
            backup = week_store.backup(path.parent.parent / "backup.sqlite")
            week_store.close()
            MemoryStore.restore(backup, to=path, overwrite=True)
        case "examined":
            assert week_store.doctor() == []
    assert beside(path) == []


def test_files_of_others_stay(week_store, monkeypatch):
    """What is not surely ours is left alone; where a copy cannot be removed, doctor says which and how to remove it."""
    names = (
        *("memory.sqlite.bak", ".jupyter-memory.copy", ".jupyter-memory-12-abc.copy", "copy.sqlite-journal"),
        ".jupyter-memory-12-0123456789abcdef.copy.txt",
    )
    for name in names:
        week_store.path.with_name(name).write_bytes(b"")
    assert week_store.doctor() == [] and all(week_store.path.with_name(name).exists() for name in names)
    left = week_store.path.with_name(".jupyter-memory-12-0123456789abcdef.copy")
    left.write_bytes(b"Walrossherde")

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", refuse)
    (problem,) = week_store.doctor()
    assert problem.endswith(f"Remove it with: rm '{left}'")


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


# What a kernel leaves that is killed: a log that nobody wrote into the file.
TYPED = """
import os, sys
from jupyter_memory import MemoryStore
MemoryStore(sys.argv[1], embedder=None).add("typed before the kernel was killed")
os._exit(0)
"""


def copied(source, target):
    """Copy as `cp` does, in a process of its own: closing the file here would release the locks of this process."""
    subprocess.run(["cp", source, target], check=True)


def texts(path):
    return [text for (text,) in run_sql(path, "select text from texts order by memory")]


@pytest.fixture
def other(path, database, remember):

    def make(kind):
        target = path.with_name("other.sqlite")
        first = database(path if kind != "another store" else target)
        remember(first, "Malmö first")
        if kind == "a backup":
            open_storage(first).backup(target)
        first.close()
        if kind == "an earlier state":
            shutil.copyfile(path, target)
            later = database(path)
            remember(later, "λ later")
            later.close()
        return target

    return make


@pytest.mark.parametrize("kind", ["a backup", "an earlier state", "another store"])
@pytest.mark.parametrize("written", [0, 3])
def test_a_file_copied_over_an_open_store(path, database, remember, other, kind, written):
    """Nothing is read or written any more, and the copied file is left whole, also when the store is closed."""
    source, opened = other(kind), database()
    for number in range(written):
        remember(opened, f"Zürich {number}")
    copied(source, path)
    assert opened.replaced
    for ask in (lambda: remember(opened, "too late"), opened.read().__enter__):
        with pytest.raises(StoreClosed, match=r"copied over .* open it again"):
            ask()
    opened.close()
    again = database()
    remember(again, "and on")
    again.close()
    assert texts(path) == [*texts(source), "and on"]


def test_a_file_copied_over_a_store_without_a_log(path, database, remember, other, network_home):
    source, opened = other("another store"), database()
    assert opened.connection.pragma("journal_mode") != "wal"
    remember(opened, "Zürich")
    copied(source, path)
    with pytest.raises(StoreClosed, match="copied over"), opened.read():
        pass


def test_a_store_that_was_moved_away(path, database, remember):
    """A thread that comes later is told so, and makes no new file in the store's place."""
    opened = database()
    remember(opened, "Malmö")
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).rename(path.with_name("away.sqlite" + ending))
    moved = pytest.raises(StoreClosed, match=r"moved, removed or replaced .* open it again")
    with ThreadPoolExecutor(1) as pool, moved:
        pool.submit(opened.read().__enter__).result(100)
    assert not path.exists()


def test_a_newer_copy_from_another_machine(path, database, remember):
    """A copy that went on elsewhere is another file, even where it has no more commits than the store."""
    first = database()
    remember(first, "Malmö")
    first.close()
    elsewhere = path.with_name("elsewhere.sqlite")
    shutil.copyfile(path, elsewhere)
    there = database(elsewhere)
    remember(there, "written elsewhere")
    there.close()
    opened = database()
    for number in range(3):
        remember(opened, f"written here {number}")
    copied(elsewhere, path)
    with pytest.raises(StoreClosed, match="copied over"):
        remember(opened, "too late")
    opened.close()
    assert database().notices == ["Another file was copied over this store while it was open. Its log was removed."]
    assert texts(path) == ["Malmö", "written elsewhere"]


@pytest.mark.parametrize("link", [None, "link.sqlite"])
def test_a_copy_over_a_store_whose_kernel_was_killed(path, database, remember, link):
    """The log that a killed kernel left stays; it is not mixed into a file that took the place of the store or link."""
    first = database()
    remember(first, "Malmö")
    source = path.with_name("copy.sqlite")
    open_storage(first).backup(source)
    first.close()
    subprocess.run([sys.executable, "-c", TYPED, str(path)], check=True, timeout=120)
    if link is None:
        alone = database()
        assert alone.notices == []
        alone.close()
        assert texts(path) == ["Malmö", "typed before the kernel was killed"]
        subprocess.run([sys.executable, "-c", TYPED, str(path)], check=True, timeout=120)
    copied(source, path)
    if link:
        (path.parent.parent / link).symlink_to(path)
    again = database(path.parent.parent / link if link else path)
    assert "Its log was removed" in again.notices[0]
    again.close()
    assert texts(path) == ["Malmö"]


def test_while_others_have_the_old_store_open(path, database, remember, other):
    """A store that was copied over opens only when everybody has let go of what was there before."""
    source = other("a backup")
    old = database()
    remember(old, "Zürich")
    copied(source, path)
    with pytest.raises(StoreOpen, match=r"Close it everywhere .* open it again"):
        database()
    old.close()
    database().close()
    assert texts(path) == texts(source)


def test_what_other_processes_write_is_no_copy(path, database, remember):
    """Commits and checkpoints of others, and of one's own, are those of the same store."""
    mine, others = database(), database()
    for number in range(6):
        remember((mine, others)[number % 2], f"λ {number}")
        others.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        assert not (mine.replaced or others.replaced)
    assert mine.connection.execute("select count(*) from counters where name glob 'writer *'").get == 2
