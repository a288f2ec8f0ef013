"""Finished runs go from the journals into the store, whatever happens to either meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kernel_runs import run

from jupyter_memory import MemoryStore
from jupyter_memory.history.absorber import Absorber
from jupyter_memory.history.writer import Place, RecordingProblems, Writer
from jupyter_memory.types import Run


def test_history_that_is_cleared_while_it_is_taken_in_stays_cleared(tmp_path: Path):
    """Of 70 runs, those that wait for the next batch when somebody clears the history never reach the store."""
    path, problems = tmp_path / "memory.sqlite", RecordingProblems()
    counts: list[int] = []

    @contextmanager
    def opened(_: Place) -> Iterator[Callable[[Iterable[Run]], object]]:
        with MemoryStore(path) as store:

            def record(runs: Iterable[Run]) -> None:
                store.history.record(runs)
                counts.append(store.history.status().runs)
                if len(counts) == 1:
                    store.history.clear()

            yield record

    writer = Writer(lambda: Place(path), lambda run, tags: run, problems)
    absorber = Absorber(writer, opened, lambda: 0.0, problems)
    assert writer.open(5)
    for number in range(70):
        writer.begin(run(f"x = {number}", number), ())
        writer.end(run(f"x = {number}", number, outcome="ok", seconds=0.1))
    assert writer.stop(5) and absorber.stop(5)

    with MemoryStore(path) as store:
        assert (counts, store.history.status().runs) == ([32, 0, 0], 0)
    assert problems.news() == []


def test_a_journal_that_cannot_be_removed_holds_up_no_other(recorded):
    """It is named once, and what runs afterwards reaches the store."""
    for number in range(3):
        recorded.run(f"x = {number}")
        assert recorded.recorder._writer.rotate(5)
        journal = recorded.recorder._writer.journals.closed[-1].journals[-1].path
        journal.rename(recorded.path.with_name(f"moved {number}"))
        journal.mkdir()
        assert len(recorded.runs()) == number + 1
    recorded.run("y = 1")

    [notice] = recorded.notices
    assert "cannot be removed. Delete it:" in notice and str(recorded.path.parent) in notice
    assert len(recorded.runs()) == 4


def test_runs_reach_the_store_that_was_set_when_they_began(recorded, tmp_path: Path):
    """When the path changes, what ran before goes into the store before, and what runs afterwards into the next."""
    recorded.run("before = 1")
    recorded.settings.path = str(tmp_path / "store" / "next.sqlite")
    recorded.run("after = 2")
    recorded.recorder.flush()

    for path, source in ((recorded.path, "before = 1"), (tmp_path / "store" / "next.sqlite", "after = 2")):
        with MemoryStore(path) as store:
            assert [one.source for one in store.history.runs()] == [source]


def test_runs_reach_the_space_that_was_set_when_they_began(recorded):
    """When the space changes, no run moves into the next one."""
    recorded.settings.space = "team"
    recorded.run("before = 1")
    recorded.settings.space = "mine"
    recorded.run("after = 2")
    recorded.recorder.flush()

    for space, source in (("team", "before = 1"), ("mine", "after = 2")):
        with MemoryStore(recorded.path, space=space) as store:
            assert [one.source for one in store.history.runs()] == [source]


def test_a_kernel_that_dies_leaves_its_runs_to_its_own_space(recorded):
    """What it noted does not become the history of whoever opens the store next."""
    recorded.settings.space = "team"
    recorded.run("fit(λ)")
    recorded.recorder._writer.stop(5)
    for former in recorded.recorder._writer.journals.closed:
        for journal in former:
            journal.close()

    for space, sources in (("mine", []), ("team", ["fit(λ)"])):
        with MemoryStore(recorded.path, space=space) as store:
            assert [one.source for one in store.history.runs()] == sources
