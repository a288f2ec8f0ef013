"""`jupyter-memory history`: what a terminal can do with it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.cli import main
from jupyter_memory.types import Run


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a store with one run."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    path = tmp_path / "memory.sqlite"
    with MemoryStore(path) as made:
        made.history.record([Run("λ = 0.3", datetime(2026, 3, 2, 9, tzinfo=UTC), "a", 1, outcome="ok")])
    return path


def test_status_counts_what_is_remembered(store, capsys):
    """It says how many runs there are, and that no kernel records."""
    assert main(["--store", str(store), "history", "status"]) == 0
    said = capsys.readouterr().out

    assert "1 run of 1 text" in said and "0 kernels" in said


def test_clear_needs_a_yes(store, capsys):
    """A script has to say --yes; then all of the history goes."""
    assert main(["--store", str(store), "history", "clear"]) == 2
    assert main(["--store", str(store), "history", "clear", "--yes"]) == 0

    assert "forgot 1 run, 1 memory" in capsys.readouterr().out
    with MemoryStore(store) as opened:
        assert opened.history.runs() == []


def test_a_terminal_records_nothing(store, capsys):
    """There is no `on` in a terminal."""
    assert main(["--store", str(store), "history", "on"]) == 2
    assert "There is no command 'on'" in capsys.readouterr().err
