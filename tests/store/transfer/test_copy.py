"""A copy of a store has all that it has, vectors too, and answers like it; an interrupted copy goes on."""

from __future__ import annotations

import pytest
from hashing import Hashing
from hypothesis import given, settings
from hypothesis import strategies as st
from transferred import NOTES, PLAIN, RUNS, answers, carried, contents, fill

from jupyter_memory import EmbeddingMismatch, InputError, MemoryStore
from jupyter_memory.storage.sqlite.transfer import SqliteTransfer
from jupyter_memory.store import transfer


@given(st.lists(NOTES, max_size=6), st.lists(RUNS, max_size=6))
@settings(max_examples=4)
def test_a_copy_is_and_answers_like_its_source(tmp_path_factory, notes, runs):
    """Everything is exactly as in the source, the vectors to the last bit; hits, snippets and scores are the same."""
    folder = tmp_path_factory.mktemp("store")
    with MemoryStore(folder / "a.sqlite", "static", settings=PLAIN) as store:
        fill(store, folder / "week", notes, runs)
        before, more, asked = contents(store), carried(store), answers(store)
        report = store.copy_to(folder / "b.sqlite", progress=False)
        again = store.copy_to(folder / "b.sqlite", progress=False)
    assert (report.memories.added, report.without_vectors, report.searches) == (len(before[0]), 0, len(more[-1]))
    assert (again.memories.added, again.memories.kept, again.searches) == (0, len(before[0]), 0)
    with MemoryStore(folder / "b.sqlite", settings=PLAIN) as store:
        assert contents(store) == before
        assert carried(store) == more
        assert answers(store) == asked
        assert store.doctor() == []
        assert store.index(folder / "week", progress=False).unchanged == 2


def test_an_interrupted_copy_goes_on(tmp_path, monkeypatch):
    """An interruption leaves whole memories; the same call copies the rest, and the answers are those of the source."""
    monkeypatch.setattr(transfer, "_COPIED_TOGETHER", 7)
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        store.add_many([{"text": f"The price of shop {number} rose."} for number in range(40)])
        asked = answers(store)
        put, done = SqliteTransfer.put, []

        def interrupted(self, *arguments, **options):
            if len(done) == 3:
                raise KeyboardInterrupt
            done.append(1)
            return put(self, *arguments, **options)

        with monkeypatch.context() as patched:
            patched.setattr(SqliteTransfer, "put", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.copy_to(tmp_path / "b.sqlite", progress=False)
        with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as half:
            assert half.count() == 21
            assert half.doctor() == []
        report = store.copy_to(tmp_path / "b.sqlite", progress=False)
    assert (report.memories.added, report.memories.kept) == (19, 21)
    with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as copy:
        assert answers(copy) == asked


def test_there_and_back_brings_what_changed(tmp_path):
    """What somebody pinned and changed in the copy comes back with ``update``, and what is known stays without it."""
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        memory = store.add("We scaled the prices.", tags=["draft"])
        store.copy_to(tmp_path / "b.sqlite", progress=False)
    with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as copy:
        copy.update(memory.id, text="We scaled the prices to zero mean.", tags=["decision"])
        copy.pin(memory.id)
        assert copy.copy_to(tmp_path / "a.sqlite", progress=False).memories.kept == 1
        assert copy.copy_to(tmp_path / "a.sqlite", update=True, progress=False).memories.updated == 1
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        found = store.get(memory.id)
        assert (found.text, found.tags, found.pinned) == ("We scaled the prices to zero mean.", ("decision",), True)
        assert store.search("zero mean").index.size == 1


def test_a_space_is_copied_alone_and_without_searches(tmp_path):
    """A store with a space copies what is in it; recent searches tell of other spaces and stay."""
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), space="work", settings=PLAIN) as store:
        store.add("Prices rose.")
        store.add("A private price.", space="private")
        store.note_search(store.hits("price"), "magic")
        report = store.copy_to(tmp_path / "b.sqlite", progress=False)
    assert (report.memories.added, report.searches) == (1, 0)
    with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as copy:
        assert [hit.memory.space for hit in copy.browsed().hits] == ["work"]


def test_memories_without_vectors_are_copied_and_counted(tmp_path):
    """What was stored without a model comes along as it is, between others that have vectors."""
    path = tmp_path / "a.sqlite"
    for number, embedder in enumerate([Hashing(), None, Hashing()]):
        with MemoryStore(path, embedder, settings=PLAIN) as store:
            store.add(f"Prices rose in week {number}.")
    with MemoryStore(path, Hashing(), settings=PLAIN) as store:
        report = store.copy_to(tmp_path / "b.sqlite", progress=False)
        assert (report.memories.added, report.without_vectors) == (3, 1)
        missing = carried(store)[0]
    with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as copy:
        assert carried(copy)[0] == missing
        assert copy.reembed(progress=False) == 1


def test_another_model_and_the_same_store_are_refused(tmp_path):
    """Nothing is written where the vectors would not go together, or where a store is copied to itself."""
    with MemoryStore(tmp_path / "b.sqlite", Hashing(dimensions=64), settings=PLAIN) as other:
        other.add("Prices fell.")
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        store.add("Prices rose.")
        with pytest.raises(EmbeddingMismatch, match="nothing was copied"):
            store.copy_to(tmp_path / "b.sqlite", progress=False)
        (tmp_path / "link.sqlite").symlink_to(tmp_path / "a.sqlite")
        for same in ("a.sqlite", "link.sqlite"):
            with pytest.raises(InputError, match="the store itself"):
                store.copy_to(tmp_path / same, progress=False)
    with MemoryStore(tmp_path / "b.sqlite", Hashing(dimensions=64), settings=PLAIN) as other:
        assert other.count() == 1
        assert len(other.stats()["models"]) == 1
