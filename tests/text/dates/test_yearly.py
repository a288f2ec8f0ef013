"""Seasons and holidays: which days they are, and of which year."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime

import pytest
from dateutil.easter import easter

from jupyter_memory.text import named_at

# A Saturday evening.
NOW = datetime(2026, 11, 21, 20)


def days(text: str, now: datetime = NOW) -> tuple[str, str] | None:
    """Return the first day that a phrase names, and the day after the last."""
    named = named_at(text, 0, now)
    if named is None or named.end != len(text):
        return None
    return f"{named.period.start:%Y-%m-%d}", f"{named.period.end:%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("spring", "2026-03-01", "2026-06-01"),
        ("Summer", "2026-06-01", "2026-09-01"),
        ("the fall", "2026-09-01", "2026-12-01"),
        ("the summer", "2026-06-01", "2026-09-01"),
        ("winter", "2025-12-01", "2026-03-01"),
        ("the summer of 2025", "2025-06-01", "2025-09-01"),
        ("autumn, 2024", "2024-09-01", "2024-12-01"),
        ("winter 2024/25", "2024-12-01", "2025-03-01"),
        ("last fall", "2025-09-01", "2025-12-01"),
        ("this past winter", "2025-12-01", "2026-03-01"),
        ("the summer before last", "2025-06-01", "2025-09-01"),
        ("three winters ago", "2023-12-01", "2024-03-01"),
        ("early spring", "2026-03-01", "2026-03-31"),
        ("Easter", "2026-04-05", "2026-04-06"),
        ("Easter 2025", "2025-04-20", "2025-04-21"),
        ("Good Friday", "2026-04-03", "2026-04-04"),
        ("Easter weekend", "2026-04-03", "2026-04-07"),
        ("last Pentecost", "2026-05-24", "2026-05-25"),
        ("the Easter before last", "2025-04-20", "2025-04-21"),
        ("the week after Easter", "2026-04-06", "2026-04-13"),
        ("New Year's Eve", "2025-12-31", "2026-01-01"),
        ("new years day 2024", "2024-01-01", "2024-01-02"),
        ("last Christmas", "2025-12-25", "2025-12-26"),
        ("two Christmases ago", "2024-12-25", "2024-12-26"),
        ("the day after Christmas", "2025-12-26", "2025-12-27"),
        ("the week of Thanksgiving", "2025-11-24", "2025-12-01"),
        ("Thanksgiving 2024", "2024-11-28", "2024-11-29"),
        ("Valentine’s Day", "2026-02-14", "2026-02-15"),
    ],
)
def test_seasons_and_holidays(text: str, since: str, until: str) -> None:
    """A season has three months of the northern hemisphere, a holiday its day; of both the latest counts."""
    assert days(text) == (since, until)


@pytest.mark.parametrize(
    ("text", "now", "since"),
    [
        ("this winter", datetime(2027, 1, 10), "2026-12-01"),
        ("this winter", datetime(2027, 4, 1), "2026-12-01"),
        ("this winter", NOW, None),
        ("last winter", datetime(2027, 1, 10), "2025-12-01"),
        ("last summer", datetime(2026, 7, 1), "2025-06-01"),
        ("this summer", datetime(2026, 2, 1), None),
        ("this Christmas", NOW, None),
        ("this Christmas", datetime(2026, 12, 27), "2026-12-25"),
        ("last Christmas", datetime(2026, 12, 25, 12), "2025-12-25"),
        ("this December", NOW, None),
        ("last May", datetime(2026, 5, 20), "2025-05-01"),
    ],
)
def test_this_and_last(text: str, now: datetime, since: str | None) -> None:
    """The last one is over; this one is of this year or was just over, and one that is to come names no past time."""
    found = days(text, now)
    assert (found and found[0]) == since


def test_easter_is_that_of_each_year() -> None:
    """Easter has another date every year, in spans across years too."""
    assert [days(f"Easter {year}") for year in range(1990, 2050)] == [
        days(easter(year).isoformat()) for year in range(1990, 2050)
    ]


def test_dateutil_is_loaded_for_easter_only() -> None:
    """No other phrase waits for the import of dateutil."""
    code = (
        "import sys; from datetime import datetime; from jupyter_memory.text import named_at; "
        "now = datetime(2026, 11, 21); assert named_at('last Christmas', 0, now); print('dateutil' in sys.modules); "
        "assert named_at('last Easter', 0, now); print('dateutil' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert told.stdout.split() == ["False", "True"]
