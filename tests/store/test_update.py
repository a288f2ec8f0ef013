"""Reading and changing one memory."""

from __future__ import annotations

from datetime import UTC, datetime

import nbformat
import pytest
from results import words_of_the_index

from jupyter_memory import InputError, UnknownMemory


def test_an_unknown_id(week_store):
    """Every verb that takes an id says so when no memory has it."""
    for verb in (week_store.get, week_store.pin, week_store.unpin, week_store.forget, week_store.update):
        with pytest.raises(UnknownMemory, match="No memory has the id '3f2a'"):
            verb("3f2a")


def test_update_is_seen_by_both_legs(store):
    """A new text is found by its words and its meaning, and the old one no more."""
    memory = store()
    id_ = memory.add("Deliveries to Malmö are late because of the snow.", title="Deliveries", tags=["todo"]).id
    changed = memory.update(id_, text="Walruses sleep on the ice of Spitsbergen.", title="Wildlife λ", tags=["zoo"])

    assert (changed.id, changed.text, changed.title, changed.tags) == (
        id_,
        "Walruses sleep on the ice of Spitsbergen.",
        "Wildlife λ",
        ("zoo",),
    )
    assert memory.get(id_) == changed
    for query in ("walruses sleep", "wildlife on the ice"):
        assert memory.hits(query).hits[0].badges == "KW+SEM"
    assert memory.hits("zoo").hits[0].kw_rank == 1
    assert not any(
        "KW" in hit.badges for query in ("deliveries", "todo", "Malmö snow") for hit in memory.hits(query).hits
    )
    near, far = (
        memory.hits(query, profile="trovella").hits[0].cosine for query in ("arctic animals", "late deliveries")
    )
    assert near > far
    assert words_of_the_index(memory) == (1, 1) and memory.doctor() == []


def test_update_of_some_things_leaves_the_others(store):
    """What is not named stays; tags and metadata that are named are replaced."""
    memory = store()
    first = memory.add(
        "λ is 3.2", title="λ", tags=["a", "b"], metadata={"x": 1}, domain="sales", event_at="2026-03-02", session="s"
    )
    changed = memory.update(first.id, metadata={"y": 2}, severity="warning")

    assert dict(changed.metadata) == {"y": 2} and changed.severity == "warning"
    for name in ("text", "title", "tags", "domain", "event_at", "session", "content_hash", "tier"):
        assert getattr(changed, name) == getattr(first, name)
    assert memory.update(first.id, tags="ü").tags == ("ü",)
    assert memory.update(first.id, domain=None, tags=()).domain is None
    assert memory.get(first.id).tags == ()


def test_update_of_the_time(store):
    """A new time counts for filters, and its weekday among the words that are searched."""
    memory = store()
    id_ = memory.add("λ is 3.2", event_at=datetime(2026, 3, 2, 12, tzinfo=UTC)).id
    memory.update(id_, event_at=datetime(2026, 3, 12, 12, tzinfo=UTC))

    assert len(memory.browse(since="2026-03-12", until="2026-03-12")) == 1
    assert memory.search("Thursday")["badges"].tolist() != []
    assert not any(memory.search("Monday")["kw_rank"].notna())


@pytest.fixture
def notebook(store, tmp_path):
    """A store with one notebook of two cells below a heading, and its code cell."""
    cells = [
        nbformat.v4.new_markdown_cell("# Zürich\n\n## Kühlung\n\nWhy the cooling failed.", id="intro"),
        nbformat.v4.new_code_cell("load = read_load('2026-03')\nload.plot()", id="plot"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "cooling.ipynb")
    memory = store()
    memory.index(tmp_path / "cooling.ipynb", progress=False)
    [cell] = [hit.memory for hit in memory.browsed().hits if hit.memory.location == "plot"]
    return memory, cell


def test_a_cell_with_new_tags_keeps_its_place(notebook):
    """Tags given to an indexed cell are searched, and it is still found by its headings and with its vector."""
    memory, cell = notebook
    before = memory.hits("Kühlung cooling failed", filters={"kind": "cell"}, profile="trovella")
    changed = memory.update(cell.id, tags=["todo"])
    after = memory.hits("Kühlung cooling failed", filters={"kind": "cell"}, profile="trovella")

    assert (changed.location, changed.lang, changed.source, changed.tags) == (
        cell.location,
        cell.lang,
        cell.source,
        ("todo",),
    )
    assert [hit.memory.id for hit in after.hits] == [hit.memory.id for hit in before.hits]
    assert [hit.cosine for hit in after.hits] == [hit.cosine for hit in before.hits]
    assert [hit.kw_rank for hit in after.hits] == [hit.kw_rank for hit in before.hits]
    assert memory.hits("todo").hits[0].memory.id == cell.id and memory.doctor() == []


def test_a_cell_with_a_new_text_keeps_its_place(notebook):
    """A cell that is corrected in the store is still found by its notebook and headings."""
    memory, cell = notebook
    memory.update(cell.id, text="load = read_load('2026-04')")

    assert "KW" in next(hit.badges for hit in memory.hits("Kühlung").hits if hit.memory.id == cell.id)
    assert not any(hit.kw_rank for hit in memory.hits("plot", profile="covalence").hits)


def test_update_refuses_to_make_a_copy(store):
    """A change that would make two memories the same is refused with the other's id, and nothing changes."""
    memory = store()
    one, two = memory.add("λ is 3.2", title="λ"), memory.add("λ is 3.3", title="λ", tags=["a"])

    with pytest.raises(InputError, match=f"memory {one.id} says the same already"):
        memory.update(two.id, text="λ is 3.2", tags=["b"])
    assert memory.get(two.id) == two


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "cell"}, r"update\(\) cannot set kind\. It sets: domain, event_at, "),
        ({"colour": "red", "source": "x"}, "cannot set colour, source"),
        ({"text": ""}, "the text is empty"),
        ({"tier": "gold"}, "tier is 'gold'"),
    ],
)
def test_update_refuses_what_cannot_be(store, change, message):
    """What cannot be set is refused, and the memory stays as it was."""
    memory = store()
    before = memory.add("λ is 3.2")

    with pytest.raises(InputError, match=message):
        memory.update(before.id, **change)
    assert memory.get(before.id) == before
