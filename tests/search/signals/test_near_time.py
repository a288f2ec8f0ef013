"""Memories near the moment that the question names, by numbers worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jupyter_memory.search import parse
from jupyter_memory.search.signals import NearTime
from jupyter_memory.types import Candidate

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


def near(memory, question, days):
    """Return what the signal says of a memory of so many days ago, None where it has no opinion."""
    pool = [Candidate(1, memory(1, event_at=NOW - timedelta(days=days)), 1)]
    return NearTime()(parse(question, now=NOW), pool).get(1)


@pytest.mark.parametrize(
    ("question", "days", "value"),
    [
        # Days: tolerance 1, reach 3.
        ("what did I plot 5 days ago", 5, 1.0),
        ("what did I plot five days ago", 6, 2 / 3),
        ("what did I plot 5 days ago", 3.5, 0.5),
        ("what did I plot 5 days ago", 8, 0.0),
        ("what did I plot 5 days ago", 60, 0.0),
        # Weeks: tolerance 3, reach 9.
        ("what did I plot three weeks ago", 21, 1.0),
        ("what did I plot three weeks ago", 18, 2 / 3),
        ("what did I plot three weeks ago", 25.5, 0.5),
        ("what did I plot three weeks ago", 30, 0.0),
    ],
)
def test_by_hand(memory, question, days, value):
    """1 at the moment itself, 0 from three tolerances on, a straight line between; numbers in figures or words."""
    assert near(memory, question, days) == pytest.approx(value)


@pytest.mark.parametrize(("unit", "tolerance"), [("month", 10), ("year", 60)])
def test_months_and_years(memory, unit, tolerance):
    """Ten days for months and sixty for years: three of them away nothing is left, half of that far a half."""
    question = f"what did I plot two {unit}s ago"
    target = (NOW - parse(question, now=NOW).temporal.target).total_seconds() / 86_400

    assert near(memory, question, target) == pytest.approx(1.0)
    assert near(memory, question, target - 1.5 * tolerance) == pytest.approx(0.5)
    assert near(memory, question, target + tolerance) == pytest.approx(2 / 3)
    assert near(memory, question, target + 3 * tolerance) == 0.0


def test_weekdays_months_and_ranges(memory):
    """Friday 6 March: last Tuesday is the 3rd, a range is meant by its middle."""
    assert near(memory, "what broke last Tuesday", 3) > 0.9 > 0.7 > near(memory, "what broke last Tuesday", 4.5)
    middle = near(memory, "prices between February 2nd and February 8th", 29)
    assert middle > 0.9 and near(memory, "prices between February 2nd and February 8th", 29 + 9.5) == 0.0


@pytest.mark.parametrize("question", ["how were the prices scaled", "prices before March 2026", "our second session"])
def test_no_opinion(memory, question):
    """No time, one without a middle, or sessions: nothing is said of anybody."""
    assert near(memory, question, 3) is None


def test_the_future_counts_as_now(memory):
    """A memory of next week is as near to yesterday as one of this moment."""
    assert near(memory, "what broke yesterday", -7) == near(memory, "what broke yesterday", 0) > 0
