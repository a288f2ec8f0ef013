"""Claims about `jupyter-memory watch`, as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from jupyter_memory import MemoryStore

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")


def until(condition: Callable[[], object]) -> None:
    end = monotonic() + 20
    while not condition():
        assert monotonic() < end, "it did not happen"
        sleep(0.05)


def run(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "jupyter_memory", "--store", str(store), "watch", *words],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_it_remembers_changes_until_it_is_interrupted(tmp_path: Path) -> None:
    """It says what it does; Ctrl-C ends it without an error."""
    folder, store = tmp_path / "notes", tmp_path / "memory.sqlite"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of Zürich.\n")
    program = subprocess.Popen(
        [sys.executable, "-m", "jupyter_memory", "--store", str(store), "watch", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(store.exists)
        with MemoryStore(store) as memory:
            until(lambda: memory.hits("tariff").hits)
            (folder / "two.md").write_text("The fare of Malmö.\n")
            until(lambda: any("fare" in hit.memory.text for hit in memory.hits("fare").hits))
    finally:
        sleep(0.5)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=20)
    assert program.returncode == 0, err
    assert "1 change remembered" in out
    assert "watching 1 folder" in err and "Traceback" not in err


def test_without_a_folder_it_says_what_to_type(tmp_path: Path) -> None:
    """A store that watches nothing has nothing to follow; a file is no folder."""
    with MemoryStore(tmp_path / "memory.sqlite") as memory:
        memory.add("A note.")
    done = run(tmp_path / "memory.sqlite")
    assert done.returncode == 2 and "jupyter-memory watch ~/notebooks" in done.stderr

    (tmp_path / "one.md").write_text("The tariff.")
    done = run(tmp_path / "memory.sqlite", str(tmp_path / "one.md"))
    assert done.returncode == 1 and "is no folder" in done.stderr


def test_off_takes_a_folder_off_the_list(tmp_path: Path) -> None:
    """What was indexed stays."""
    folder, store = tmp_path / "notes", tmp_path / "memory.sqlite"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of Zürich.\n")
    with MemoryStore(store) as memory:
        memory.index(folder, progress=False)
        memory.watch(folder)
    assert run(store, "--off", str(folder)).returncode == 0
    with MemoryStore(store) as memory:
        assert not any(one.watched for one in memory.folders()) and memory.hits("tariff").hits
    strange = run(store, "--off", str(tmp_path / "nosuch"))
    assert strange.returncode == 1 and "is not watched either" in strange.stderr
    assert run(store, "--off").returncode == 2
