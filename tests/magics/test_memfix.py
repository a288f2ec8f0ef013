"""`%memfix` in a real shell: after real errors, in words and as a DataFrame, and the fix in the next cell."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from IPython.core.completer import provisionalcompleter

from jupyter_memory import load_config, open_store, store_path
from jupyter_memory.history import Recorder
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
OLD = "flats[(flats['rooms'] >= 3) and (flats['rent'] < 12000)]"
FIXED = "flats[(flats['rooms'] >= 3) & (flats['rent'] < 12000)]"
MESSAGE = "The truth value of a Series is ambiguous. Use a.empty, a.bool(), a.item(), a.any() or a.all()."
NEW = "people[(people.age > 18) and (people.age < 65)]"


@pytest.fixture
def mended(shell):
    """Give a shell with an error in its history that was mended, and a frame for a new one."""
    error = RunError("ValueError", MESSAGE, f"Cell In[1], line 1\n----> 1 {OLD}\n\nValueError: {MESSAGE}")
    runs = [
        Run(OLD, NOON, "k1", 1, "error", error=error, notebook="/n/flats.ipynb"),
        Run("flats.dtypes", NOON + timedelta(minutes=1), "k1", 2, "ok"),
        Run(FIXED, NOON + timedelta(minutes=2), "k1", 3, "ok", notebook="/n/flats.ipynb"),
    ]
    with open_store(settings=load_config()) as store:
        store.history.record(runs)
    shell.run("import pandas as pd\npeople = pd.DataFrame({'age': [17, 44]})")
    return shell


def fail(shell, cell=NEW):
    """Run a cell that fails."""
    assert shell.ip.run_cell(cell, store_history=False).error_in_exec is not None


def test_no_exception_yet(shell):
    """Before anything failed, there is nothing to look up."""
    assert shell.mistake("%memfix").startswith("No cell has failed yet")


def test_earlier_error_and_what_mended_it(mended, capsys):
    """A line names the similar error and its place; the DataFrame shows the difference, also as plain text."""
    fail(mended)
    capsys.readouterr()
    frame = mended.run("%memfix")

    said = capsys.readouterr().out
    assert said.startswith("ValueError: The truth value of a Series is ambiguous")
    assert ": a similar error on 2026-03-0" in said and " in flats.ipynb was fixed like this:\n" in said
    # Once, where only text is shown.
    assert said.count(f"-{OLD}\n") == said.count(f"+{FIXED}\n") == 1
    assert frame.loc[1, ["failed", "fix", "kind", "notebook"]].tolist() == [OLD, FIXED, "history", "/n/flats.ipynb"]
    assert frame.index.name == "rank"
    assert json.loads(json.dumps(frame.attrs["memfix"]))["fixes"][0]["fix"] == FIXED


def test_columns(mended):
    """The names and the order of the columns are what other code relies on."""
    fail(mended)

    assert mended.run("%memfix").columns.tolist() == [
        "memory_id", "error", "strength", "failed", "fix", "diff", "kind", "notebook", "when", "failed_id",
    ]  # fmt: skip


def test_insert_puts_the_fix_into_the_next_cell(mended):
    """The rank names the fix; without a look before it, the look comes first."""
    fail(mended)
    assert mended.run("%memfix --insert 1") is None

    assert mended.ip.rl_next_input == FIXED
    assert mended.mistake("%memfix --insert 4") == "There is no fix 4. There is one fix."
    fix = mended.run("%memfix").loc[1, "memory_id"]
    with open_store(settings=load_config()) as store:
        assert store.get(fix).accessed == 1


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_number_of_fixes_that_is_none(mended, number):
    """It is refused in a line, and the error that was asked about stays."""
    fail(mended)

    assert "1 or more" in mended.mistake(f"%memfix -n {number}")
    assert mended.run("%memfix").loc[1, "fix"] == FIXED


def test_nothing_alike_is_said(mended, capsys):
    """An error that never happened before gets no guess."""
    fail(mended, "1 / 0")

    assert mended.run("%memfix") is None
    assert "No earlier error is like this one." in capsys.readouterr().out


@pytest.mark.parametrize("how", ["%%capture", "%run"])
def test_error_that_a_magic_shows_is_looked_up(mended, tmp_path, how):
    """IPython does not pass on the error of a script or of a captured cell: it is the last error all the same."""
    script = tmp_path / "script.py"
    script.write_text(NEW)
    fail(mended, "1 / 0")
    assert mended.ip.run_cell(f"%run -i {script}" if how == "%run" else f"{how}\n{NEW}").success

    frame = mended.run("%memfix")
    assert frame.loc[1, ["failed", "fix"]].tolist() == [OLD, FIXED]
    mended.run("%%capture\nfine = 1")
    assert mended.run("%memfix").loc[1, "fix"] == FIXED


def test_hint_about_a_captured_cell_is_seen(mended, capsys):
    """It is written once, after the cell, not into what %%capture keeps."""
    mended.run("%config JupyterMemory.fix_hint = True")
    mended.ip.run_cell(f"%%capture\n{NEW}")

    assert capsys.readouterr().err.count("You mended an error like this one before") == 1


def test_error_of_a_cell_counts_while_another_thread_runs_one(mended):
    """A cell that goes on in another thread, as in a subshell, does not hide the errors of this one."""
    begun, ended = threading.Event(), threading.Event()
    mended.ip.user_ns.update(begun=begun, ended=ended)
    other = threading.Thread(target=mended.ip.run_cell, args=("begun.set(); ended.wait(20)",), kwargs={"silent": False})
    other.start()
    begun.wait(20)
    try:
        fail(mended)
        assert mended.run("%memfix").loc[1, "fix"] == FIXED
    finally:
        ended.set()
        other.join(20)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("raise KeyboardInterrupt", "This run did not fail: it was interrupted (KeyboardInterrupt)"),
        ("raise SystemExit(3)", "This run did not fail: it ended itself (SystemExit)"),
    ],
)
@pytest.mark.filterwarnings("ignore:To exit")
def test_interrupted_run_is_no_error(shell, capsys, cell, said):
    """%memfix says so, whatever was interrupted before, and offers no fix."""
    now = datetime.now(UTC)
    error = RunError(cell.split()[1].partition("(")[0], "", "")
    with open_store(settings=load_config()) as store:
        store.history.record(
            [
                Run(cell, now, "k1", 1, "error", error=error),
                Run(f"{cell}  # again", now + timedelta(minutes=1), "k1", 2, "ok"),
            ]
        )
    shell.run("%config JupyterMemory.fix_hint = True")
    shell.ip.run_cell(cell)
    assert "mended" not in capsys.readouterr().err

    assert shell.run("%memfix") is None
    assert said in capsys.readouterr().out


def test_similar_error_without_a_fix_is_said(shell, capsys):
    """Where an error like it was never mended, %memfix says when and where it happened; this very run is none."""
    error = RunError("ZeroDivisionError", "division by zero", "")
    with open_store(settings=load_config()) as store:
        store.history.record([Run("1 / 0", NOON, "k1", 1, "error", error=error, notebook="/n/flats.ipynb")])
    fail(shell, "2 / 0")
    capsys.readouterr()

    assert shell.run("%memfix") is None
    said = capsys.readouterr().out
    assert said.startswith("No fix was found. A similar error happened on 2026-03-0") and " in flats.ipynb" in said


def test_run_that_is_recorded_is_not_similar_to_itself(shell, capsys):
    """With the history on, the failed run is in the store when %memfix looks; it does not count as an earlier error."""
    shell.ip.run_cell("%memory history on", store_history=True)
    shell.ip.run_cell("1 / 0", store_history=True)
    capsys.readouterr()

    assert shell.run("%memfix") is None
    assert "No earlier error is like this one." in capsys.readouterr().out


def test_empty_history_is_said(shell, capsys):
    """Where the history is off, %memfix says how to turn it on."""
    shell.run("%memadd a note;")
    fail(shell, "1 / 0")
    shell.run("%memfix")

    assert "%memory history on" in capsys.readouterr().err


def test_cells_that_ran_well_since_then_do_not_hide_the_error(mended):
    """The last exception is looked up, also after other cells; errors of our own magics are none."""
    fail(mended)
    mended.run("people.dtypes")
    mended.mistake("%memfix --insert 9")

    assert mended.run("%memfix").loc[1, "fix"] == FIXED


def test_commands_go_on_from_the_fixes(mended):
    """The fixes are the last answer: their ids complete, and can be pinned."""
    fail(mended)
    frame = mended.run("%memfix")

    with provisionalcompleter():
        completed = [found.text for found in mended.ip.Completer.completions("%memory pin ", len("%memory pin "))]
    assert completed == frame["memory_id"].tolist()
    mended.run(f"%memory pin {frame.loc[1, 'memory_id']}")


def test_syntax_error_is_looked_up_too(shell, capsys):
    """A cell that never ran can be asked about."""
    shell.run("%memadd a note;")
    assert shell.ip.run_cell("values = [1 2]", store_history=False).error_before_exec is not None
    capsys.readouterr()
    shell.run("%memfix")

    assert "No earlier error" in capsys.readouterr().out


def test_hint_is_off_until_it_is_asked_for(mended, capsys):
    """After an exception nothing is said, unless the setting says so; then one line, and only if a fix is known."""
    fail(mended)
    assert "mended" not in capsys.readouterr().err
    mended.run("%config JupyterMemory.fix_hint = True")
    fail(mended)
    assert capsys.readouterr().err.count("You mended an error like this one before: %memfix shows how.") == 1
    fail(mended, "1 / 0")
    assert "jupyter-memory" not in capsys.readouterr().err


def test_hint_without_a_store_is_silent(shell, capsys):
    """Where there is no store, the hint neither makes one nor complains."""
    shell.run("%config JupyterMemory.fix_hint = True")
    fail(shell, "1 / 0")

    assert "jupyter-memory" not in capsys.readouterr().err


def test_a_cell_without_a_result_keeps_the_last_error(mended):
    """IPython tells of a cell without a result when the event loop failed: that is no fault of the watch."""
    fail(mended)
    for callback in mended.ip.events.callbacks["post_run_cell"]:
        callback(None)

    assert mended.run("%memfix").loc[1, "fix"] == FIXED


def test_hint_does_not_wait_for_the_store(mended, capsys, monkeypatch):
    """While another program writes, the hint reads what the store has, and does not wait for what ran just now."""
    flushed = []
    monkeypatch.setattr(Recorder, "flush", lambda recorder: flushed.append(recorder))
    mended.run("%config JupyterMemory.fix_hint = True")
    with closing(sqlite3.connect(store_path(load_config()), isolation_level=None)) as other:
        other.execute("begin immediate")
        fail(mended)

    assert "%memfix shows how" in capsys.readouterr().err and flushed == []


@pytest.mark.parametrize("path", [None, "elsewhere/memory.sqlite"])
def test_without_a_store_nothing_is_alike(shell, home, capsys, path):
    """Before there is a store, %memfix says that it knows no such error and what to type, and makes none."""
    if path is not None:
        shell.run(f"%config JupyterMemory.path = {str(home / path)!r}")
    fail(shell, "1 / 0")
    capsys.readouterr()
    shell.run("%memfix")

    said = capsys.readouterr()
    assert "No earlier error is like this one." in said.out and "%memory history on" in said.err
    assert shell.mistake("%memfix --insert 1") == "There is no fix 1. No earlier error is like this one."
    assert not list(home.rglob("memory.sqlite"))


def test_unloading_stops_the_watch(mended):
    """Without the extension no exception is kept."""
    callbacks = mended.ip.events.callbacks
    before = {event: len(callbacks[event]) for event in ("pre_run_cell", "post_run_cell")}
    mended.run("%unload_ext jupyter_memory")

    assert {event: len(callbacks[event]) + 1 for event in before} == before


def test_words_are_refused(shell):
    assert shell.mistake("%memfix KeyError") == "%memfix takes options alone; there is: KeyError"
