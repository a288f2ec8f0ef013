"""A store that should not grow beyond a size says when it nearly does, and drops nothing that it holds."""

from __future__ import annotations

import pytest
from pictures import plot, plotting, saved

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.ingest.pictures import OVER_BUDGET


@pytest.fixture
def store(tmp_path):
    """Open the store with a budget; all are closed in the end."""
    opened = []

    def open_(**settings):
        opened.append(MemoryStore(tmp_path / "memory.sqlite", "static", settings=JupyterMemory(**settings)))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def megabytes_held(store):
    return store.stats(sizes=True)["held"] / 1_000_000


def test_without_a_budget_nothing_is_said(store):
    """By default a store may have any size."""
    memory = store()
    memory.add("λ " * 10_000)
    assert memory.notices == () and memory.stats(sizes=True)["budget"] is None


def test_a_store_says_when_it_comes_near_its_budget_and_when_it_is_beyond(store, tmp_path):
    """At 90 % and beyond 100 % the notices name the setting, and so does the report of an index run; texts go on."""
    memory = store()
    memory.add("Prices are per MWh.")
    held = megabytes_held(memory)
    memory.close()

    (tmp_path / "notes").mkdir()
    for share, says in ((2.0, None), (1.05, "`status`"), (0.5, "New texts are still stored")):
        (tmp_path / "notes" / f"{share}.md").write_text(f"# λ\n\nShare {share}.\n")
        memory = store(max_store_mb=held * share)
        assert [says in notice for notice in memory.notices] == ([True] if says else [])
        report = memory.index(tmp_path / "notes", progress=False)
        assert report.files == 1 and (says or "") in report.notice
        assert (says in str(report)) if says else report.notice == ""
        memory.close()
    assert store(max_store_mb=held / 2).doctor() == []


def test_beyond_its_budget_a_store_takes_no_new_pictures_and_keeps_those_that_it_has(store, tmp_path):
    """Left out pictures are counted by reason; a notebook that was edited keeps its own; with room they are read."""
    saved(tmp_path / "nb" / "a.ipynb", plotting("a()", plot(1), id="a"))
    memory = store()
    assert memory.index(tmp_path / "nb", progress=False).pictures.kept == 1
    full = megabytes_held(memory)
    memory.close()

    memory = store(max_store_mb=full / 2)
    saved(tmp_path / "nb" / "a.ipynb", plotting("a(1)", plot(1), id="a"))
    saved(tmp_path / "nb" / "b.ipynb", plotting("b()", plot(2), id="b"))
    report = memory.index(tmp_path / "nb", progress=False)
    assert (report.files, report.pictures.kept) == (2, 1)
    assert dict(report.pictures.left_out) == {OVER_BUDGET: 1}
    assert f"1 picture {OVER_BUDGET}" in str(report)
    shown = {hit.memory.text: hit.memory.thumbnails for hit in memory.browsed(limit=5).hits}
    assert [count for text, count in shown.items() if text.startswith("a(1)")] == [1]
    # They are not read again each time while there is no room.
    assert memory.index(tmp_path / "nb", progress=False).unchanged == 2
    memory.close()

    assert store(max_store_mb=full * 10).index(tmp_path / "nb", progress=False).pictures.kept == 1


def test_forgetting_brings_a_store_below_its_budget_at_once(store):
    """The notice goes with what was forgotten, although SQLite keeps the room in the file."""
    memory = store()
    memory.add_many([{"text": f"{i} λ " * 1_000, "tags": ["long"]} for i in range(40)], progress=False)
    full = megabytes_held(memory)
    memory.close()
    memory = store(max_store_mb=full * 0.9)
    assert len(memory.notices) == 1
    memory.forget(filters={"tag": "long"})
    assert memory.notices == ()
