"""What is known of one cell: the earlier cells that it needs to run, and its versions and runs."""

import contextlib
import io
import re

import pytest
from kernel_runs import failed, run
from small_notebooks import write

from jupyter_memory import InputError, MemoryStore, UnknownMemory
from jupyter_memory.dataframe import versions_frame
from jupyter_memory.types import Run

PRICES = "import math\nprices = {'ü': 4.0}"
LOGS = "logs = {key: math.log(value) for key, value in prices.items()}"


def found_in(store, path, *cells, at=-1, **options):
    """Return the text and the sentences for one of these cells of a notebook."""
    store.index(write(path, *cells), progress=False)
    [memory] = [
        hit.memory for hit in store.browsed(limit=50).hits if hit.memory.location == f"c{range(len(cells))[at]}"
    ]
    found = store.runnable(memory.id, **options)
    return found.text, " ".join(found.notices)


@pytest.fixture
def given(store, tmp_path):
    """What is given for the last of some cells, or for another one."""
    return lambda *cells, **options: found_in(store(embedder=None), tmp_path / "shop.ipynb", *cells, **options)


@pytest.mark.parametrize(
    ("cells", "has", "lacks"),
    [
        ((PRICES, "unused = 1", LOGS), ("# Cell 1 of shop.ipynb defines prices", PRICES.split("\n")[1]), ("unused",)),
        (("x = 0", "import math\nfile = 3", "math.pi"), ("# Imports.\nimport math\n",), ("file = 3", "x = 0")),
        (("x = [1]", "x.append(2)\nNone", "x[0] = 5", "print(x)", "x"), ("append(2)", "x[0] = 5"), ("print",)),
        (("def f():\n    return late", "late = 2", "f()"), ("late = 2",), ()),
        (("x = 1", "x = x + 1", "x = x * 2", "x"), ("x = x + 1", "x * 2"), ()),
        (("x = 1", "[y for y in [2]]\nclass A:\n    x = 3", "y = 5", "A, x"), ("x = 1", "class A"), ("y = 5",)),
        (("x = 1", "from __future__ import annotations\ny = x", "y"), ("# Imports.\nfrom __future__", "y = x"), ()),
    ],
)  # fmt: skip
def test_what_a_cell_uses_stands_above_it_and_runs(given, cells, has, lacks):
    """Definitions, changes and imports are added in the order of the notebook, each with its reason; no others."""
    text, said = given(*cells)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, "<inserted>", "exec", dont_inherit=True), {"__name__": "__main__"})
    assert [part for part in has if part not in text] == [part for part in lacks if part in text] == []
    assert said == "" and text.endswith(cells[-1])


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (("x = 1", "gone + x"), "Nothing known defines gone."),
        (("x", "x = 1"), "Defined only below the cell, so not added: x."),
        (("from math import *", "tau"), "Perhaps from `from math import *`: tau."),
        (("x = 1", "x = 2", "x"), "Defined more than once, the last time above the cell counts: x."),
        (("x = 1", "del x", "x"), "Deleted by cell 2 of shop.ipynb, so what is above that counts: x."),
        (("x = (", "x"), "Perhaps from cell 1 of shop.ipynb, which Python cannot read: x."),
        (("x = 1", "x = ("), "The cell cannot be read as Python, so nothing is added to it."),
        (("%run setup.py", "x"), "Perhaps from a magic of cell 1 of shop.ipynb: x."),
        (("x = 1", "%%writefile a.py\nx"), "The cell begins with %%writefile, so it stands alone: nothing is added."),
        (("x = 1", "%%time\nx"), "The magic in the first line of cell 2 of shop.ipynb is left out"),
        (("x = 1", "%sql select {x}"), "It has magics, %sql; what they need is not looked up."),
        (
            ("api_key = 'sk-proj-1aB2cD3eF4gH5iJ6kL7mN8oP9qR0'", "api_key"),
            "A value in cell 1 of shop.ipynb was redacted",
        ),
    ],
)
def test_what_cannot_be_added_is_said(given, cells, sentence):
    """One sentence tells of each thing that is missing; it is in the text too, unless that begins with a magic."""
    text, said = given(*cells, at=0 if "below" in sentence else -1)
    assert sentence in said
    assert ("# " + sentence in text) or text.startswith("%%")
    assert ("# redacted: put the value in again" in text) == ("redacted" in sentence)


@pytest.mark.parametrize(
    ("doing", "what"),
    [
        ("frame.to_csv('x.csv')", "writes files"),
        ("open('x', 'w').close()", "writes files"),
        ("import numpy as np\nnp.save('x', 1)", "writes files"),
        ("import requests\nrequests.get('http://x')", "uses the network"),
        ("pd.read_csv('https://x/y.csv')", "uses the network"),
        ("import subprocess as sp\nsp.run(['ls'])", "runs commands of the shell"),
        ("!ls", "runs commands of the shell"),
        ("save()", "writes files"),
    ],
)
def test_side_effects_are_left_out_unless_asked_for(given, doing, what):
    """A cell that does more than compute is named, and added only if asked for; reading a file is no side effect."""
    cells = ("def save():\n    open('x', 'w')", "read = open('y').read", f"{doing}\nx = 1", "x, read")
    text, said = given(*cells)
    assert f"Left out, since it {what}: cell 3 of shop.ipynb, which defines x." in said and "x = 1" not in text
    assert "read = open('y').read" in text
    text, said = given(*cells, effects=True)
    assert f"# Cell 3 of shop.ipynb defines x; it {what}.\n{doing}" in text and "Left out" not in said
    assert f"The cell itself {what}." in given(*cells, doing)[1]


def test_what_the_kernel_has_is_not_added(given):
    text, said = given(PRICES, LOGS, held={"prices", "math"})
    assert text.endswith(LOGS) and "prices = " not in text
    assert said == "Not added, since the kernel has them: math, prices."


def test_a_file_that_changed_and_texts_that_are_no_code(store, tmp_path):
    memory = store(embedder=None)
    path = write(tmp_path / "shop.ipynb", "# About prices", PRICES, LOGS)
    memory.index(path, progress=False)
    prose, *_, last = sorted((hit.memory for hit in memory.browsed(limit=9).hits), key=lambda one: one.location)
    for one in (prose.id, memory.add("x = 1").id):
        with pytest.raises(InputError, match="not code"):
            memory.runnable(one)
    write(path, "x = 1")
    assert memory.runnable(last.id).notices[0] == "shop.ipynb has changed since it was indexed."
    path.unlink()
    assert memory.runnable(last.id).text.startswith("# shop.ipynb is gone; the store has its text.\n")


def test_the_history_has_the_order_of_its_session(store):
    """Of a run, the earlier runs of its session count, but neither failed ones nor those of other sessions."""
    from datetime import UTC, datetime, timedelta

    memory, noon = store(embedder=None), datetime(2026, 3, 6, 12, tzinfo=UTC)
    ran = [
        ("x = 1", "a", "ok"), ("x = 2", "b", "ok"), ("x = 3", "a", "error"), ("x + 1", "a", "ok"), ("x = 4", "a", "ok"),
    ]  # fmt: skip
    memory.history.record(
        Run(source, noon + timedelta(minutes=number), session, number, outcome)
        for number, (source, session, outcome) in enumerate(ran, 1)
    )
    [run] = [run for run in memory.history.runs() if run.source == "x + 1"]
    text = memory.runnable(run.memory_id).text
    assert "# Run 1 of 2026-03-06 defines x.\nx = 1" in text and not {"x = 2", "x = 3", "x = 4"} & set(text.split("\n"))


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
