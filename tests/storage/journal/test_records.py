"""Records of a journal: what is whole is read, and what is torn or overwritten is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from jupyter_memory.storage.journal import records
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


@pytest.mark.parametrize(
    "hole",
    [b"\0" * 300, b"\xff\xfeJM", b"\xff\xfeJM" + b"\0" * 300, b"\xff\xfeJM\x05\0\0\0\0\0\0\0half", b"text\n" * 50],
)
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


def framed(record: Any) -> bytes:
    """Return a record as it stands in a journal, whatever it holds."""
    return records._framed(record)


def with_changes(record: bytes, **changes: Any) -> bytes:
    """Return a record with other values."""
    return framed({**json.loads(record[records._HEAD.size :]), **changes})


def test_a_field_of_a_newer_version_is_passed_over():
    """Of a record with more fields than this version knows, the known ones are read."""
    noted = with_changes(records.note(replace(FAILED, outcome="unknown", seconds=None, error=None)), mood="good")
    error = {"name": "KeyError", "message": "'ü'", "traceback": "Traceback …", "mood": "bad"}

    assert records.runs(noted + with_changes(records.ending(FAILED), mood="bad", error=error)) == [FAILED]


@pytest.mark.parametrize(
    "odd",
    [
        with_changes(records.note(RUN), number=3, outcome="aborted"),
        with_changes(records.note(RUN), number=3, started="yesterday"),
        with_changes(records.note(RUN), number=3, error=["KeyError"]),
        with_changes(records.note(RUN), number=[3]),
        framed({"source": "x = 1"}),
        framed([1, 2]),
    ],
)
def test_a_record_that_cannot_be_read_hides_no_other(odd: bytes):
    """An outcome, a time or a form that this version does not know leaves that one record out."""
    assert records.runs(odd + written(RUN) + odd + written(FAILED)) == [RUN, FAILED]


def test_an_ending_of_an_unknown_form_leaves_its_run_open():
    """How the run ended is not known then, but that it ran is."""
    assert records.runs(records.note(RUN) + with_changes(records.ending(RUN), outcome="aborted")) == [RUN]
