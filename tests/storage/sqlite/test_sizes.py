"""The bytes of a store by kind: they add up to what is on disk, and each kind is counted where it belongs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pictures import plot, plotting, saved

from jupyter_memory import MemoryStore
from jupyter_memory.types import Run


@pytest.fixture
def memory(tmp_path):
    with MemoryStore(tmp_path / "memory.sqlite", "static") as opened:
        yield opened


@pytest.fixture
def sizes(memory: MemoryStore):
    """Return what the bytes of the store are for at this moment."""
    return lambda: dict(memory.stats(sizes=True)["sizes"])


def on_disk(memory: MemoryStore) -> int:
    return sum(file.stat().st_size for file in memory.path.parent.glob(f"{memory.path.name}*"))


def test_sizes_add_up_to_the_bytes_on_disk(memory, sizes):
    """The parts are all of the file and its log: of an empty store, of a full one, and after its log was written."""
    assert sum(sizes().values()) == on_disk(memory)
    memory.add_many([{"text": f"λ {i} " * 300, "tags": [f"t{i}"]} for i in range(60)], progress=False)
    stats = memory.stats(sizes=True)
    assert sum(stats["sizes"].values()) == stats["bytes"] == on_disk(memory)
    assert stats["held"] == stats["bytes"] - stats["sizes"]["free"] - stats["sizes"]["log"]
    path = memory.path
    memory.close()
    with MemoryStore(path, "static") as again:
        assert sum(again.stats(sizes=True)["sizes"].values()) == on_disk(again)


def test_each_kind_is_counted_where_it_belongs(memory, sizes, tmp_path):
    """Texts, words and vectors grow with notes, pictures with a notebook, history with runs, searches with a search."""
    before = sizes()
    memory.add_many([{"text": f"{i} prices of region {i * 7}, " * 60} for i in range(60)], progress=False)
    noted = sizes()
    assert all(noted[kind] > before[kind] for kind in ("texts", "words", "vectors"))
    assert noted["pictures"] == before["pictures"] and noted["history"] == before["history"]

    saved(tmp_path / "nb" / "λ.ipynb", *[plotting(f"plot({i})", plot(i)) for i in range(4)])
    memory.index(tmp_path / "nb", progress=False)
    shown = sizes()
    assert shown["pictures"] > noted["pictures"] + memory.stats()["thumbnails"]["bytes"] / 2

    at = datetime(2026, 3, 2, tzinfo=UTC)
    runs = [Run(f"x = {i}", at, session="s", number=i, outcome="ok") for i in range(300)]
    memory.history.record(runs)
    assert sizes()["history"] > shown["history"]

    for i in range(80):
        memory.note_search(memory.hits(f"prices {i}"), "python")
    assert sizes()["searches"] > before["searches"]


def test_forgetting_makes_room_that_counts_as_free(memory, sizes):
    """What is forgotten no longer counts as held, although the file stays as large; what comes next uses that room."""
    memory.add_many([{"text": f"λ {i} " * 500} for i in range(60)], progress=False)
    held = memory.stats(sizes=True)["held"]
    memory.forget(everything=True)
    stats = memory.stats(sizes=True)
    assert stats["held"] < held / 2
    assert sum(stats["sizes"].values()) == stats["bytes"]
