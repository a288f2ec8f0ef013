"""Every change is whole or not at all, whatever comes in between."""

from __future__ import annotations

import json
import os
import subprocess
import threading

import apsw
import numpy as np
import pytest

from jupyter_memory import EmbedderError, MemoryStore, StoreFull, StoreLocked
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import chunks, memories

TABLES = ("memories", "texts", "chunks", "tags", "keyword_docsize", "files")


def counts(database):
    """Return how many rows every table has that a memory lives in."""
    connection = database.connection
    models = [row[0] for row in connection.execute("select id from models")]
    tables = (*TABLES, *(f"{kind}_{model}" for model in models for kind in ("vectors", "codes")))
    return {table: connection.execute(f"select count(*) from {table}").get for table in tables}


class Interrupting:
    """An embedder that is the static one, until its nth call, when somebody presses Ctrl-C."""

    name, dimensions, threshold, fingerprint = "interrupting", 64, 0.2, "interrupting/64"

    def __init__(self, calls=0):
        self.calls = calls
        self._static = StaticEmbedder(64)

    def embed_documents(self, texts, /):
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return self._static.embed_documents(texts)

    def embed_query(self, text, /):
        return self._static.embed_query(text)


class Wrong(Interrupting):
    """An embedder that gives something else than was asked for."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def embed_documents(self, texts, /):
        return self.answer(super().embed_documents(texts))

    def embed_query(self, text, /):
        return self.answer(super().embed_documents([text]))[0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda vectors: vectors[:-1],
        lambda vectors: np.concatenate([vectors, vectors]),
        lambda vectors: vectors[:, :32],
        lambda vectors: vectors * np.nan,
        lambda vectors: vectors * 0,
        lambda vectors: None,
        lambda vectors: [["λ"] * 64] * len(vectors),
    ],
    ids=["too few", "too many", "too short", "NaN", "zeros", "none", "words"],
)
def test_an_embedder_that_is_wrong(store, answer):
    """Vectors that cannot be stored are refused with what they should be, and leave nothing behind."""
    memory = store(embedder=Wrong(answer))
    before = counts(memory._storage.database)

    with pytest.raises(EmbedderError, match=r"must give float32 vectors of shape \(\d, 64\).* Nothing was stored"):
        memory.add_many([{"text": "The λ"}, {"text": "of Zürich"}], progress=False)
    assert counts(memory._storage.database) == before


def test_an_embedder_of_other_numbers(store):
    """Vectors of float64, or in lists, are as good as any."""
    memory = store(embedder=Wrong(lambda vectors: vectors.astype(np.float64).tolist()))
    memory.add("The λ of Zürich")

    assert memory.hits("Zürich").hits[0].cosine > 0.3
    assert memory.doctor() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize(("module", "function"), [(memories, "insert_tags"), (chunks, "insert"), (memories, "insert")])
def test_interrupted_while_adding(week_store, monkeypatch, error, module, function):
    """Stopped anywhere in the middle of a write, a store is as it was, and goes on."""
    before = counts(week_store._storage.database)
    original = getattr(module, function)
    calls = []

    def fail(*arguments):
        calls.append(function)
        if len(calls) > 2:
            raise error
        return original(*arguments)

    monkeypatch.setattr(module, function, fail)
    with pytest.raises(error):
        for batch in range(3):
            week_store.add_many([{"text": f"λ {batch}.{i}", "tags": ["x"]} for i in range(5)], progress=False)
        pytest.fail("nothing was interrupted")
    monkeypatch.undo()

    after = counts(week_store._storage.database)
    assert after["memories"] - before["memories"] in (0, 5, 10)  # whole batches
    assert after["chunks"] - before["chunks"] == after["memories"] - before["memories"]
    assert week_store.doctor() == []
    week_store.add("goes on")


def test_interrupted_while_forgetting(week_store, monkeypatch):
    """Stopped in the middle of forgetting, everything is still there and found."""
    before = counts(week_store._storage.database)
    monkeypatch.setattr(VectorIndex, "remove", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))

    with pytest.raises(KeyboardInterrupt):
        week_store.forget(everything=True)
    assert counts(week_store._storage.database) == before
    assert week_store.doctor() == []
    assert week_store.hits("Poisson").hits


def test_interrupted_while_updating(week_store, week_memories, monkeypatch):
    """Stopped in the middle of an update, the old words are found as before."""
    monkeypatch.setattr(VectorIndex, "add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))

    with pytest.raises(KeyboardInterrupt):
        week_store.update(week_memories["Poisson λ"].id, text="Something about walruses", title="Walrus")
    monkeypatch.undo()
    assert week_store.get(week_memories["Poisson λ"].id).title == "Poisson λ"
    assert week_store.hits('"poisson"').hits[0].memory.title == "Poisson λ"
    assert not [hit for hit in week_store.hits("walrus").hits if hit.kw_rank]
    assert week_store.doctor() == []


def test_interrupted_while_indexing(store, tmp_path):
    """Ctrl-C while a folder is indexed leaves whole files; the next run does what is left, once."""
    for number in range(20):
        cells = [{"cell_type": "markdown", "metadata": {}, "source": f"λ of Zürich, {number}.{i}"} for i in range(60)]
        content = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
        (tmp_path / f"{number:02}.ipynb").write_text(json.dumps(content))
    memory = store(embedder=Interrupting(calls=2))

    with pytest.raises(KeyboardInterrupt):
        memory.index(tmp_path, progress=False)
    held = memory.stats()
    assert 0 < held["files"] < 20 and held["memories"] == 60 * held["files"]
    assert counts(memory._storage.database)["codes_1"] == held["chunks"]
    assert memory.doctor() == []

    report = memory.index(tmp_path, progress=False)
    assert (report.files, report.unchanged) == (20 - held["files"], held["files"])
    assert memory.stats()["memories"] == 1200
    assert memory.doctor() == []


def test_interrupted_while_reembedding(store, week):
    """Ctrl-C while vectors are written anew: searches go on with the old ones, the next run writes what is left."""
    texts = [{"text": f"Note {i} of λ in Zürich"} for i in range(600)]
    with store() as first:
        first.add_many(texts, progress=False)
    embedder = Interrupting(calls=3)
    second = store(embedder=embedder)

    with pytest.raises(KeyboardInterrupt):
        second.reembed(progress=False)
    assert store().stats()["model"] == "static"
    assert store().hits("Note 5").hits[0].cosine > 0.3
    assert second.reembed(progress=False) == 600 - 2 * 256
    assert second.stats()["model"] == "interrupting"
    assert [model["vectors"] for model in second.stats()["models"]] == [600, 600]
    assert second.doctor() == []


# -- the disk ----------------------------------------------------------------------------------------------------------


def test_full(week_store):
    """When the disk is full nothing is half-written, and searches go on."""
    connection = week_store._storage.database.connection
    connection.pragma("max_page_count", connection.pragma("page_count") + 4)
    before = counts(week_store._storage.database)

    with pytest.raises(StoreFull, match=r"The disk of .* is full\. Nothing was changed; make room"):
        week_store.add_many([{"text": f"{i} " + "λ of Zürich " * 500} for i in range(50)], progress=False)
    assert counts(week_store._storage.database) == before
    assert week_store.hits("Poisson").hits
    connection.pragma("max_page_count", 1_000_000)
    week_store.add("goes on")
    assert week_store.doctor() == []


@pytest.fixture
def small_disk(tmp_path):
    """A disk of one megabyte, on its own; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], check=True, capture_output=True, timeout=100
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True, timeout=100)


def test_a_disk_that_is_full_indeed(small_disk):
    """On a full disk each memory is in whole or not, and forgetting works."""
    with MemoryStore(small_disk / "memory.sqlite") as store:
        walrus = store.add("A walrus in the bath")
        added = 1
        with pytest.raises(StoreFull):
            for number in range(1000):
                store.add(f"{number} " + os.urandom(4000).hex())
                added += 1
        assert counts(store._storage.database)["memories"] == counts(store._storage.database)["texts"] == added
        assert counts(store._storage.database)["codes_1"] == counts(store._storage.database)["chunks"]
        assert store.hits("walrus").hits[0].memory.id == walrus.id

        assert store.forget(walrus.id) == 1 and store.notices == ()
        assert store.stats()["memories"] == added - 1
        assert store._storage.database.connection.execute("pragma integrity_check").get == "ok"


# -- the lock ----------------------------------------------------------------------------------------------------------


def test_locked(path, database, remember):
    """A write that finds the lock taken for longer than the busy time says so, and reads go on."""
    mine, other = database(), database()
    remember(mine, "The λ of Zürich")
    with other.write():
        with pytest.raises(StoreLocked, match=r"locked by another process .* try again in a moment"):
            remember(mine, "not now")
        with mine.read() as connection:
            assert connection.execute("select count(*) from memories").get == 1
    remember(mine, "now")


def test_a_lock_that_is_let_go_in_time(path, database, remember):
    """Within the busy time a writer waits for the other."""
    mine, other = database(busy_seconds=60), Database(path)
    held = threading.Event()

    def hold():
        with other.write():
            held.set()
            threading.Event().wait(0.3)
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(100)
    remember(mine, "after a while")
    thread.join(100)
    assert mine.connection.execute("select count(*) from memories").get == 1


def test_after_a_small_write_that_was_interrupted(database, remember):
    """Ctrl-C in a write that need not last leaves the next one patient, and safe in a power cut."""
    opened = database()
    remember(opened, "λ was 0.3")
    usual = opened.connection.pragma("busy_timeout")

    with pytest.raises(KeyboardInterrupt), opened.write_at_once():
        raise KeyboardInterrupt

    with opened.write() as connection:
        assert connection.pragma("synchronous") == 2
    assert (opened.connection.pragma("busy_timeout"), opened.connection.pragma("synchronous")) == (usual, 2)


def test_a_commit_that_fails(path, database, remember, network_home):
    """Without a log a reader can hold a commit back; then nothing is written, and the next write is a fresh one."""
    mine, reader = database(), database()
    remember(mine, "The λ of Zürich")
    with reader.read() as connection:
        assert connection.execute("select count(*) from memories").get == 1
        with pytest.raises(StoreLocked):
            remember(mine, "not now")
        assert not mine.connection.in_transaction
    remember(mine, "now")
    assert [row[0] for row in mine.connection.execute("select text from texts")] == ["The λ of Zürich", "now"]


def test_a_snapshot(path, database, remember):
    """A reader sees one state from its first look to its last, whatever others write meanwhile."""
    mine, other = database(), database()
    remember(mine, "The λ of Zürich")
    with mine.read() as connection:
        before = connection.execute("select count(*) from memories").get
        remember(other, "written meanwhile")
        with mine.read() as again:
            assert again.execute("select count(*) from memories").get == before
    assert mine.connection.execute("select count(*) from memories").get == before + 1


def test_a_change_in_two_steps(database):
    """An exception in the block of a transaction undoes what the block did."""
    opened = database()
    with pytest.raises(ZeroDivisionError), opened.write() as connection:
        connection.execute("insert into counters values ('λ', 1)")
        1 / 0  # noqa: B018
    assert opened.connection.execute("select count(*) from counters").get == 1
    with pytest.raises(apsw.ConstraintError), opened.write() as connection:
        connection.execute("insert into counters values ('ü', 1)")
        connection.execute("insert into counters values ('ü', 1)")
    assert opened.connection.execute("select count(*) from counters").get == 1


def test_reading_leaves_statements_as_they_are(database):
    """What SQLite knows of the tables outlives a search that opens a temporary one, so that nothing is read anew."""
    opened = database()
    for _ in range(2):
        with opened.read() as connection:
            connection.execute("create virtual table if not exists temp.λ using fts5vocab(main, keyword, row)")

    assert opened.connection.execute("select name from temp.sqlite_schema").get == "λ"
    assert not opened.connection.in_transaction
