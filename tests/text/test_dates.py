"""Times in plain English: moments and periods, phrases, seasons and holidays, and numbers in words."""

import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import zones
from blocked import run_without
from dateutil.easter import easter
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import QueryError
from jupyter_memory.text import CARDINAL, ORDINAL, cardinal, named_at, ordinal, parse_day, parse_moment

# A Saturday evening in Berlin, in winter time.
NOW = datetime(2026, 11, 21, 19, 0, tzinfo=UTC)
TIMES = tomllib.loads(Path(__file__).with_name("times.toml").read_text("utf-8"))


@pytest.fixture(autouse=True, params=["Europe/Berlin"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    with zones.zone(request.param):
        yield request.param


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


@pytest.mark.parametrize(("text", "since", "until"), TIMES["periods"])
def test_periods(text: str, since: str, until: str) -> None:
    """A date or phrase is its whole period, from its first moment to the first one after it."""
    assert parse_moment(text, now=NOW) == local(since)
    assert parse_moment(text, now=NOW, end=True) == local(until)
    assert parse_day(text, NOW) == (local(since), local(until))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-31T14:30", "2026-03-31T14:30"), ("2026-03-31 14:30", "2026-03-31T14:30"),
        ("2026-03-31t14:30:05+09:00", "2026-03-31T07:30:05"), ("2026-03-31 14:30 UTC", "2026-03-31T16:30"),
        ("now", "2026-11-21T20:00"), ("2 hours ago", "2026-11-21T18:00"), ("yesterday at 3pm", "2026-11-20T15:00"),
    ],
)  # fmt: skip
def test_exact_times(text: str, moment: str) -> None:
    """An exact time is taken as it is at both ends, naive ones as local; `on` means its day."""
    assert parse_moment(text, now=NOW) == parse_moment(text, now=NOW, end=True) == local(moment)
    since, until = parse_day(text, NOW)
    assert since == local(moment[:10])
    assert until - since == timedelta(days=1)


UNREADABLE = (
    "", "   ", "soon-ish", "λ", "500", "12", "a", "-3", "...", "2026-13-01", "2026-02-30", "last decade", "Q5 2025",
    "0000", "between march and may", "yesterday or so", "plot second order sun spots", "9999", "last foo days", "10^9",
    "½ day ago", "-5 days ago", "H3 2025", "H1", "2026-03-31T25:00",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        # The error names accepted forms.
        *((text, "2025-03-31") for text in UNREADABLE),
        # A date that Europe and America read differently is refused rather than guessed.
        *((text, "Europe") for text in ("03/04/2025", "3.4.2025", "1/2")),
        # A filter leaves out what lies outside, so it takes no year that begins in another month elsewhere.
        *((text, "each organisation") for text in ("FY2025", "Q3 FY26", "fiscal Q2 2026", "last fiscal year")),
        ("financial year 2025", "each organisation"),
        # A day and a month without a year, where both orders are days, and where none is.
        *((text, ".") for text in ("3.4.", "10.11.", "32.13.", "32.1.", "1.45.")),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        parse_moment(text, now=NOW)


def test_the_ends_of_a_period() -> None:
    """An end includes its evening, is in UTC, and heeds the clock change: a short day, and hours that are hours."""
    assert local("2026-03-31T23:59:59") < parse_moment("2026-03-31", now=NOW, end=True)
    assert [end.tzinfo for end in (parse_moment("yesterday", now=NOW), *parse_day("2 hours ago", NOW))] == [UTC] * 3
    since, until = parse_day("2026-03-29", NOW)
    assert until - since == timedelta(hours=23)
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


def test_a_named_zone_is_the_zone_of_the_question() -> None:
    """A time that was given in a named zone is asked there: its yesterday, and its clock of last summer."""
    assert parse_moment("yesterday", now=NOW.astimezone()) == parse_moment("yesterday", now=NOW)
    tokyo = ZoneInfo("Asia/Tokyo")
    now = NOW.astimezone(tokyo)
    assert parse_day("yesterday", now)[1] == datetime(2026, 11, 22, tzinfo=tokyo)
    new_york = NOW.astimezone(ZoneInfo("America/New_York"))
    assert parse_moment("2026-07-01", now=new_york) == datetime(2026, 7, 1, 4, tzinfo=UTC)
    assert parse_moment("yesterday at 3pm", now=new_york) == datetime(2026, 11, 20, 20, tzinfo=UTC)


@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    try:
        start = parse_moment(text, now=NOW)
    except QueryError:
        return
    assert start <= parse_moment(text, now=NOW, end=True)


# A Saturday evening.
SATURDAY = datetime(2026, 11, 21, 20)
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
    named = named_at(text, 0, now)
    return named.period if named is not None and named.end == len(text) else None


@given(now=MOMENTS)
def test_the_past_lies_in_the_past(now):
    """At any moment what a phrase names begins before it ends, and a past time is read and began before now."""
    for text in PAST:
        period = whole_phrase(text, now)
        assert period is not None, text
        assert period.start < period.end, text
        assert period.start <= now, text
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
    for unit in ("week", "month", "quarter", "year"):
        assert whole_phrase(f"the {unit} before last", now).end == whole_phrase(f"last {unit}", now).start
    weekends = [whole_phrase(text, now).start for text in ("last weekend", "two weekends ago", "3 weekends ago")]
    assert weekends == [weekends[0] - timedelta(weeks=back) for back in range(3)]
    assert whole_phrase("the weekend before last", now).start == weekends[1]


@pytest.mark.parametrize(("text", "since", "until"), TIMES["phrases"])
def test_phrases(text, since, until):
    """Each phrase means this period when it is written on a Saturday evening in November."""
    assert whole_phrase(text, SATURDAY) == (datetime.fromisoformat(since), datetime.fromisoformat(until))


@pytest.mark.parametrize("text", TIMES["left"])
def test_what_has_no_ends_is_left(text):
    assert whole_phrase(text, SATURDAY) is None


@pytest.mark.parametrize(
    ("text", "now", "since"),
    [
        ("this winter", datetime(2027, 1, 10), "2026-12-01"), ("this winter", datetime(2027, 4, 1), "2026-12-01"),
        ("this winter", SATURDAY, None), ("last winter", datetime(2027, 1, 10), "2025-12-01"),
        ("last summer", datetime(2026, 7, 1), "2025-06-01"), ("this summer", datetime(2026, 2, 1), None),
        ("this Christmas", SATURDAY, None), ("this Christmas", datetime(2026, 12, 27), "2026-12-25"),
        ("last Christmas", datetime(2026, 12, 25, 12), "2025-12-25"),
        ("this December", SATURDAY, None), ("last May", datetime(2026, 5, 20), "2025-05-01"),
        # The end of the year is that of last year until this year's begins.
        ("the end of the year", datetime(2026, 3, 2), "2025-09-01"), ("the end of the year", SATURDAY, "2026-09-01"),
    ],
)  # fmt: skip
def test_this_and_last(text: str, now: datetime, since: str | None) -> None:
    """The last one is over; this one is of this year or was just over, and one that is to come names no past time."""
    period = whole_phrase(text, now)
    assert (period and f"{period.start:%Y-%m-%d}") == since


def test_easter_is_that_of_each_year() -> None:
    """Easter has another date every year, in spans across years too."""
    found = [whole_phrase(f"Easter {year}", SATURDAY).start.date() for year in range(1990, 2050)]
    assert found == [easter(year) for year in range(1990, 2050)]


def test_dateutil_is_loaded_for_easter_only() -> None:
    """No other phrase waits for the import of dateutil."""
    code = (
        "from datetime import datetime; from jupyter_memory.text import named_at; "
        "now = datetime(2026, 11, 21); assert named_at('last Christmas', 0, now); print('dateutil' in sys.modules); "
        "assert named_at('last Easter', 0, now); print('dateutil' in sys.modules)"
    )
    assert run_without([], code).split() == ["False", "True"]


TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]


def spelled(number, joint="-"):
    if number < 20:
        return SMALL[number]
    if number < 100:
        return TENS[number // 10] + (joint + SMALL[number % 10] if number % 10 else "")
    rest = f" and {spelled(number % 100, joint)}" if number % 100 else ""
    return f"{SMALL[number // 100]} hundred{rest}"


@given(number=st.integers(1, 999), joint=st.sampled_from(" -"))
def test_every_number_comes_back(number, joint):
    for text in (str(number), spelled(number, joint)):
        assert cardinal(text) == number and re.fullmatch(CARDINAL, text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("first", 1), ("second", 2), ("twelfth", 12), ("twentieth", 20), ("thirty-first", 31), ("22nd", 22),
        ("103rd", 103), *((text, None) for text in ("", "λ", "hundredweight", "twenty foo", "secondly", "-3")),
    ],
)  # fmt: skip
def test_places_in_a_row(text, number):
    assert ordinal(text) == number and bool(re.fullmatch(ORDINAL, text)) == (number is not None)
    assert number or cardinal(text) is None
