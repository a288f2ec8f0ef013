"""What NumPy and long work need while they run: products on one core, and progress bars for people."""

import ctypes
import io
import os
import sys
import threading
from pathlib import Path

import nbformat
import numpy as np
import pytest
from blocked import run_without
from nbclient import NotebookClient

from jupyter_memory import MemoryStore, runtime
from jupyter_memory.runtime import counted, shown

# A module of the room may be called like its function.
_found = runtime.one_core
one_core = getattr(_found, "one_core", _found)
NOTES = [{"text": "Die Zähler in Malmö melden in UTC."}, {"text": "The λ in the loss is 0.3."}]


@pytest.fixture
def threads():
    for path in (Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*"):
        return ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD).scipy_openblas_get_num_threads64_
    pytest.skip("NumPy has another BLAS than that of its wheels for Linux")


def test_one_core(threads):
    before = threads()
    inside, outside = threading.Event(), threading.Event()

    def other():
        with one_core():
            inside.set()
            outside.wait(60)

    thread = threading.Thread(target=other)
    with pytest.raises(ValueError, match="λ"), one_core():
        thread.start()
        assert inside.wait(60) and threads() == 1
        raise ValueError("λ")
    assert threads() == 1
    outside.set()
    thread.join(100)
    assert threads() == before


def test_another_blas():
    code = """
import numpy
sys.platform = "other"
from jupyter_memory import runtime
found = runtime.one_core
with getattr(found, "one_core", found)():
    print((numpy.eye(3) @ numpy.eye(3)).trace())
"""
    assert run_without((), code) == "3.0"


class Terminal(io.StringIO):
    """What somebody looks at."""

    def isatty(self) -> bool:
        return True


def counting() -> None:
    with counted(2, True, "Fetching", "B") as done:
        done(2)


def iterating() -> None:
    assert list(shown(iter(NOTES), True, "Remembering")) == NOTES


@pytest.mark.parametrize("working", [counting, iterating])
def test_bars_are_for_people(monkeypatch, working):
    """A bar is written to a terminal, and not a byte to a log, a pipe or a stream that is closed."""
    written = {}
    for stream in (Terminal(), io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        working()
        written[type(stream)] = stream and stream.getvalue()
    assert "ing: " in written[Terminal] and written[io.StringIO] == ""


def test_a_script_is_not_told_of_progress(tmp_path, capfd):
    """What a script remembers and indexes writes nothing to its log, although bars are on by default."""
    (tmp_path / "notes.md").write_text("# Prices\n\nThey are net of tax.", encoding="utf-8")
    with MemoryStore(tmp_path / "m.sqlite") as store:
        assert len(store.add_many(NOTES)) == 2
        assert store.index(tmp_path / "notes.md").files == 1
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("home")
def test_a_saved_notebook_keeps_no_bar(tmp_path):
    """The bar was there, and what the notebook keeps of it is nothing: no widget that a later reader would miss."""
    (tmp_path / "notes.md").write_text("# Prices\n\nThey are net of tax.", encoding="utf-8")
    cell = nbformat.v4.new_code_cell("%load_ext jupyter_memory\n%memory index .")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    limits = {"timeout": 600, "startup_timeout": 100, "iopub_timeout": 60}
    NotebookClient(notebook, **limits, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kept = [dict(output.data) for output in cell.outputs if output.output_type == "display_data"]
    bars = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert "FloatProgressModel" in {state["model_name"] for state in bars} and kept == [{"text/plain": ""}]
    assert "1 file indexed" in "".join(output.get("text", "") for output in cell.outputs)
