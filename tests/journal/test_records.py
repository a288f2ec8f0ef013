"""Records of a journal: what is whole is read, and what is torn or overwritten is left out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from jupyter_memory.journal import records
from jupyter_memory.types import Run, RunError

RUN = Run("λ = prices\n'\\ud800'", datetime(2026, 3, 2, 9, tzinfo=UTC), "a", 1, notebook="/w/müller.ipynb", cell_id="c")
FAILED = replace(RUN, number=2, outcome="error", seconds=0.5, error=RunError("KeyError", "'ü'", "Traceback …"))


def written(*runs: Run) -> bytes:
    """Return the journal of runs that have ended."""
    return b"".join(records.note(replace(run, outcome="unknown", seconds=None, error=None)) for run in runs) + b"".join(
        records.ending(run) for run in runs if run.outcome != "unknown"
    )


def test_runs_come_back_as_they_were_noted():
    """A run and how it ended are read as they were."""
    assert records.runs(written(RUN, FAILED)) == [RUN, FAILED]


def test_a_run_without_an_ending_is_of_unknown_outcome():
    """What nobody knows the end of is "unknown"."""
    [run] = records.runs(records.note(RUN))

    assert (run.outcome, run.seconds, run.error) == ("unknown", None, None)


def test_a_journal_that_is_torn_anywhere_gives_the_runs_before():
    """Cut at any byte, a journal has every run whose record is whole, and nothing else."""
    whole = written(RUN, FAILED)
    first, second = len(records.note(RUN)), len(records.note(RUN)) + len(records.note(replace(RUN, number=2)))

    for length in range(len(whole)):
        found = records.runs(whole[:length])
        assert [run.number for run in found] == [1, 2][: (length >= first) + (length >= second)]
        assert [run.source for run in found] == [RUN.source] * len(found)


@pytest.mark.parametrize("hole", [b"\0" * 300, b"\xff\xfeJM", b"\xff\xfeJM\x05\0\0\0\0\0\0\0half", b"text\n" * 50])
def test_what_is_no_record_is_passed_over(hole: bytes):
    """Zeros of somebody who cleared the journal, and half a record, hide no later record."""
    assert records.runs(hole + written(RUN) + hole + written(FAILED) + hole) == [RUN, FAILED]


def test_a_changed_byte_leaves_its_record_out():
    """A record whose bytes are not those that were written is not read."""
    data = bytearray(written(RUN))
    data[len(data) // 2] ^= 1

    assert records.runs(bytes(data)) == []


def test_an_ending_without_its_beginning_says_nothing():
    """Of a run whose beginning was cleared, the ending brings nothing back."""
    assert records.runs(records.ending(FAILED)) == []
