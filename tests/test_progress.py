"""Progress bars for what takes a while."""

from __future__ import annotations

import io
import sys

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.progress import counted, shown

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
