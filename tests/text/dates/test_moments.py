"""Times as people write them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import QueryError
from jupyter_memory.text import parse_day, parse_moment

# A Saturday evening in Berlin, in winter time.
NOW = datetime(2026, 11, 21, 19, 0, tzinfo=UTC)


@pytest.fixture(autouse=True, params=["Europe/Berlin"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run in the time zone of the parameter."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def local(text: str) -> datetime:
    """Return a naive ISO time as the aware one of the zone under test."""
    return datetime.fromisoformat(text).astimezone()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-03-31", "2026-03-31", "2026-04-01"),
        ("20260331", "2026-03-31", "2026-04-01"),
        ("2026-W13", "2026-03-23", "2026-03-30"),
        ("2025-03", "2025-03-01", "2025-04-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("March 2025", "2025-03-01", "2025-04-01"),
        ("in march", "2026-03-01", "2026-04-01"),
        ("December", "2025-12-01", "2026-01-01"),
        ("Q3 2025", "2025-07-01", "2025-10-01"),
        ("2025-Q4", "2025-10-01", "2026-01-01"),
        ("H1 2025", "2025-01-01", "2025-07-01"),
        ("2025-H2", "2025-07-01", "2026-01-01"),
        ("this quarter", "2026-10-01", "2027-01-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("today", "2026-11-21", "2026-11-22"),
        ("Yesterday", "2026-11-20", "2026-11-21"),
        ("the day before yesterday", "2026-11-19", "2026-11-20"),
        ("3 days ago", "2026-11-18", "2026-11-19"),
        ("three days ago", "2026-11-18", "2026-11-19"),
        ("monday", "2026-11-16", "2026-11-17"),
        ("last Tuesday", "2026-11-17", "2026-11-18"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("2 weeks ago", "2026-11-02", "2026-11-09"),
        ("a fortnight ago", "2026-11-02", "2026-11-09"),
        ("early March", "2026-03-01", "2026-03-11"),
        ("the week of November 10", "2026-11-09", "2026-11-16"),
        ("last  month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("12 March 2025", "2025-03-12", "2025-03-13"),
        ("13.04.2025", "2025-04-13", "2025-04-14"),
        ("this morning", "2026-11-21", "2026-11-21T12:00"),
        ("a couple of days ago", "2026-11-18", "2026-11-20"),
        ("May 8th", "2026-05-08", "2026-05-09"),
        ("a hundred and sixty-seven days ago", "2026-06-07", "2026-06-08"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("over the weekend", "2026-11-21", "2026-11-23"),
        ("week before last", "2026-11-02", "2026-11-09"),
        ("the other day", "2026-11-14", "2026-11-21"),
        ("in spring", "2026-03-01", "2026-06-01"),
        ("in winter", "2025-12-01", "2026-03-01"),
        ("over Easter 2025", "2025-04-20", "2025-04-21"),
        ("Spring 2025", "2025-03-01", "2025-06-01"),
        ("Easter", "2026-04-05", "2026-04-06"),
        ("New Year’s Eve", "2025-12-31", "2026-01-01"),
        ("earlier this year", "2026-01-01", "2026-11-21"),
        ("at the start of the year", "2026-01-01", "2026-05-02"),
        ("last 7 days", "2026-11-14", "2026-11-21T20:00"),
        ("past two weeks", "2026-11-07", "2026-11-21T20:00"),
        ("last 3 months", "2026-08-21", "2026-11-21T20:00"),
        ("last 5 hours", "2026-11-21T15:00", "2026-11-21T20:00"),
    ],
)
def test_periods(text: str, since: str, until: str) -> None:
    """A date or phrase is its whole period, from its first moment to the first one after it."""
    assert parse_moment(text, now=NOW) == local(since)
    assert parse_moment(text, now=NOW, end=True) == local(until)
    assert parse_day(text, NOW) == (local(since), local(until))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-31T14:30", "2026-03-31T14:30"),
        ("2026-03-31 14:30", "2026-03-31T14:30"),
        ("2026-03-31t14:30:05+09:00", "2026-03-31T07:30:05"),
        ("2026-03-31 14:30 UTC", "2026-03-31T16:30"),
        ("now", "2026-11-21T20:00"),
        ("2 hours ago", "2026-11-21T18:00"),
        ("yesterday at 3pm", "2026-11-20T15:00"),
    ],
)
def test_exact_times(text: str, moment: str) -> None:
    """An exact time is taken as it is at both ends, naive ones as local; `on` means its day."""
    assert parse_moment(text, now=NOW) == parse_moment(text, now=NOW, end=True) == local(moment)
    since, until = parse_day(text, NOW)
    assert since == local(moment[:10])
    assert until - since == timedelta(days=1)


@pytest.mark.parametrize(
    "text",
    (
        "", "   ", "soon-ish", "λ", "500", "12", "a", "-3", "...", "2026-13-01", "2026-02-30", "last decade",
        "Q5 2025", "0000", "between march and may", "yesterday or so", "plot second order sun spots", "9999",
        "last foo days", "10^9", "½ day ago", "-5 days ago", "H3 2025", "H1", "2026-03-31T25:00",
    ),
)  # fmt: skip
def test_unreadable(text: str) -> None:
    """What cannot be read raises an error that names accepted forms."""
    with pytest.raises(QueryError, match="2025-03-31"):
        parse_moment(text, now=NOW)


@pytest.mark.parametrize("text", ["03/04/2025", "3.4.2025", "1/2"])
def test_two_readings_are_refused(text: str) -> None:
    """A date that Europe and America read differently is refused rather than guessed."""
    with pytest.raises(QueryError, match="Europe"):
        parse_moment(text, now=NOW)


@pytest.mark.parametrize("text", ["FY2025", "Q3 FY26", "fiscal Q2 2026", "last fiscal year", "financial year 2025"])
def test_fiscal_years_are_refused(text: str) -> None:
    """A filter leaves out what lies outside, so it takes no fiscal year, which begins in another month elsewhere."""
    with pytest.raises(QueryError, match="each organisation"):
        parse_moment(text, now=NOW)


def test_same_day_and_month_has_one_reading() -> None:
    """4/4 is the fourth of April everywhere."""
    assert parse_moment("4/4/2025", now=NOW) == local("2025-04-04")


def test_until_a_date_includes_it() -> None:
    """`--until 2026-03-31` includes the evening of the 31st."""
    evening = local("2026-03-31T23:59:59")
    assert evening < parse_moment("2026-03-31", now=NOW, end=True)


def test_results_are_utc() -> None:
    """Every result is aware and in UTC."""
    assert parse_moment("yesterday", now=NOW).tzinfo is UTC
    assert [end.tzinfo for end in parse_day("2 hours ago", NOW)] == [UTC, UTC]


def test_a_day_of_the_clock_change_has_23_hours() -> None:
    """Periods are cut on the wall clock: the day on which summer time begins is an hour short."""
    since, until = parse_day("2026-03-29", NOW)
    assert until - since == timedelta(hours=23)


def test_hours_ago_are_counted_across_the_clock_change() -> None:
    """Five hours ago is five hours ago, also when the clock was put back in between."""
    after = datetime(2026, 10, 25, 4, 0, tzinfo=UTC)
    assert parse_moment("5 hours ago", now=after) == after - timedelta(hours=5)
    assert parse_moment("last 5 hours", now=after) == after - timedelta(hours=5)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "Pacific/Kiritimati", "UTC"], indirect=True)
def test_other_zones(zone: str) -> None:
    """Yesterday is the yesterday of the place: from local midnight to local midnight."""
    today = NOW.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    since, until = parse_day("yesterday", NOW)
    assert until == today
    assert since == (today.replace(tzinfo=None) - timedelta(days=1)).astimezone()
    assert parse_moment("2 hours ago", now=NOW) == NOW - timedelta(hours=2)


def test_now_may_be_in_any_zone() -> None:
    """The zone of `now` does not change what yesterday means here."""
    assert parse_moment("yesterday", now=NOW.astimezone()) == parse_moment("yesterday", now=NOW)


def test_a_named_zone_is_the_zone_of_the_question() -> None:
    """A time that was given in a named zone is asked there: its yesterday, and its clock of last summer."""
    tokyo = ZoneInfo("Asia/Tokyo")
    now = NOW.astimezone(tokyo)
    assert parse_day("yesterday", now)[1] == datetime(2026, 11, 22, tzinfo=tokyo)
    new_york = NOW.astimezone(ZoneInfo("America/New_York"))
    assert parse_moment("2026-07-01", now=new_york) == datetime(2026, 7, 1, 4, tzinfo=UTC)
    assert parse_moment("yesterday at 3pm", now=new_york) == datetime(2026, 11, 20, 20, tzinfo=UTC)


@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    """Any text is a time or a QueryError, and the end is never before the start."""
    try:
        start = parse_moment(text, now=NOW)
    except QueryError:
        return
    assert start <= parse_moment(text, now=NOW, end=True)


@pytest.mark.parametrize("text", ["3.4.", "10.11.", "32.13.", "32.1.", "1.45."])
def test_a_day_with_a_dot_is_one_day_or_none(text: str) -> None:
    """A day and a month without a year are refused where both orders are days, and where none is."""
    with pytest.raises(QueryError):
        parse_moment(text, now=NOW)


def test_a_day_and_a_month_that_can_be_read_one_way() -> None:
    """The 31st is no month, whatever stands first."""
    assert parse_moment("31.3.", now=NOW) == local("2026-03-31")
