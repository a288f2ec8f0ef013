"""`%memfix` in a real shell: after real errors, in words and as a DataFrame, and the fix in the next cell."""

import json
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher

from jupyter_memory import load_config, open_store, store_path
from jupyter_memory.history import Recorder
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
OLD = "flats[(flats['rooms'] >= 3) and (flats['rent'] < 12000)]"
FIXED = "flats[(flats['rooms'] >= 3) & (flats['rent'] < 12000)]"
MESSAGE = "The truth value of a Series is ambiguous. Use a.empty, a.bool(), a.item(), a.any() or a.all()."
NEW = "people[(people.age > 18) and (people.age < 65)]"


def recorded(*runs):
    with open_store(settings=load_config()) as store:
        store.history.record(runs)


@pytest.fixture
def mended(shell):
    """Give a shell with an error in its history that was mended, and a frame for a new one."""
    error = RunError("ValueError", MESSAGE, f"Cell In[1], line 1\n----> 1 {OLD}\n\nValueError: {MESSAGE}")
    recorded(
        Run(OLD, NOON, "k1", 1, "error", error=error, notebook="/n/flats.ipynb"),
        Run("flats.dtypes", NOON + timedelta(minutes=1), "k1", 2, "ok"),
        Run(FIXED, NOON + timedelta(minutes=2), "k1", 3, "ok", notebook="/n/flats.ipynb"),
    )
    shell.run("import pandas as pd\npeople = pd.DataFrame({'age': [17, 44]})")
    return shell


def fail(shell, cell=NEW):
    assert shell.ip.run_cell(cell, store_history=False).error_in_exec is not None


def test_no_exception_yet(shell):
    assert shell.mistake("%memfix").startswith("No cell has failed yet")
    assert shell.mistake("%memfix KeyError") == "%memfix takes options alone; there is: KeyError"
    shell.run("%memadd a note;")
    fail(shell, "1 / 0")
    assert "%memory history on" in shell.noted("%memfix")


def test_earlier_error_and_what_mended_it(mended):
    """A line names the similar error and its place; the DataFrame shows the difference, also as plain text."""
    fail(mended)
    said = mended.printed("frame = %memfix\nframe")
    assert said.startswith("ValueError: The truth value of a Series is ambiguous")
    assert ": a similar error on 2026-03-0" in said and " in flats.ipynb was fixed like this:\n" in said
    # Once, where only text is shown.
    assert said.count(f"-{OLD}\n") == said.count(f"+{FIXED}\n") == 1
    frame = mended.ip.user_ns["frame"]
    assert frame.columns.tolist() == [
        "memory_id", "error", "strength", "failed", "fix", "diff", "kind", "notebook", "when", "failed_id",
    ]  # fmt: skip
    assert frame.loc[1, ["failed", "fix", "kind", "notebook"]].tolist() == [OLD, FIXED, "history", "/n/flats.ipynb"]
    assert frame.index.name == "rank"
    assert json.loads(json.dumps(frame.attrs["memfix"]))["fixes"][0]["fix"] == FIXED


def test_insert_puts_the_fix_into_the_next_cell(mended):
    """The rank names the fix, which comes into the next cell; the ids of fixes complete and can be pinned."""
    fail(mended)
    assert mended.run("%memfix --insert 1") is None
    assert mended.ip.rl_next_input == FIXED
    assert mended.mistake("%memfix --insert 4") == "There is no fix 4. There is one fix."
    fix = mended.run("%memfix").loc[1, "memory_id"]
    with open_store(settings=load_config()) as store:
        assert store.get(fix).accessed == 1
    fail(mended)
    ids = mended.ids("%memfix")
    assert mended.complete("%memory pin ") == ids
    assert mended.printed(f"%memory pin {ids[0]}").startswith(f"pinned {ids[0]}")


@pytest.mark.parametrize("cell", ["1 / 0", "values = [1 2]"])
def test_nothing_alike_is_said(mended, cell):
    assert not mended.ip.run_cell(cell, store_history=False).success
    assert "No earlier error is like this one." in mended.printed("found = %memfix")
    assert mended.ip.user_ns["found"] is None


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


def test_error_of_a_cell_counts_while_another_thread_runs_one(mended):
    """A cell that goes on in another thread, as in a subshell, does not hide the errors of this one; only its hint."""
    mended.run("%config JupyterMemory.fix_hint = True")
    begun, ended = threading.Event(), threading.Event()
    mended.ip.user_ns.update(begun=begun, ended=ended)
    other = threading.Thread(target=mended.ip.run_cell, args=("begun.set(); ended.wait(20)",), kwargs={"silent": False})
    other.start()
    begun.wait(20)
    try:
        assert hints(mended) == []
        assert mended.run("%memfix").loc[1, "fix"] == FIXED
    finally:
        ended.set()
        other.join(20)


@pytest.mark.parametrize(
    ("name", "how"), [("KeyboardInterrupt", "it was interrupted"), ("SystemExit", "it ended itself")]
)
@pytest.mark.filterwarnings("ignore:To exit")
def test_interrupted_run_is_no_error(shell, name, how):
    """%memfix says so, whatever was interrupted before, and offers no fix."""
    now, cell, error = datetime.now(UTC), f"raise {name}", RunError(name, "", "")
    again = Run(f"{cell}  # again", now + timedelta(minutes=1), "k1", 2, "ok")
    recorded(Run(cell, now, "k1", 1, "error", error=error), again)
    shell.run("%config JupyterMemory.fix_hint = True")
    assert hints(shell, cell) == []
    assert f"This run did not fail: {how} ({name})" in shell.printed("found = %memfix")
    assert shell.ip.user_ns["found"] is None


def test_similar_error_without_a_fix_is_said(shell):
    error = RunError("ZeroDivisionError", "division by zero", "")
    recorded(Run("1 / 0", NOON, "k1", 1, "error", error=error, notebook="/n/flats.ipynb"))
    fail(shell, "2 / 0")
    said = shell.printed("found = %memfix")
    assert said.startswith("No fix was found. A similar error happened on 2026-03-0") and " in flats.ipynb" in said
    assert shell.ip.user_ns["found"] is None


def test_run_that_is_recorded_is_not_similar_to_itself(shell):
    """With the history on, the failed run is in the store when %memfix looks; it does not count as an earlier error."""
    for cell in ("%memory history on", "1 / 0"):
        shell.ip.run_cell(cell, store_history=True)
    assert "No earlier error is like this one." in shell.printed("%memfix")


def test_cells_that_ran_well_since_then_do_not_hide_the_error(mended):
    fail(mended)
    mended.run("people.dtypes")
    mended.mistake("%memfix --insert 9")
    assert "1 or more" in mended.mistake("%memfix -n 0") and "1 or more" in mended.mistake("%memfix -n -1")
    for callback in mended.ip.events.callbacks["post_run_cell"]:
        callback(None)
    assert mended.run("%memfix").loc[1, "fix"] == FIXED


def hints(shell, cell=NEW):
    """Run a cell that fails or shows an error, and return what was then displayed unasked."""
    shell.ip.display_pub = shown = CapturingDisplayPublisher()
    shell.ip.run_cell(cell, store_history=True)
    hinting = shell.ip.magics_manager.registry["MemoryMagics"].fixing.hinting
    if hinting is not None:
        hinting.result(20)
    return [one["data"] for one in shown.outputs]


def test_hint_where_a_fix_is_known(mended, capsys, monkeypatch):
    """While the history is on, an exception with a known fix is followed by one line, which holds no text of a cell."""
    assert hints(mended) == []
    mended.run("%memory history on")
    flushed = []
    monkeypatch.setattr(Recorder, "flush", lambda recorder: flushed.append(recorder))
    for cell in (NEW, f"%%capture\n{NEW}"):
        [shown] = hints(mended, cell)
        said = "You fixed an error like this before: %memfix shows it."
        assert shown["text/plain"] == said and said in shown["text/html"]
        assert not any(word in shown["text/html"] for word in ("rooms", "flats", "people", "Series", "/n"))
    assert hints(mended, "1 / 0") == hints(mended, "fine = 1") == []
    mended.run("%config JupyterMemory.fix_hint = False")
    assert hints(mended) == []
    mended.run("%memory history off")
    mended.run("%config JupyterMemory.fix_hint = True")
    with closing(sqlite3.connect(store_path(load_config()), isolation_level=None)) as other:
        other.execute("begin immediate")
        assert len(hints(mended)) == 1 and flushed == []
    assert "jupyter-memory" not in capsys.readouterr().err


def test_history_is_offered_once(mended):
    """The first %memfix says what would be kept, where, and how to start and stop it; not while the history is on."""
    fail(mended)
    said = mended.noted("%memfix")
    assert all(f"%memory history {word}" in said for word in ("on", "off", "clear")) and "memory.sqlite" in said
    assert mended.noted("%memfix") == ""


@pytest.mark.parametrize("path", [None, "elsewhere/memory.sqlite"])
def test_without_a_store_nothing_is_alike(shell, home, capsys, path):
    """Before there is a store, %memfix says that it knows no such error and, once, what to type, and makes none."""
    if path is not None:
        shell.run(f"%config JupyterMemory.path = {str(home / path)!r}")
    shell.run("%config JupyterMemory.fix_hint = True")
    assert hints(shell, "1 / 0") == []
    assert "jupyter-memory" not in capsys.readouterr().err
    shell.run("%memfix")
    said = capsys.readouterr()
    assert "No earlier error is like this one." in said.out and "%memory history on" in said.err
    shell.run("%memfix")
    assert capsys.readouterr().err == ""
    assert shell.mistake("%memfix --insert 1") == "There is no fix 1. No earlier error is like this one."
    assert not list(home.rglob("memory.sqlite"))


def test_unloading_stops_the_watch(mended):
    callbacks = mended.ip.events.callbacks
    before = {event: len(callbacks[event]) for event in ("pre_run_cell", "post_run_cell")}
    mended.run("%unload_ext jupyter_memory")
    assert {event: len(callbacks[event]) + 1 for event in before} == before
