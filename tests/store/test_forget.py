"""Forgetting: by id, by source, by filters, everything."""

from __future__ import annotations

import pytest
from results import titles, words_of_the_index

from jupyter_memory import InputError, UnknownMemory
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


@pytest.mark.parametrize("value", ["no", "yes", "True", 1, 0, None, [True]])
@pytest.mark.parametrize("more", [{}, {"filters": {"kind": "note"}}])
def test_only_true_is_everything(store, value, more):
    """A value that merely counts as true, such as "no", forgets and counts nothing; the error says what to type."""
    opened = store()
    opened.add("λ is 3.2")
    for call in (opened.selection, opened.forget, lambda **given: opened.forget(**given, dry_run=True)):
        with pytest.raises(InputError, match="Write everything=True"):
            call(everything=value, **more)
    assert opened.count() == 1


def test_an_empty_source_does_not_leave_all_to_the_filters(store):
    """A source from a variable that was never set is refused beside filters: they alone would choose far more."""
    opened = store()
    opened.add("λ is 3.2", tags=["draft"])
    with pytest.raises(InputError, match="source= is empty"):
        opened.forget(source="", filters={"tag": "draft"})
    assert opened.count() == 1


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


# -- what would go -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice",
    [
        {"filters": {"tag": "prices"}},
        {"filters": {"until": "2026-03-02"}},
        {"source": "/projects/week"},
        {"everything": True},
    ],
)
def test_a_dry_run_counts_and_removes_nothing(week_store, choice):
    """The number is that of the memories which the same call then removes."""
    counted = week_store.forget(**choice, dry_run=True)

    assert counted == len(week_store.selection(**choice)) > 0
    assert week_store.stats()["memories"] == 10
    assert week_store.forget(**choice) == counted


def test_a_dry_run_by_id(week_store, week_memories):
    """Ids are counted too, the same one once; an unknown one is an error before anything goes."""
    ids = [week_memories[title].id for title in ("Poisson λ", "Late deliveries")]

    assert week_store.forget([*ids, ids[0]], dry_run=True) == 2
    with pytest.raises(UnknownMemory):
        week_store.forget([*ids, "nobody"], dry_run=True)
    assert week_store.stats()["memories"] == 10


def test_a_selection_says_what_would_go(store):
    """It counts by kind, and those with a pin or with tags."""
    opened = store()
    opened.add("λ is 3.2", tags=["model", "draft"])
    opened.add("μ is 4", tags=["draft"], tier="core")
    opened.add("one cell", kind="cell", source="a.ipynb")
    everything = opened.selection(everything=True)

    assert (dict(everything.kinds), everything.pinned, everything.tagged) == ({"note": 2, "cell": 1}, 1, 2)
    assert str(everything) == "3 memories (2 note, 1 cell; 1 pinned, 2 with tags)"
    assert str(opened.selection(filters={"tag": "model"})) == "1 memory (1 note; 0 pinned, 1 with tags)"
    assert str(opened.selection(filters={"tag": "none"})) == "0 memories"
    by_id = opened.selection(list(everything.ids))
    assert (by_id.kinds, by_id.pinned, by_id.tagged) == (everything.kinds, 1, 2)


def test_what_was_counted_goes_and_nothing_else(store):
    """What is added or tagged between the count and the removal stays; what is gone or fits no longer is not missed."""
    opened = store()
    gone, untagged, kept = (opened.add(text, tags=["draft"]) for text in ("λ is 3.2", "μ is 4", "ν is 5"))
    late = opened.add("ξ is 6")
    counted = opened.selection(filters={"tag": "draft"})
    opened.forget(gone.id)
    opened.update(untagged.id, tags=[])
    opened.update(late.id, tags=["draft"])
    opened.add("ο is 7", tags=["draft"])

    assert opened.forget(counted, dry_run=True) == 1
    assert opened.forget(counted) == 1
    assert {"μ is 4", "ξ is 6", "ο is 7"} == set(opened.browse()["snippet"])
    assert kept.id not in set(opened.browse()["memory_id"])


def test_a_counted_everything_leaves_what_is_new(store):
    """Everything that was counted goes, with the searches; a memory that came later stays."""
    opened = store()
    opened.add("λ is 3.2")
    opened.note_search(opened.hits("λ"), "python")
    everything = opened.selection(everything=True)
    opened.add("μ is 4")

    assert opened.forget(everything) == 1
    assert opened.recent() == [] and opened.browse()["snippet"].tolist() == ["μ is 4"]
    with pytest.raises(InputError, match="not both"):
        opened.forget(everything, filters={"tag": "draft"})


def test_forget_several_sources(store):
    """Several sources are forgotten together; an empty one among them is nothing."""
    opened = store()
    for source in ("a.md", "b.md", "c.md"):
        opened.add(f"prices of {source}", source=source)

    assert opened.forget(source=["a.md", "", "b.md"]) == 2
    assert opened.browse()["source"].tolist() == ["c.md"]
    with pytest.raises(InputError, match="needs to know what"):
        opened.forget(source=[""])
