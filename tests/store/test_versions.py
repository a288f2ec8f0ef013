"""What ran in one cell: its versions, and its runs as a table."""

import re

import pytest
from kernel_runs import failed, run

from jupyter_memory import MemoryStore, UnknownMemory
from jupyter_memory.dataframe import versions_frame

NOTEBOOK = "/w/λ.ipynb"


def in_cell(cell, source, number, **values):
    return run(source, number, cell_id=cell, notebook=NOTEBOOK, outcome="ok", seconds=float(number), **values)


WEEK = [
    in_cell("model", "fit(alpha=1)", 1), in_cell("score", "score(λ)", 2), in_cell("model", "fit(alpha=2)", 3),
    in_cell("score", "score(λ)", 4), in_cell("model", "fit(alpha=2)", 5),
    run("fit(alpha=3)", 6, cell_id="model", notebook="/w/copy.ipynb"),
]  # fmt: skip


def id_of(store: MemoryStore, text):
    return next(one.memory_id for one in store.history.runs() if one.source == text)


def test_versions_are_the_texts_of_a_cell(store):
    """Every text that ran in a cell is there, the newest first, with its diff; what ran in a copied notebook is not."""
    opened = store()
    opened.history.record(WEEK)
    # From any of its texts: the cell may have been changed or deleted since.
    for text in ("fit(alpha=1)", "fit(alpha=2)"):
        second, first = opened.history.versions(id_of(opened, text))
        assert (first.number, first.runs[0].source, first.diff) == (1, "fit(alpha=1)", "")
        assert second.code == "-fit(alpha=1)\n+fit(alpha=2)" and second.diff.endswith(second.code)
        assert [one.number for one in second.runs] == [5, 3] and second.to_json()["durations"] == [5.0, 3.0]
    assert opened.get(second.runs[0].memory_id).text == "fit(alpha=2)"
    with pytest.raises(UnknownMemory):
        opened.history.versions("0" * 16)


def test_what_no_notebook_ran_is_known_by_its_text(store):
    opened = store()
    opened.history.record([run("a = 1"), run("b = 2", 2), failed("a = 1", 3, "λ")])
    [only] = opened.history.versions(id_of(opened, "a = 1"))
    assert [one.number for one in only.runs] == [3, 1] and only.to_json()["error"] == "ValueError"
    note = opened.add("a = 1")
    assert opened.history.versions(note.id) == [] and "%memory history on" in opened.history.nothing_ran


def test_runs_tell_what_changed_in_between(store):
    """A run of an unchanged cell names what other cells of the notebook changed since its last run."""
    opened = store()
    opened.history.record(WEEK)
    versions = opened.history.versions(id_of(opened, "score(λ)"), every_run=True)
    frame = versions_frame(versions, every_run=True)
    assert frame["seconds"].tolist() == [4.0, 2.0] and frame["when"].tolist()[1].to_pydatetime() == WEEK[1].started
    assert frame.index.tolist() == [2, 1] and frame["diff"].tolist() == ["", ""]
    assert re.findall(r"(?m)^[-+]fit.*", frame.loc[2, "elsewhere"]) == ["-fit(alpha=1)", "+fit(alpha=2)"]
    assert frame.loc[1, "elsewhere"] == "" and "+fit(alpha=2)" in repr(frame)
    assert "<button" in frame._repr_html_() and "score" in repr(frame[["text"]])


def test_versions_stay_in_their_space(store):
    """A store that sees one space tells nothing of what ran in another."""
    one, other = store(space="one"), store(space="other")
    one.history.record(WEEK[:1])
    other.history.record([in_cell("model", "fit(alpha=9)", 9)])
    assert [v.runs[0].source for v in one.history.versions(id_of(one, "fit(alpha=1)"))] == ["fit(alpha=1)"]
    assert len(other.history.versions(id_of(other, "fit(alpha=9)"))) == 1


def test_a_copied_history_serves_a_server(store, emptied_postgres):
    """A server records nothing and says so; a history that was copied there tells versions and runs as before."""
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    mine = store(embedder=None)
    mine.history.record(WEEK)
    id_ = id_of(mine, "score(λ)")
    mine.copy_to(emptied_postgres, progress=False)
    with MemoryStore(emptied_postgres, None) as server:
        for every_run in (False, True):
            told = [one.to_json() for one in mine.history.versions(id_, every_run=every_run)]
            assert [one.to_json() for one in server.history.versions(id_, every_run=every_run)] == told
        server.history.clear()
        assert server.history.nothing_ran.startswith("What you run is not recorded in postgresql://")
