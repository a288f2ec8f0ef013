"""Another file copied over an open store: noticed, refused, and never mixed with what was there before."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from jupyter_memory import StoreClosed, StoreOpen
from jupyter_memory.storage import SqliteStorage

# What a kernel leaves that is killed: a log that nobody wrote into the file.
KILLED = """
import os, sys
from jupyter_memory import MemoryStore
MemoryStore(sys.argv[1], embedder=None).add("typed before the kernel was killed")
os._exit(0)
"""


def copied(source, target):
    """Copy as `cp` does, in a process of its own: closing the file here would release the locks of this process."""
    subprocess.run(["cp", source, target], check=True)


def texts(path):
    """Return the texts that a file holds, without the package."""
    connection = apsw.Connection(str(path))
    try:
        return [text for (text,) in connection.execute("select text from texts order by memory")]
    finally:
        connection.close()


@pytest.fixture
def other(path, database, remember):
    """Another file: a backup of the store, an earlier state of it, or another store."""

    def make(kind):
        target = path.with_name("other.sqlite")
        first = database(path if kind != "another store" else target)
        remember(first, "Malmö first")
        if kind == "a backup":
            SqliteStorage(first).backup(target)
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
    source = other(kind)
    opened = database()
    for number in range(written):
        remember(opened, f"Zürich {number}")
    copied(source, path)

    assert opened.replaced
    for ask in (lambda: remember(opened, "too late"), opened.version):
        with pytest.raises(StoreClosed, match=r"copied over .* open it again"):
            ask()
    opened.close()
    again = database()
    remember(again, "and on")
    again.close()
    assert texts(path) == [*texts(source), "and on"]


def test_a_file_copied_over_a_store_without_a_log(path, database, remember, other, network_home):
    """Where there is no log, another store is recognised, too."""
    source = other("another store")
    opened = database()
    assert opened.journal() != "wal"
    remember(opened, "Zürich")
    copied(source, path)
    with pytest.raises(StoreClosed, match="copied over"):
        opened.version()


def test_a_store_that_was_moved_away(path, database, remember):
    """A thread that comes later is told so, and makes no new file in the store's place."""
    opened = database()
    remember(opened, "Malmö")
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).rename(path.with_name("away.sqlite" + ending))
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(StoreClosed, match=r"moved, removed or replaced .* open it again"),
    ):
        pool.submit(opened.version).result(100)
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
    """The log that a killed kernel left is not mixed into a file that took the store's place, also behind a link."""
    first = database()
    remember(first, "Malmö")
    source = path.with_name("copy.sqlite")
    SqliteStorage(first).backup(source)
    first.close()
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=True, timeout=120)
    copied(source, path)

    if link:
        (path.parent.parent / link).symlink_to(path)
    again = database(path.parent.parent / link if link else path)
    assert "Its log was removed" in again.notices[0]
    again.close()
    assert texts(path) == ["Malmö"]


def test_the_log_of_a_killed_kernel_stays(path, database):
    """Without a copy, what a killed kernel wrote is there."""
    database().close()
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=True, timeout=120)
    assert database().notices == []
    assert texts(path) == ["typed before the kernel was killed"]


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


def test_a_store_of_an_earlier_version(path, database, remember):
    """A store without the count of its commits gets one with the first."""
    first = database()
    remember(first, "Malmö")
    first.connection.execute("delete from counters where name <> 'removals'")
    first.close()

    opened = database()
    remember(opened, "Zürich")
    opened.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    assert not opened.replaced
    remember(opened, "Lund")
    assert not opened.replaced
