"""A store or disk that fails never disturbs a cell, and one notice says what is not remembered."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Event

import apsw
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.history import writer
from jupyter_memory.history import writer as journals
from jupyter_memory.storage import Journal
from jupyter_memory.storage import journal as files


def no_memory(store: Path) -> Journal:
    """Refuse a journal in memory, as a machine without such a file system does."""
    raise FileNotFoundError(store)


def test_a_locked_store_delays_and_says_so_once(recorded):
    """While another program keeps the store locked, runs wait; afterwards they are there."""
    recorded.settings.busy_seconds = 0.1
    recorded.run("before = 1")
    assert len(recorded.runs()) == 1
    other = apsw.Connection(str(recorded.path))
    other.execute("begin immediate")
    for number in range(5):
        assert recorded.run(f"x = {number}")[0].success
        recorded.recorder.flush()
    recorded.run("y = 1", "z = 2")

    assert len(recorded.notices) == 1 and "Your runs wait in a file" in recorded.notices[0]
    other.execute("rollback")
    assert len(recorded.runs()) == 8


def test_a_damaged_store_delays_and_says_so_once(recorded):
    """What runs beside a file that is no store waits, until the file is gone."""
    recorded.path.parent.mkdir(exist_ok=True)
    recorded.path.write_bytes(b"not a store, but long enough to be looked at" * 100)
    for _ in range(3):
        recorded.run("x = 1")
        recorded.recorder.flush()
    recorded.run("y = 1")

    assert len(recorded.notices) == 1
    recorded.path.unlink()
    assert len(recorded.runs()) == 4


@pytest.mark.parametrize("gone", ["file", "folder"])
def test_a_store_that_was_removed_is_made_again(recorded, gone):
    """When store or folder are removed while a kernel records, it goes on in a new store."""
    recorded.run("before = 1")
    assert len(recorded.runs()) == 1
    if gone == "file":
        recorded.path.unlink()
    else:
        shutil.rmtree(recorded.path.parent)
    assert recorded.run("after = 2")[0].success

    assert [run.source for run in recorded.runs()] == ["after = 2"]


def test_a_store_that_was_replaced_gets_what_runs_next(recorded, tmp_path):
    """When another store takes the name, the next runs go into that one."""
    recorded.run("before = 1")
    assert len(recorded.runs()) == 1
    with MemoryStore(tmp_path / "other.sqlite") as other:
        other.add("prices")
    (tmp_path / "other.sqlite").replace(recorded.path)
    recorded.run("after = 2")

    assert [run.source for run in recorded.runs()] == ["after = 2"]


def test_a_folder_that_refuses_new_files_delays_and_says_so_once(recorded, monkeypatch):
    """Where only the memory takes notes, the runs wait there, whatever name each attempt has; none is lost."""
    recorded.run("before = 0")

    def refused(store):
        raise PermissionError(1, "Operation not permitted", str(store.with_name(f".runs-{os.urandom(4).hex()}")))

    monkeypatch.setattr(Journal, "on_disk", refused)
    for number in range(5):
        recorded.recorder.flush()
        recorded.run(f"x = {number}")

    assert not recorded.recorder.problems.lost
    assert len(recorded.notices) == 1 and "wait in a file" in recorded.notices[0]
    monkeypatch.undo()
    assert {run.source for run in recorded.runs()} >= {f"x = {number}" for number in range(5)}


def test_a_disk_that_takes_nothing_loses_and_says_so_once(recorded, monkeypatch):
    """Where neither memory nor disk take notes, cells run, and the losses are counted."""
    monkeypatch.setattr(Journal, "in_memory", no_memory)
    recorded.recorder.stop()
    shutil.rmtree(recorded.path.parent, ignore_errors=True)
    recorded.path.parent.write_text("a file where the folder should be")
    recorded.recorder.start()
    results = recorded.run(*(f"x = {number}" for number in range(20)))

    assert all(result.success for result in results)
    assert len(recorded.notices) == 1 and "The history is not being recorded" in recorded.notices[0]
    assert sum(recorded.recorder.problems.lost.values()) == 20
    recorded.path.parent.unlink()
    recorded.run("y = 1")
    assert [run.source for run in recorded.runs()] == ["y = 1"]


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_disk_that_hangs_holds_up_no_cell(recorded, monkeypatch, in_memory):
    """While the disk hangs, cells run; without memory one cell waits a moment, and what finds no room is counted."""
    if not in_memory:
        monkeypatch.setattr(Journal, "in_memory", no_memory)
    monkeypatch.setattr(writer, "_ROOM", 10)
    assert recorded.recorder._writer.rotate(5)
    hanging, copy = Event(), journals.JournalPair.copy

    def hang(self, record):
        hanging.wait(60)
        copy(self, record)

    monkeypatch.setattr(journals.JournalPair, "copy", hang)
    results = recorded.run(*(f"x = {number}" for number in range(40)))
    lost = sum(recorded.recorder.problems.lost.values())
    hanging.set()

    assert all(result.success for result in results)
    assert (lost == 0) if in_memory else (0 < lost < 40)
    assert len(recorded.notices) == (not in_memory)
    assert len(recorded.runs()) == 40 - lost


def test_a_thousand_cells_in_a_row_are_all_there(recorded):
    """Cells that run as fast as the shell can are noted, each of them."""
    recorded.run(*(f"x = {number % 7}" for number in range(1_000)))

    assert len(recorded.runs()) == 1_000
    assert recorded.notices == []


def test_memory_that_is_full_lets_notes_go_to_the_disk(recorded, monkeypatch):
    """Without room in memory, the disk takes the notes in time."""
    monkeypatch.setattr(journals, "_MOST_IN_MEMORY", 0)
    recorded.run("x = 1")
    recorded.recorder._writer.stop(5)
    for former in recorded.recorder._writer.journals.closed:
        for journal in former:
            journal.close()

    with MemoryStore(recorded.path) as store:
        assert [(run.source, run.outcome) for run in store.history.runs()] == [("x = 1", "ok")]
    assert not list(files.abandoned(recorded.path))
