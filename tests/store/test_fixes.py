"""How errors were mended: looked up in the history, in saved notebooks and in notes of a real store."""

from datetime import UTC, datetime, timedelta

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from jupyter_memory import InputError
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
JOIN = "joined = orders.merge(customers, on='customer_id')"
FIXED = "joined = orders.merge(customers, left_on='customer_id', right_on='id')"
TRACEBACK = """\
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[2], line 1
----> 1 {source}

File ~/.venv/lib/python3.12/site-packages/pandas/core/generic.py:1708, in NDFrame._get_label(self, key, axis)
-> 1708     raise KeyError(key)

KeyError: '{key}'"""


@pytest.fixture
def store(store):
    return store(embedder=None)


def run(source, number=1, session="k1", key=""):
    error = RunError("KeyError", f"'{key}'", TRACEBACK.format(source=source, key=key)) if key else None
    started = NOON + timedelta(minutes=number)
    return Run(source, started, session, number, "error" if key else "ok", error=error, notebook="/n/shop.ipynb")


ASKED = run("placed = pd.merge(readings, stations, on='station')", 9, "k9", key="station")


def notebook(path, *cells):
    code = []
    for source, key in cells:
        told = TRACEBACK.format(source=source, key=key).split("\n")
        outputs = [new_output("error", ename="KeyError", evalue=f"'{key}'", traceback=told)] if key else []
        code.append(new_code_cell(source, outputs=outputs))
    nbformat.write(new_notebook(cells=code), path)


@pytest.mark.parametrize("session", ["k1", "k9"])
def test_history_has_the_fix_with_the_ids_of_its_memories(store, session):
    """The run that mended the error comes from the history, of this session too, and its memory can be opened."""
    store.history.record([run(JOIN, 1, session, key="customer_id"), run("customers.head()", 2), run(FIXED, 3, session)])
    [fix] = store.fixes.of_run(ASKED)
    assert (fix.kind, fix.failed.source, fix.mended.source) == ("history", JOIN, FIXED)
    assert store.get(fix.mended.memory_id).text == FIXED and store.get(fix.failed.memory_id).text == JOIN
    assert fix.error == "KeyError: 'customer_id'"
    # A traceback from a terminal or a log is enough; the memories of the fixes are an answer, in their order.
    assert [one.mended.source for one in store.fixes.of_traceback(ASKED.error.traceback)] == [FIXED]
    assert [hit.memory.id for hit in store.fixes.answer([fix]).hits] == [fix.mended.memory_id]
    told = fix.to_json()
    assert (told["failed"], told["fix"], told["notebook"]) == (JOIN, FIXED, "/n/shop.ipynb")
    assert told["when"] == "2026-03-06T12:03:00+00:00" and told["diff"].endswith(f"-{JOIN}\n+{FIXED}")


def test_failed_run_itself_is_no_earlier_error(store):
    """The run that is asked about may be in the history already: what follows it is no fix of it."""
    store.history.record([ASKED, run("placed = pd.merge(readings, stations)", 10, "k9")])
    assert store.fixes.of_run(ASKED) == []


def test_saved_notebook_has_the_fix(store, tmp_path):
    path = tmp_path / "shop.ipynb"
    notebook(path, ("import pandas as pd", ""), (JOIN, "customer_id"), ("customers.head()", ""), (FIXED, ""))
    store.index(path, progress=False)
    [fix] = store.fixes.of_run(ASKED)
    assert (fix.kind, fix.failed.source, fix.mended.source) == ("cell", JOIN, FIXED)
    assert fix.mended.notebook == str(path)
    assert store.get(fix.mended.memory_id).text == FIXED


def test_note_tells_of_the_error(store):
    """A note with the words of the message is a fix, in words."""
    note = store.add("TypeError: unhashable type 'list': make a tuple of the list first", title="Lists as keys")
    failed = Run("seen.add([1])", NOON, "k9", 1, "error", error=RunError("TypeError", "unhashable type: 'list'"))
    [fix] = store.fixes.of_run(failed)
    assert (fix.kind, fix.mended.memory_id, fix.diff) == ("note", note.id, "")


@pytest.mark.parametrize("text", ["KeyError", "A meeting about KeyError and other things", "no error at all"])
def test_note_that_only_mentions_an_error_is_no_fix(store, text):
    store.add(text)
    assert store.fixes.of_run(ASKED) == []


@pytest.mark.parametrize("text", ["", "all is well", "Error in library(dplyr) : there is no package"])
def test_text_that_is_no_traceback(store, text):
    with pytest.raises(InputError, match="no traceback of Python"):
        store.fixes.of_traceback(text)
    with pytest.raises(InputError, match="has no error"):
        store.fixes.of_run(run("1 + 1"))
