"""The store itself: what it says of itself, where it lies, its copies."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from results import titles

from jupyter_memory import InputError, JupyterMemory, MemoryStore, StoreClosed, StoreOpen, open_store


def test_stats(week_store):
    """Stats count by kind, tier and space, and name the model."""
    stats = week_store.stats()

    assert (stats["memories"], stats["chunks"], stats["pinned"]) == (10, 10, 1)
    assert stats["kinds"] == {"note": 8, "cell": 1, "file": 1}
    assert stats["tiers"] == {"note": 6, "file": 2, "core": 1, "mcp": 1}
    assert stats["spaces"] == {"": 8, "shops": 2}
    assert (stats["model"], stats["store"]) == ("static", str(week_store.path))
    assert stats["bytes"] > 10_000 and not stats["read_only"]
    json.dumps(stats)


def test_tags(week_store):
    """Tags come with the most used first."""
    assert week_store.tags()[:3] == ["prices", "decision", "model"]
    assert set(week_store.tags()) == {"prices", "decision", "model", "bug", "pandas", "todo", "rule"}


def test_a_healthy_store(week_store):
    """The doctor has nothing to say about a store that is well."""
    assert week_store.doctor() == [] and week_store.notices == ()


def test_a_store_closes_itself(store, tmp_path):
    """A store is a context manager; closed, it says how to open it again; closing twice is fine."""
    with MemoryStore(tmp_path / "λ.sqlite") as memory:
        memory.add("λ is 3.2")
        assert repr(memory) == f"MemoryStore({str(tmp_path / 'λ.sqlite')!r})"

    assert memory.closed and repr(memory).endswith(", closed)")
    for use in (lambda: memory.search("λ"), lambda: memory.add("x"), memory.stats, memory.browse):
        with pytest.raises(StoreClosed, match=r"open_store\(\) or MemoryStore\(path\)"):
            use()
    memory.close()
    assert titles(store("../λ.sqlite").browse()) == ["λ is 3.2"]


def test_what_is_kept_is_kept(store, week, now):
    """Closed and opened again, a store gives the same answer, to the last digit."""
    first = store()
    first.add_many(week, progress=False)
    before = first.search("joining orders", now=now)
    first.close()

    pd.testing.assert_frame_equal(store().search("joining orders", now=now), before)


def test_one_store_for_one_path(tmp_path, monkeypatch):
    """Within a process a path gives the same store until it is closed; the default one is where the settings say."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "mine.sqlite"))
    default = open_store()
    other = open_store(tmp_path / "other.sqlite")

    assert default.path == tmp_path / "mine.sqlite"
    assert open_store() is default and open_store(str(tmp_path / "other.sqlite")) is other is not default
    default.close()
    again = open_store()
    assert again is not default and not again.closed
    again.close()
    other.close()


def test_a_store_whose_file_is_another_is_closed_when_its_path_is_opened(tmp_path):
    """The old store is let go of, and nothing of the new file goes with it, nor of the log that others write."""
    path = tmp_path / "memory.sqlite"
    old = open_store(path)
    old.add("λ was 0.3")
    for file in list(tmp_path.iterdir()):
        file.unlink()
    with MemoryStore(path) as other:
        other.add("λ is 0.4")
        new = open_store(path)
        assert old.closed and not new.closed
        assert [hit.memory.text for hit in new.browsed().hits] == ["λ is 0.4"]
        other.add("λ will be 0.5")
        assert new.count() == 2 and new.doctor() == []
    new.close()


def test_the_default_store_lies_in_jupyters_data_folder(home):
    """Without any setting the store is memory/memory.sqlite in Jupyter's data folder."""
    with open_store() as memory:
        assert memory.path == home / "data" / "memory" / "memory.sqlite"
        assert memory.path.exists()


def test_settings_of_ones_own(tmp_path):
    """A store can be opened with other settings beside the one that is shared."""
    shared = open_store(tmp_path / "memory.sqlite")
    settings = JupyterMemory(limit=1, profile="trovella", space="lab")
    mine = open_store(tmp_path / "memory.sqlite", settings=settings)
    mine.add_many([{"text": "λ one"}, {"text": "λ two"}], progress=False)

    assert mine is not shared and open_store(tmp_path / "memory.sqlite") is shared
    assert len(mine.search("λ")) == 1 and mine.hits("λ").profile == "trovella"
    assert {hit.memory.space for hit in shared.browsed().hits} == {"lab"}
    mine.close()
    shared.close()


def test_backup_and_restore(week_store, tmp_path, now):
    """A backup taken while the store is open holds all of it, and becomes a store elsewhere."""
    copy = week_store.backup(tmp_path / "Sicherung λ.sqlite")
    week_store.forget(everything=True)
    where = MemoryStore.restore(copy, to=tmp_path / "new" / "memory.sqlite")

    with MemoryStore(where) as restored:
        assert restored.stats()["memories"] == 10
        assert titles(restored.search("joining orders", now=now))[0] == "Joining orders"
        assert restored.doctor() == []
    with pytest.raises(InputError, match=r"exists already\. Choose another name"):
        week_store.backup(copy)


def test_restore_in_place(week_store, tmp_path):
    """A store is put back only when asked to, and only while nobody has it open."""
    copy, path = week_store.backup(tmp_path / "copy.sqlite"), week_store.path
    week_store.forget(everything=True)

    with pytest.raises(InputError, match="overwrite=True"):
        MemoryStore.restore(copy, to=path)
    with pytest.raises(StoreOpen, match="Close it first"):
        MemoryStore.restore(copy, to=path, overwrite=True)
    assert week_store.stats()["memories"] == 0
    week_store.close()
    with pytest.raises(InputError, match="There is no backup at"):
        MemoryStore.restore(tmp_path / "nothing.sqlite", to=path, overwrite=True)

    assert MemoryStore.restore(copy, to=path, overwrite=True) == path
    with MemoryStore(path) as restored:
        assert restored.stats()["memories"] == 10


def test_restore_the_default_store(week_store, tmp_path, monkeypatch):
    """Without a target a backup becomes the default store."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "mine.sqlite"))

    assert MemoryStore.restore(week_store.backup(tmp_path / "copy.sqlite")) == tmp_path / "mine.sqlite"


def test_one_character_finds_every_place_it_stands(store):
    """A single Chinese, Japanese or Korean character is found at the start, in the middle and at the end of a run."""
    memories = store()
    for text in ("塔を見る", "東京塔へ", "東京塔", "価格"):
        memories.add(text)

    answer = memories.hits("塔", profile="covalence")

    assert {hit.memory.text for hit in answer.hits if hit.kw_rank} == {"塔を見る", "東京塔へ", "東京塔"}
    assert all(hit.snippet[slice(*hit.highlights[0])] == "塔" for hit in answer.hits if hit.kw_rank)
