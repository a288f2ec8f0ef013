"""What removed rows left in a file is overwritten in place, while others search and write, also after a kill."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import apsw
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.storage.sqlite.connection import scrubbing

SECRET = "walrossherde quersummen kuehlkette"
# Forgets, and is killed between the commit and the clean-up.
KILLED = """
import os, sys
from jupyter_memory import MemoryStore
from jupyter_memory.storage.sqlite.connection.database import Database
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


def test_a_clean_up_that_has_to_wait(killed, bytes_of):
    """As long as a reader is in the way, status, doctor and the notices say so; then doctor cleans up."""
    reading = scrubbing_reader(killed)
    with MemoryStore(killed, embedder=None) as store:
        assert store.stats()["scrub_pending"]
        assert ["traces of forgotten text may remain" in notice for notice in store.notices] == [True]
        store._storage.database._busy = 100
        assert ["traces of forgotten text may remain" in problem for problem in store.doctor()] == [True]
        reading.close()
        assert store.doctor() == [] and store.notices == ()
        assert left(killed, bytes_of) == []


def test_an_interrupted_clean_up(store, bytes_of, monkeypatch):
    """Ctrl-C while traces are removed leaves a notice, and the next change removes them."""
    memory = store(embedder=None)
    secret = memory.add(SECRET)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scrubbing, "_emptied", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.forget(secret.id)
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


def scrubbing_reader(path):
    """Return a connection that reads from the log, and so keeps it from being emptied."""
    from jupyter_memory.storage.sqlite.connection.file import open_file

    connection = open_file(path)
    connection.execute("begin; select count(*) from memories").fetchall()
    return connection


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
    memory._storage.database.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    assert any(any(rest) for rest in unallocated(memory.path).values()), "splits leave copies of rows"
    memory.forget(memories[700].id)

    spaces = unallocated(memory.path)
    assert len(spaces) > 100 and not any(any(rest) for rest in spaces.values())
    assert memory.doctor() == []


def test_what_another_connection_holds_in_memory(store, bytes_of):
    """Pages that another connection read before the clean-up are not written back by it."""
    memory, other = store(embedder=None), store(embedder=None)
    records = [{"text": f"{os.urandom(20).hex()} {i}", "source": os.urandom(9).hex()} for i in range(400)]
    memories = memory.add_many(records, progress=False)
    held = other._storage.database.connection
    held.pragma("cache_size", -100_000)
    for table in ("memories", "texts", "chunks", "keyword_data", "keyword_idx"):
        held.execute(f"select * from {table}").fetchall()
    held.execute("select source from memories indexed by memories_identity").fetchall()
    gone = memories[200]
    memory.forget(gone.id)
    for i in range(50):
        other.add(f"more {i}", source=os.urandom(9).hex())
    other.close()

    assert gone.source.encode() not in bytes_of(memory.path)
    assert gone.text.split()[0].encode() not in bytes_of(memory.path)


def test_beside_writers_and_readers(store, monkeypatch, bytes_of):
    """In slices of a single read, with others writing and reading in between, nothing is damaged nor left."""
    monkeypatch.setattr(scrubbing, "_SLICE", 0)
    monkeypatch.setattr(scrubbing, "_TOGETHER", 16)
    memory, writing, reading = (store(embedder=None) for _ in range(3))
    words = [os.urandom(8).hex() for _ in range(300)]
    memories = memory.add_many(({"text": f"{word} " + "λ of Zürich " * 20} for word in words), progress=False)
    stop, added, failed = threading.Event(), [], []

    def keep_on(work):
        try:
            while not stop.is_set():
                work()
        except Exception as error:  # noqa: BLE001  whatever a thread meets is what is asked here
            failed.append(error)

    threads = [
        threading.Thread(target=keep_on, args=(lambda: added.append(writing.add(os.urandom(9).hex())),)),
        threading.Thread(target=keep_on, args=(lambda: reading.hits("Zürich"),)),
    ]
    for thread in threads:
        thread.start()
    for one in memories[:4]:
        memory.forget(one.id)
    stop.set()
    for thread in threads:
        thread.join()

    assert failed == [] and added
    assert memory.stats()["memories"] == 296 + len(added) and memory.doctor() == []
    assert [word for word in words[:4] if word.encode() in bytes_of(memory.path)] == []


def test_a_slice_goes_on_where_the_last_one_ended(store, monkeypatch):
    """What a clean-up that was stopped has done need not be done again; a new removal begins from the first page."""
    monkeypatch.setattr(scrubbing, "_SLICE", 0)
    monkeypatch.setattr(scrubbing, "_TOGETHER", 4)
    memory = store(embedder=None)
    memory.add_many(({"text": os.urandom(200).hex()} for _ in range(100)), progress=False)
    with memory._storage.database.write() as connection:
        scrubbing.note_removal(connection)
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    turns = iter((True,))
    monkeypatch.setattr(scrubbing, "_emptied", lambda _: next(turns, False))
    memory._storage.database.scrub(patience=0)

    assert scrubbing.pending(connection) == 5
    with memory._storage.database.write():
        scrubbing.note_removal(connection)
    assert scrubbing.pending(connection) == 0


def test_the_file_shrinks_when_most_of_it_is_free(store):
    """When more than half of the file is free after a forget, it is rewritten; the rest stays."""
    memory = store(embedder=None)
    memories = memory.add_many(({"text": os.urandom(1000).hex()} for _ in range(300)), progress=False)
    before = memory.stats()["bytes"]
    memory.forget([one.id for one in memories[20:]])

    assert memory.stats()["bytes"] < before / 2
    assert memory.stats()["memories"] == 20 and memory.doctor() == []
