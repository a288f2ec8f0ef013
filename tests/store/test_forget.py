"""Forgetting: by id, by source, by filters, everything."""

from __future__ import annotations

import pytest
from results import titles, words_of_the_index

from jupyter_memory.errors import (
    InputError,
    UnknownMemory,
)
from jupyter_memory.types import Filters


def test_forget_by_id(week_store, week_memories):
    """One id or several; the same one twice counts once."""
    ids = [week_memories[title].id for title in ("Poisson λ", "Late deliveries", "Lost events")]

    assert week_store.forget(ids[0]) == 1
    assert week_store.forget([ids[1], ids[2], ids[1]]) == 2
    assert week_store.stats()["memories"] == 7
    assert words_of_the_index(week_store) == (7, 7)
    assert "Poisson λ" not in titles(week_store.search("Poisson λ", profile="trovella"))


def test_one_wrong_id_forgets_nothing(week_store, week_memories):
    """When one of the ids is not there, all the others stay."""
    with pytest.raises(UnknownMemory, match="'nobody'"):
        week_store.forget([week_memories["Poisson λ"].id, "nobody"])
    assert week_store.stats()["memories"] == 10


def test_forget_by_source(week_store, week_memories):
    """A file goes with its memories, a folder with all below it."""
    source = week_memories["Holdout results"].source

    assert week_store.forget(source=source) == 1
    assert week_store.forget(source=source.rpartition("/notes/")[0]) == 1
    assert week_store.forget(source=source) == 0
    assert week_store.stats()["memories"] == 8


@pytest.mark.parametrize(
    ("filters", "count"),
    [({"tag": "prices"}, 3), ({"tag": "prices", "space": "shops"}, 2), ({"until": "2026-03-02"}, 2)],
)
def test_forget_by_filters(week_store, filters, count):
    """What the filters select is forgotten, and nothing else."""
    left = set(titles(week_store.browse(limit=20))) - set(titles(week_store.browse(limit=20, filters=filters)))

    assert week_store.forget(filters=filters) == count
    assert set(titles(week_store.browse(limit=20))) == left


def test_forget_by_a_relative_source(store, tmp_path):
    """A relative source begins at the folder of the store, and may be just what a note names as its own."""
    opened = store(folder=tmp_path / "Zürich")
    opened.add("prices are net", source=str(tmp_path / "Zürich" / "preise.md"))
    opened.add("λ is 3.2", source="paper.pdf")

    assert opened.forget(source="elsewhere") == 0
    assert opened.forget(source="preise.md") == 1
    assert opened.forget(source="paper.pdf") == 1


def test_forget_source_and_filters(week_store, week_memories):
    """Beside a source, filters choose among its memories; a second path is refused."""
    source = week_memories["Holdout results"].source

    assert week_store.forget(source=source, filters={"tag": "pandas"}) == 0
    with pytest.raises(InputError, match="takes one path"):
        week_store.forget(source=source, filters={"path": "/week"})
    assert week_store.forget(source=source, filters={"tag": "model"}) == 1


def test_forget_everything(week_store):
    """All goes when that is said."""
    assert week_store.forget(everything=True) == 10
    assert words_of_the_index(week_store) == (0, 0)
    assert week_store.search("prices").empty and week_store.doctor() == []


@pytest.mark.parametrize("given", [{}, {"filters": {}}, {"filters": Filters()}, {"everything": False}])
def test_forget_needs_to_know_what(week_store, given):
    """Without a choice nothing is forgotten, and the error says how to choose."""
    with pytest.raises(InputError, match=r"forget\(\) needs to know what: ids, source=, filters=, or everything=True"):
        week_store.forget(**given)
    assert week_store.stats()["memories"] == 10


def test_forget_by_ids_or_by_choice(week_store, week_memories):
    """Ids and a choice together could be read in two ways, so they are refused; no ids forget nothing."""
    with pytest.raises(InputError, match="not both"):
        week_store.forget(week_memories["Poisson λ"].id, everything=True)
    assert week_store.forget([]) == 0
    assert week_store.stats()["memories"] == 10


def test_what_is_not_forgotten_is_not_read_again(store, tmp_path):
    """Files without memories, empty or broken, are no news after a forget elsewhere; in a forgotten folder they go."""
    notes, other = tmp_path / "notes", tmp_path / "other"
    for folder in (notes, other):
        folder.mkdir()
        (folder / "λ.md").write_text("prices in Zürich", encoding="utf-8")
        (folder / "empty.md").write_text("", encoding="utf-8")
        (folder / "broken.ipynb").write_text("{", encoding="utf-8")
    opened = store()
    opened.index(tmp_path, progress=False)
    unchanged = opened.stale(tmp_path)

    assert opened.forget(source=str(other / "λ.md")) == 1
    assert (opened.stale(notes), opened.stale(other)) == (unchanged, unchanged + 1)
    opened.forget(source=str(other))
    assert opened.stale(notes) == unchanged
    assert b"other/empty.md" not in opened.path.read_bytes()
    opened.forget(everything=True)
    assert b"empty.md" not in opened.path.read_bytes()
