"""Newer memories before older ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from jupyter_memory.search import parse
from jupyter_memory.search.signals import Recency
from jupyter_memory.types import Candidate

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


def judged(memory, event_at, signal=None):
    """Return what recency says of a memory of this time."""
    pool = [Candidate(1, memory(1, event_at=event_at), 1)]
    return (signal or Recency())(parse("prices", now=NOW), pool)[1]


@pytest.mark.parametrize(
    ("age", "value"),
    [
        (timedelta(0), 1.0),
        (timedelta(days=1), 0.99727),
        (timedelta(days=365), 0.5),
        (timedelta(days=730), 0.3333),
        (timedelta(days=-30), 1.0),
    ],
)
def test_by_age(memory, age, value):
    """1 now and in the future, 0.99727 after a day, half after a year, a third after two."""
    assert judged(memory, NOW - age) == pytest.approx(value, abs=5e-5)


def test_the_zone_does_not_matter(memory):
    """A time in Zürich is as old as the same moment in UTC."""
    winter = timezone(timedelta(hours=1))

    assert judged(memory, (NOW - timedelta(days=1)).astimezone(winter)) == judged(memory, NOW - timedelta(days=1))


def test_a_half_life_of_ones_own(memory):
    """Who works in weeks can say so."""
    assert judged(memory, NOW - timedelta(days=7), Recency(half_life_hours=168)) == pytest.approx(0.5)
