"""What removed rows left in a file is overwritten while others search and write, after a kill, on a full disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from types import SimpleNamespace

import apsw
import pytest

from jupyter_memory import JupyterMemory, MemoryStore, StoreFull
from jupyter_memory.types import Draft, Filters

SECRET = "walrossherde quersummen kuehlkette"
# Forgets, and is killed between the commit and the clean-up.
KILLED = """
import os, sys
from jupyter_memory import MemoryStore
from jupyter_memory.storage import Database
Database.scrub = lambda *_, **__: os.kill(os.getpid(), 9)
store = MemoryStore(sys.argv[1], embedder=None)
store.forget(sys.argv[2])
"""


@pytest.fixture
def killed(path, bytes_of):
    """A store whose process was killed just after it had committed that something is forgotten."""
    with MemoryStore(path, embedder=None) as store:
        store.add_many(({"text": f"Note {i} on λ"} for i in range(50)), progress=False)
        secret = store.add(SECRET, title="Eisbärenzählung")
    assert subprocess.run([sys.executable, "-c", KILLED, str(path), secret.id], check=False).returncode == -9
    assert SECRET.split()[0].encode() in bytes_of(path)
    return path


def left(path, bytes_of):
    """Return the words of the secret that are in the bytes of a store."""
    return [word for word in (*SECRET.split(), "Eisbärenzählung") if word.encode() in bytes_of(path)]


def unallocated(path):
    """Return, by page, the bytes that no cell of a b-tree uses, as SQLite's documentation of the file format has it."""
    content = path.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    found = {}
    for page in range(1, len(content) // size):
        one = content[page * size : (page + 1) * size]
        if one[0] in (2, 5, 10, 13):
            begin = (12 if one[0] in (2, 5) else 8) + 2 * int.from_bytes(one[3:5], "big")
            found[page] = one[begin : int.from_bytes(one[5:7], "big")]
            block = int.from_bytes(one[1:3], "big")
            while block:
                found[page] += one[block + 4 : block + int.from_bytes(one[block + 2 : block + 4], "big")]
                block = int.from_bytes(one[block : block + 2], "big")
    return found


def test_a_kill_before_the_clean_up(killed, bytes_of):
    """The next opening removes what was forgotten, while the store is open already."""
    with MemoryStore(killed, embedder=None) as store:
        assert left(killed, bytes_of) == [] and not store.stats()["scrub_pending"]
        assert store.notices == () and store.doctor() == [] and store.stats()["memories"] == 50
        assert store.hits("Note 7").hits


def reading(path):
    """Return a connection that reads from the log, and so keeps it from being emptied."""
    connection = apsw.Connection(str(path))
    connection.execute("begin; select count(*) from memories").fetchall()
    return connection


def scrub_from(path):
    """Return the first page that is still to be scrubbed, None where nothing is."""
    with closing(apsw.Connection(str(path))) as connection:
        return connection.execute("select value from counters where name = 'scrub'").get


def test_a_clean_up_that_has_to_wait(killed, bytes_of):
    """As long as a reader is in the way, status, doctor and the notices say so; then doctor cleans up."""
    reader = reading(killed)
    with MemoryStore(killed, embedder=None, settings=JupyterMemory(busy_seconds=0.1)) as store:
        assert store.stats()["scrub_pending"]
        assert ["traces of forgotten text may remain" in notice for notice in store.notices] == [True]
        assert ["traces of forgotten text may remain" in problem for problem in store.doctor()] == [True]
        reader.close()
        assert store.doctor() == [] and store.notices == ()
        assert left(killed, bytes_of) == []


def test_an_interrupted_clean_up(store, bytes_of):
    """Ctrl-C while traces are removed leaves a notice, and the next change removes them."""
    memory = store(embedder=None)
    secret = memory.add(SECRET)

    def press():
        until = time.monotonic() + 60
        while scrub_from(memory.path) is None and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    with closing(reading(memory.path)), pytest.raises(KeyboardInterrupt):
        presser.start()
        memory.forget(secret.id)
        pytest.fail("nothing was interrupted")
    presser.join()
    assert ["traces of forgotten text may remain" in notice for notice in memory.notices] == [True]
    memory.add("λ is 0.3")
    assert memory.notices == () and left(memory.path, bytes_of) == []


def test_a_damaged_index(killed):
    """A store whose index is damaged opens although traces are to be removed, and is mended by building it anew."""
    connection = apsw.Connection(str(killed))
    connection.execute("update keyword_data set block = zeroblob(length(block)) where id > 10")
    connection.close()
    with MemoryStore(killed, embedder=None) as store:
        assert ["traces of forgotten text may remain" in notice for notice in store.notices] == [True]
        assert any("store.rebuild()" in problem for problem in store.doctor())
        store.rebuild()
        assert store.doctor() == [] and store.hits("Note 7").hits


def test_a_copy_takes_the_mark_along(killed, tmp_path, bytes_of):
    """A copy of a file that was not cleaned up is cleaned up when it is opened."""
    copy = tmp_path / "copy.sqlite"
    for ending in ("", "-wal"):
        copy.with_name(copy.name + ending).write_bytes(killed.with_name(killed.name + ending).read_bytes())
    with MemoryStore(copy, embedder=None):
        assert left(copy, bytes_of) == []


def test_nothing_is_left_between_the_cells(store):
    """After a forget no byte that no cell uses is other than zero, and SQLite finds the file sound."""
    memory = store(embedder=None)
    records = [{"text": f"{os.urandom(200).hex()} {i}", "source": os.urandom(9).hex()} for i in range(1500)]
    memories = memory.add_many(records, progress=False)
    with closing(apsw.Connection(str(memory.path))) as connection:
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    assert any(any(rest) for rest in unallocated(memory.path).values()), "splits leave copies of rows"
    memory.forget(memories[700].id)

    spaces = unallocated(memory.path)
    assert len(spaces) > 100 and not any(any(rest) for rest in spaces.values())
    assert memory.doctor() == []


def test_what_another_connection_holds_in_memory(store, sqlite, path, remember, bytes_of):
    """Pages that another connection read before the clean-up are not written back by it."""
    memory, other = store(embedder=None), sqlite(path)
    records = [{"text": f"{os.urandom(20).hex()} {i}", "source": os.urandom(9).hex()} for i in range(400)]
    memories = memory.add_many(records, progress=False)
    held = other.database.connection
    held.pragma("cache_size", -100_000)
    for table in ("memories", "texts", "chunks", "keyword_data", "keyword_idx"):
        held.execute(f"select * from {table}").fetchall()
    held.execute("select source from memories indexed by memories_identity").fetchall()
    gone = memories[200]
    memory.forget(gone.id)
    for i in range(50):
        remember(other, Draft(text=f"more {i}", source=os.urandom(9).hex()))
    other.close()

    assert gone.source.encode() not in bytes_of(memory.path)
    assert gone.text.split()[0].encode() not in bytes_of(memory.path)


class Slow(apsw.VFS):
    """A disk on which a clean-up reads no more than one part of the file in a slice of its time."""

    def __init__(self):
        super().__init__("slow", "")
        self.meanwhile = lambda: time.sleep(0.11)

    def xOpen(self, name, flags):
        return SlowFile(self, name, flags)


class SlowFile(apsw.VFSFile):
    def __init__(self, disk, name, flags):
        super().__init__("", name, flags)
        self._disk = disk

    def xRead(self, amount, offset):
        if amount > 65_536:  # which SQLite itself never reads at once
            self._disk.meanwhile()
        return super().xRead(amount, offset)


@pytest.fixture
def slow():
    """A slow disk, of the name "slow"."""
    disk = Slow()
    yield disk
    disk.unregister()


def test_beside_writers_and_readers(slow, sqlite, remember, bytes_of):
    """In many slices, with others writing and reading in between, nothing is damaged nor left."""
    memory, writing, reader = sqlite(vfs="slow", busy_seconds=30), *(sqlite(busy_seconds=30) for _ in range(2))
    words = [os.urandom(8).hex() for _ in range(120)]
    memories = remember(memory, *(f"{word} " + "λ of Zürich " * 1_000 for word in words))
    stop, added, failed, slices = threading.Event(), [], [], []
    slow.meanwhile = lambda: (slices.append(len(added)), time.sleep(0.11))

    def keep_on(work):
        try:
            while not stop.is_set():
                work()
        except Exception as error:  # noqa: BLE001  whatever a thread meets is what is asked here
            failed.append(error)

    def read():
        with reader.snapshot() as snapshot:
            assert snapshot.holds_word("zurich", {"text": 1.0})

    threads = [
        threading.Thread(target=keep_on, args=(lambda: added.extend(remember(writing, os.urandom(9).hex())),)),
        threading.Thread(target=keep_on, args=(read,)),
    ]
    for thread in threads:
        thread.start()
    for one in memories[:2]:
        memory.writer.forget([one.id])
    stop.set()
    for thread in threads:
        thread.join()

    assert failed == [] and len(slices) > 3 and slices[0] < slices[-1]
    with memory.snapshot() as snapshot:
        assert snapshot.count(Filters()) == 118 + len(added)
    assert list(memory.problems()) == []
    assert [word for word in words[:2] if word.encode() in bytes_of(memory.path)] == []


def test_a_slice_goes_on_where_the_last_one_ended(slow, sqlite, remember):
    """What a clean-up that was stopped has done need not be done again; a new removal begins from the first page."""
    memory = sqlite(vfs="slow")
    memories = remember(memory, *(os.urandom(4_000).hex() for _ in range(400)))
    readers = []
    slow.meanwhile = lambda: (readers.append(reading(memory.path)), time.sleep(0.11))
    memory.writer.forget([memories[0].id])

    assert scrub_from(memory.path) == 257
    memory.writer.forget([memories[1].id])
    assert scrub_from(memory.path) == 0
    for reader in readers:
        reader.close()


def test_the_file_shrinks_when_most_of_it_is_free(store):
    """When more than half of the file is free after a forget, it is rewritten; the rest stays."""
    memory = store(embedder=None)
    memories = memory.add_many(({"text": os.urandom(1000).hex()} for _ in range(300)), progress=False)
    before = memory.stats()["bytes"]
    memory.forget([one.id for one in memories[20:]])

    assert memory.stats()["bytes"] < before / 2
    assert memory.stats()["memories"] == 20 and memory.doctor() == []


# -- a full disk -------------------------------------------------------------------------------------------------------


@pytest.fixture
def full(disk):
    """A disk of 24 megabytes."""
    return disk(24)


def test_forgetting_on_a_full_disk(full, bytes_of):
    """When adding is no longer possible, forgetting is, here and in a store that is opened anew, without a trace."""
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        memories = []
        with pytest.raises(StoreFull):
            while True:
                memories.append(store.add(f"walross{len(memories)}zahl " + os.urandom(50_000).hex()))
        assert store.forget(memories[0].id) == 1
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        assert store.forget(memories[1].id) == 1
        assert store.stats()["memories"] == len(memories) - 2 and store.doctor() == []
        for number in range(2):
            assert f"walross{number}zahl".encode() not in bytes_of(store.path)


def test_forgetting_a_folder_on_a_full_disk(full):
    """A folder and the searches are forgotten there, too."""
    (full / "notes").mkdir()
    for number in range(20):
        (full / "notes" / f"{number}.md").write_text(f"# Note {number}\n\nwalross{number}zahl")
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        store.index(full / "notes", progress=False)
        with pytest.raises(StoreFull):
            while True:
                store.add(os.urandom(50_000).hex(), tags=["filler"])
        assert store.remove_folder(full / "notes") == 20
        assert store.forget(filters={"tag": "filler"}) > 0
        assert store.count() == 0 and store.doctor() == []


def test_where_even_the_reserve_is_too_little(full):
    """If the room of the reserve is taken, the error says how much to make, and nothing is forgotten."""
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        ids = [memory.id for memory in store.add_many({"text": os.urandom(2_000).hex()} for _ in range(400))]
        with closing(apsw.Connection(str(store.path))) as connection:
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        (full / ".memory.sqlite.reserve").unlink(missing_ok=True)
        with (full / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while filler.write(bytes(4096)):
                pass
        with pytest.raises(StoreFull, match=r"needs about 8 MB .* Nothing was forgotten\. Remove or move other files"):
            store.forget(ids)
        (full / "filler").unlink()
        assert store.count() == 400 and store.doctor() == []
        assert store.forget(ids) == 400


@pytest.mark.parametrize(("free", "size"), [(200_000_000, None), (60_000_000, 8_000_000), (1_000_000, 500_000)])
def test_the_reserve(week_store, monkeypatch, free, size):
    """Room is set aside where the disk is nearly full, at most half of it, and given back where there is much again."""
    reserve = week_store.path.with_name(".memory.sqlite.reserve")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    week_store.add("with little room")
    assert (reserve.stat().st_size if reserve.exists() else None) == size

    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    week_store.add("with much room")
    assert not reserve.exists()
