"""The writer of a kernel's journals counts what it cannot keep, and holds no more than it needs."""

from __future__ import annotations

import errno
import gc
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from kernel_runs import run

from jupyter_memory.history import writer as writers
from jupyter_memory.history.writer import JournalPair, Place, RecordingProblems, Writer
from jupyter_memory.storage import Journal
from jupyter_memory.storage import journal as files
from jupyter_memory.storage import journal as records
from jupyter_memory.types import Run


def refused(*_: object) -> Journal:
    """Fail as a file system in memory does that is full, or not there."""
    raise OSError(errno.ENOSPC, "no space")


class Written:
    """A writer, what it lost, and what is in its journals in the end."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.problems = RecordingProblems()
        self.checks = Event()
        self.checks.set()
        self.writer = Writer(lambda: Place(store), self._checked, self.problems)
        assert self.writer.open(5)

    def _checked(self, run: Run, _: object) -> Run:
        self.checks.wait(60)
        return run

    def hang(self) -> Event:
        """Keep its thread waiting until the event is set."""
        begun, goes_on = Event(), Event()

        def wait() -> None:
            begun.set()
            goes_on.wait(60)

        self.writer._put(wait)
        assert begun.wait(5)
        return goes_on

    @property
    def lost(self) -> int:
        """Return how many runs were lost."""
        return sum(self.problems.lost.values())

    def ended(self) -> list[int]:
        """Stop it; return the numbers of the runs whose end its last journals hold."""
        assert self.writer.rotate(5) and self.writer.stop(5)
        content = b"".join(journal.read() for former in self.writer.journals.closed for journal in former)
        return sorted(run.number for run in records.runs(content) if run.outcome == "ok")

    def drop(self) -> None:
        """Leave nothing of it."""
        self.checks.set()
        self.writer.stop(5)
        for former in self.writer.journals.closed:
            for journal in former:
                journal.remove()


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    """Give a writer whose journals are open."""
    one = Written(tmp_path / "memory.sqlite")
    yield one
    one.drop()


def open_files() -> int:
    """Return how many descriptors this process has."""
    gc.collect()
    return len(list(Path("/dev/fd").iterdir()))


def test_turning_it_on_and_off_leaves_no_file_open(recorded):
    """Five times on and off, there are as many open files as before."""
    recorded.recorder.stop()
    before = open_files()
    for _ in range(5):
        recorded.recorder.start()
        recorded.run("x = 1")
        recorded.recorder.stop()

    assert open_files() == before


def test_a_journal_that_was_removed_is_closed_when_the_next_one_begins(tmp_path: Path):
    """Somebody who removes the journals again and again costs no open files."""
    journals = JournalPair(lambda: Place(tmp_path / "memory.sqlite"))
    journals.rotate()
    before = open_files()
    for _ in range(5):
        for journal in tmp_path.iterdir():
            journal.unlink()
        journals.copy(records.note(run("x = 1")))

    assert open_files() == before
    journals.close()
    for former in journals.closed:
        for journal in former:
            journal.remove()


def test_a_run_that_neither_memory_nor_queue_take_is_counted(written, monkeypatch):
    """With a full queue and a memory that takes nothing, the run is lost, and not counted as noted."""
    goes_on = written.hang()
    monkeypatch.setattr(writers, "_ROOM", 0)
    with monkeypatch.context() as full:
        full.setattr(Journal, "write", refused)
        written.writer.begin(run("x = 1"), ())
    goes_on.set()

    assert (written.lost, written.writer.noted) == (1, 0)


def test_a_journal_that_was_removed_from_memory_is_no_memory(written):
    """The next run is on the disk before it begins."""
    if not written.writer.journals.has_memory:
        pytest.skip("this machine has no file system in memory")
    beside = written.store.parent
    [in_memory] = [path for path in files._paths(written.store) if path.parent != beside]
    in_memory.unlink()

    assert not written.writer.journals.has_memory
    written.writer.begin(run("x = 1"), ())
    [on_disk] = [path for path in files._paths(written.store) if path.parent == beside]
    assert [one.source for one in records.runs(on_disk.read_bytes())] == ["x = 1"]


def test_a_thread_that_hangs_keeps_few_runs_waiting(written, monkeypatch):
    """However many cells run meanwhile, the queue is bounded; what was not lost has its ending."""
    monkeypatch.setattr(Journal, "in_memory", refused)
    assert written.writer.rotate(5)
    goes_on = written.hang()
    monkeypatch.setattr(writers, "_ROOM", 10)
    for number in range(1, 101):
        written.writer.begin(run("x = 1", number), ())
        written.writer.end(run("x = 1", number, outcome="ok", seconds=0.1))
    waiting = len(written.writer._queue)
    goes_on.set()

    assert waiting <= 20 and written.lost > 0
    assert len(written.ended()) == 100 - written.lost


def test_the_end_of_a_run_follows_a_beginning_that_is_late(written):
    """A long cell that ends before the thread has looked through it has its ending all the same."""
    written.checks.clear()
    source = "#" * 20_000
    written.writer.begin(run(source), ())
    written.writer.end(run(source, outcome="ok", seconds=0.1))
    written.checks.set()

    assert written.ended() == [1]
