"""Progress bars for what takes a while."""

from __future__ import annotations

import io
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_memory import MemoryStore
from jupyter_memory.runtime import counted, shown

NOTES = [{"text": "Die Zähler in Malmö melden in UTC."}, {"text": "The λ in the loss is 0.3."}]


class Terminal(io.StringIO):
    """What somebody looks at."""

    def isatty(self) -> bool:
        """Return that it is a terminal."""
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
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        working()
        written[stream.isatty()] = stream.getvalue()
    monkeypatch.setattr(sys, "stderr", None)
    working()
    assert "ing: " in written[True]
    assert written[False] == ""


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
    NotebookClient(
        notebook, timeout=600, startup_timeout=100, iopub_timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [dict(output.data) for output in cell.outputs if output.output_type == "display_data"]
    bars = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert "FloatProgressModel" in {state["model_name"] for state in bars}
    assert shown == [{"text/plain": ""}]
    assert "1 file indexed" in "".join(output.get("text", "") for output in cell.outputs)
