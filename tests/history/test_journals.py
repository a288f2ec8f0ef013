"""From a cell to the store by way of journals, whatever happens to either: nothing waits, and losses are counted."""

import errno
import gc
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import apsw
import pytest
from kernel_runs import NOON, run
from programs import in_fork, until

from jupyter_memory import MemoryStore
from jupyter_memory.storage import Journal, abandoned

LONG = "x = 1  # " + "#" * 20_000


@pytest.fixture
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse journals in memory, as a machine without room or such a file system does."""

    def refused(store: Path) -> Journal:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(Journal, "in_memory", refused)


@pytest.fixture
def disk(recorded, monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Give an event that the disk waits for before it takes a note; it is set."""
    goes_on, write = Event(), Journal.write
    goes_on.set()

    def waiting(journal: Journal, record: bytes) -> None:
        if journal.path.parent == recorded.path.parent:
            goes_on.wait(60)
        write(journal, record)

    monkeypatch.setattr(Journal, "write", waiting)
    yield goes_on
    goes_on.set()


def test_a_locked_store_delays_and_says_so_once(recorded):
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


@pytest.mark.parametrize("how", ["file removed", "folder removed", "replaced"])
def test_a_store_that_is_another_gets_what_runs_next(recorded, tmp_path, how):
    """When store or folder are removed, or another store takes the name, the kernel goes on in the new one."""
    recorded.run("before = 1")
    assert recorded.sources() == ["before = 1"]
    if how == "file removed":
        recorded.path.unlink()
    elif how == "folder removed":
        shutil.rmtree(recorded.path.parent)
    else:
        with MemoryStore(tmp_path / "other.sqlite") as other:
            other.add("prices")
        (tmp_path / "other.sqlite").replace(recorded.path)
    assert recorded.run("after = 2")[0].success
    assert recorded.sources() == ["after = 2"]


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
    assert {*recorded.sources()} >= {f"x = {number}" for number in range(5)}


def test_a_disk_that_takes_nothing_loses_and_says_so_once(recorded, no_memory):
    """Where neither memory nor disk take notes, cells run, and the losses are counted."""
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
    assert recorded.sources() == ["y = 1"]


@pytest.mark.parametrize(("hangs", "memory"), [(False, True), (True, True), (True, False)])
def test_many_cells_in_a_row_wait_for_no_disk(recorded, disk, request, hangs, memory):
    """Cells that run as fast as the shell can are noted, each of them, and with its end, though the disk hangs."""
    if not memory:
        request.getfixturevalue("no_memory")
        recorded.recorder.stop()
        recorded.recorder.start()
    if hangs:
        disk.clear()
    cells = [LONG, *(f"x = {number % 7}" for number in range(1_199))]
    assert all(result.success for result in recorded.run(*cells))
    lost = sum(recorded.recorder.problems.lost.values())
    disk.set()

    assert (lost == 0) if memory else (0 < lost < 1_200)
    assert len(recorded.notices) == (not memory)
    assert [run.outcome for run in recorded.runs()] == ["ok"] * (1_200 - lost)
    assert recorded.recorder.noted == 1_200 - lost


def test_a_kernel_that_dies_leaves_its_runs(recorded):
    """They belong to its own space, not to whoever opens the store next; more than fits in memory is on the disk."""
    recorded.settings.space = "team"
    recorded.recorder.stop()

    def dies() -> int | None:
        recorded.recorder.start()
        recorded.run(*(f"x = {number}  # {'λ price ' * 24_000}" for number in range(46)), "fit(λ)")
        return max((path.stat().st_size for path in recorded.in_memory()), default=None)

    in_memory = in_fork(dies)
    assert in_memory is None or 7_800_000 < in_memory < 8_300_000
    for space, count in (("mine", 0), ("team", 47)):
        with MemoryStore(recorded.path, space=space) as store:
            assert len(store.history.runs(limit=100)) == count
    assert not list(abandoned(recorded.path))


@pytest.mark.parametrize("memory", ["removed", "refused"])
def test_without_memory_a_run_is_on_the_disk_before_it_begins(recorded, request, memory):
    """Whether the machine has no room in memory, or somebody removed the journal there."""
    if memory == "refused":
        request.getfixturevalue("no_memory")
        recorded.recorder.stop()
        recorded.recorder.start()
    for path in recorded.in_memory():
        path.unlink()
    recorded.shell.user_ns["on_disk"] = recorded.on_disk
    recorded.run("found = [path.read_bytes() for path in on_disk()]")
    assert b"found = " in b"".join(recorded.shell.user_ns["found"])


def test_an_error_is_in_memory_before_the_next_cell_begins(recorded, disk):
    """However slow the disk is: a cell may kill the kernel as soon as it begins."""
    recorded.run("x = 1")
    if not recorded.in_memory():
        pytest.skip("this machine has no files in memory")
    disk.clear()
    recorded.run("{}['lost customer']")
    assert any(b"KeyError" in path.read_bytes() for path in recorded.in_memory())


def open_files() -> int:
    gc.collect()
    return len(list(Path("/dev/fd").iterdir()))


def test_no_file_stays_open(recorded):
    """Neither by turning it on and off, nor where somebody removes the journals again and again."""
    recorded.run("x = 1")
    recorded.noted(b"x = 1")
    before = open_files()
    for number in range(5):
        for path in recorded.on_disk():
            path.unlink()
        recorded.run(f"y = {number}")
        recorded.noted(f"y = {number}".encode())
    # What earlier tests left may be closed meanwhile, and the store is open while it takes in what was run.
    until(lambda: open_files() <= before)

    recorded.recorder.stop()
    before = open_files()
    for _ in range(5):
        recorded.recorder.start()
        recorded.run("x = 1")
        recorded.recorder.stop()
    until(lambda: open_files() <= before)


def test_history_that_is_cleared_while_it_is_taken_in_stays_cleared(recorded, monkeypatch):
    """Of 70 runs, those that wait for the next batch when somebody clears the history never reach the store."""
    with MemoryStore(recorded.path) as store:
        history = type(store.history)
    record, counts = history.record, []

    def clearing(self, runs):
        record(self, runs)
        counts.append(self.status().runs)
        if len(counts) == 1:
            self.clear()

    monkeypatch.setattr(history, "record", clearing)
    recorded.run(*(f"x = {number}" for number in range(70)))

    assert (recorded.runs(), counts) == ([], [32, 0, 0])
    assert recorded.notices == []


def test_a_journal_that_cannot_be_removed_holds_up_no_other(recorded):
    """It is named once, and what runs afterwards reaches the store."""
    for number in range(3):
        recorded.run(f"x = {number}")
        recorded.noted(f"x = {number}".encode())
        [journal] = recorded.on_disk()
        journal.rename(recorded.path.with_name(f"moved {number}"))
        journal.mkdir()
        assert len(recorded.runs()) == number + 1
    recorded.run("y = 1")
    [notice] = recorded.notices
    assert "cannot be removed. Delete it:" in notice and str(recorded.path.parent) in notice
    assert len(recorded.runs()) == 4


@pytest.mark.parametrize("setting", ["path", "space"])
def test_runs_reach_the_place_that_was_set_when_they_began(recorded, tmp_path: Path, setting: str):
    """When the path or the space changes, what ran before goes there, and what runs afterwards into the next."""
    places = {"path": (recorded.path, tmp_path / "store" / "next.sqlite"), "space": ("team", "mine")}[setting]
    for place, cell in zip(places, ("before = 1", "after = 2"), strict=True):
        setattr(recorded.settings, setting, str(place))
        recorded.run(cell)
    recorded.recorder.flush()
    for place, cell in zip(places, ("before = 1", "after = 2"), strict=True):
        path, space = (place, None) if setting == "path" else (recorded.path, place)
        with MemoryStore(path, space=space) as store:
            assert [one.source for one in store.history.runs()] == [cell]


def test_a_clock_that_is_set_back_loses_nothing(tmp_path: Path):
    """Runs are told apart by their numbers, whatever the clock says."""
    back = [timedelta(0), timedelta(days=-400), timedelta(0)]
    runs = [replace(run(name, number), started=NOON + back[number]) for number, name in enumerate("abc")]
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        store.history.record(runs)
        assert {one.source: one.number for one in store.history.runs()} == {"a": 0, "b": 1, "c": 2}


def test_off_leaves_nothing_beside_the_store(recorded):
    recorded.run("x = 1")
    recorded.recorder.stop()
    assert recorded.sources() == ["x = 1"]
    assert not recorded.on_disk() and not recorded.in_memory()
