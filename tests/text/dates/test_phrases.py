"""Phrases that name a time: whatever the day, they begin before they end, and the past lies in the past."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import named_at

# A Saturday evening.
NOW = datetime(2026, 11, 21, 20)
SEASONS = ("spring", "summer", "autumn", "fall", "winter")
HOLIDAYS = (
    "Easter", "Good Friday", "Easter weekend", "Easter Monday", "Pentecost", "Ascension Day", "Ash Wednesday",
    "Christmas", "Christmas Eve", "Boxing Day", "New Year", "New Year's Eve", "Halloween", "Valentine's Day",
    "Thanksgiving",
)  # fmt: skip
UNITS = ("week", "weekend", "month", "quarter", "year")
PAST = [
    *SEASONS, *HOLIDAYS,
    *(f"{which} {name}" for which, name in product(("last", "this past"), SEASONS + HOLIDAYS)),
    *(f"the {name} before last" for name in (*UNITS, *SEASONS, "night", "Tuesday", "Christmas", "Easter")),
    *(f"{count} {name}s ago" for count, name in product(("two", "3"), (*UNITS, *SEASONS, "night", "Friday", "Easter"))),
    *(f"a {few} {name}s ago" for few, name in product(("few", "couple of"), ("weekend", "night", "Monday"))),
    *(f"the other {name}" for name in ("day", "morning", "night", "week", "weekend", "month")),
    *(f"earlier {name}" for name in ("today", "this week", "this month", "this quarter", "in the year")),
    *(f"the {part} of the {unit}" for part, unit in product(("start", "middle", "end"), ("week", "month", "year"))),
    *(f"the {nth} of last year" for nth in ("first week", "last weekend", "first Monday", "last quarter")),
    "a year ago today", "two weeks ago yesterday", "Tuesday of last week", "the day before last Christmas",
    "the week before last Easter", "early in the year", "last fiscal year", "a fortnight ago",
]  # fmt: skip
ANY = [
    *PAST,
    *(f"{name} {year}" for name, year in product(SEASONS + HOLIDAYS, (1975, 2025, 2099))),
    *(f"later {period}" for period in ("today", "this week", "this month", "this quarter", "this year")),
    *(f"this {name}" for name in SEASONS + HOLIDAYS + UNITS),
    "FY26", "FY 2025", "Q3 FY26", "FY2026 H1", "fiscal Q2 2026", "fiscal year 2025", "the third quarter of fiscal 2025",
]  # fmt: skip
# Eight years earlier there are years to go back to; a clock shows no more than microseconds.
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 12, 31))


def whole_phrase(text, now):
    """Return the period that the whole text names, if it names one."""
    named = named_at(text, 0, now)
    return named.period if named is not None and named.end == len(text) else None


@given(now=MOMENTS)
def test_the_past_lies_in_the_past(now):
    """At any moment, each phrase for a past time is read, begins before it ends, and began before now."""
    for text in PAST:
        period = whole_phrase(text, now)
        assert period is not None, text
        assert period.start < period.end, text
        assert period.start <= now, text


@given(now=MOMENTS)
def test_what_is_named_begins_before_it_ends(now):
    """At any moment, what a phrase names begins before it ends, the last microsecond of a year included."""
    for text in ANY:
        period = whole_phrase(text, now)
        assert period is None or period.start < period.end, text


@given(now=st.datetimes(), text=st.sampled_from(ANY))
def test_no_calendar_is_too_short(now, text):
    """Near the ends of the calendar a phrase is read or left, without a failure."""
    period = whole_phrase(text, now)
    assert period is None or period.start < period.end


@given(now=MOMENTS)
def test_before_last_is_before_the_last(now):
    """The week before last ends where the last one begins; likewise with other units."""
    for unit in ("week", "month", "quarter", "year"):
        assert whole_phrase(f"the {unit} before last", now).end == whole_phrase(f"last {unit}", now).start
    weekends = [whole_phrase(text, now).start for text in ("last weekend", "two weekends ago", "3 weekends ago")]
    assert weekends == [weekends[0] - timedelta(weeks=back) for back in range(3)]
    assert whole_phrase("the weekend before last", now).start == weekends[1]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("the week before last", "2026-11-02", "2026-11-09"),
        ("week before last week", "2026-11-02", "2026-11-09"),
        ("the quarter before last", "2026-04-01", "2026-07-01"),
        ("the weekend before last", "2026-11-07", "2026-11-09"),
        ("the Saturday before last", "2026-11-07", "2026-11-08"),
        ("two Fridays ago", "2026-11-13", "2026-11-14"),
        ("two nights ago", "2026-11-19T18:00", "2026-11-20T06:00"),
        ("the other day", "2026-11-14", "2026-11-21"),
        ("the other week", "2026-10-26", "2026-11-16"),
        ("earlier this quarter", "2026-10-01", "2026-11-21"),
        ("later this week", "2026-11-21T20:00", "2026-11-23"),
        ("later this year", "2026-11-21T20:00", "2027-01-01"),
        ("the weekend", "2026-11-21", "2026-11-23"),
        ("the start of the week", "2026-11-16", "2026-11-18"),
        ("the end of the year", "2026-09-01", "2027-01-01"),
        ("the first week of the month", "2026-11-01", "2026-11-08"),
        ("the first Monday of March", "2026-03-02", "2026-03-03"),
        ("the last weekend in October", "2026-10-31", "2026-11-02"),
        ("the last quarter of 2025", "2025-10-01", "2026-01-01"),
        ("the second quarter of last year", "2025-04-01", "2025-07-01"),
        ("Tuesday of last week", "2026-11-10", "2026-11-11"),
        ("Friday the week before last", "2026-11-06", "2026-11-07"),
        ("a year ago today", "2025-11-21", "2025-11-22"),
        ("two weeks ago yesterday", "2026-11-06", "2026-11-07"),
        ("FY25", "2025-01-01", "2026-01-01"),
        ("Q3 FY26", "2026-07-01", "2026-10-01"),
        ("fiscal H1 2026", "2026-01-01", "2026-07-01"),
        ("the third quarter of fiscal 2025", "2025-07-01", "2025-10-01"),
    ],
)
def test_phrases(text, since, until):
    """Each phrase means this period when it is written on a Saturday evening in November."""
    assert whole_phrase(text, NOW) == (datetime.fromisoformat(since), datetime.fromisoformat(until))


@pytest.mark.parametrize(
    ("now", "since"), [(datetime(2026, 3, 2), "2025-09-01"), (datetime(2026, 11, 21), "2026-09-01")]
)
def test_the_end_of_the_year_has_begun(now, since):
    """The end of the year is that of last year until this year's begins."""
    assert whole_phrase("the end of the year", now).start == datetime.fromisoformat(since)


@pytest.mark.parametrize(
    "text",
    (
        "a while ago", "recently", "the holidays", "around Christmas", "before Easter", "zero Fridays ago",
        "0 weekends ago", "9999 summers ago", "the day before last", "fiscal year", "fy", "spring boot",
        "winter tires", "the end of the day", "week of the year", "the fifth quarter of 2025",
        "the sixth Monday of March", "Christmas tree", "Q3 FY26-draft",
    ),
)  # fmt: skip
def test_what_has_no_ends_is_left(text):
    """Words without ends, impossible counts and other things are no period."""
    assert whole_phrase(text, NOW) is None
