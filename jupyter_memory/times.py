"""Moments and periods as people write them, as aware times in UTC."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from jupyter_memory.errors import QueryError

_FORMS = (
    "Write a date (2025-03-31), a time (2025-03-31T14:30), a month, quarter or year (March 2025, Q3 2025, "
    "2025), or words such as yesterday, last week, 3 days ago."
)
_QUARTER = re.compile(r"(?:q([1-4])[ -]?(\d{4})|(\d{4})[ -]?q([1-4]))$")
_WEEK = re.compile(r"\d{4}-?w\d{2}$")
_YEAR_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?$")
_RELATIVE_QUARTER = re.compile(r"(this|last|previous) quarter$")
_ROLLING = re.compile(r"(?:the )?(?:last|past) (\w+) (hour|day|week|month|year)s?$")
_HOURS_AGO = re.compile(r"\b(?:hours?|minutes?|mins?|seconds?|secs?) ago$")
# 3/4/2025 is a day in March to one half of the world and in April to the other.
_EITHER_ORDER = re.compile(r"(\d{1,2})[/.-](\d{1,2})(?:[/.-]\d{2,4})?$")
# dateparser reads "a" as a month, "-3" as March, 2026-13-01 as a January day and "last decade" as one year.
_NEVER = re.compile(r"\W*\w{0,2}$|\W*\d+$|\d{4}[-/.]|.*\bdecades?\b")


class Period(NamedTuple):
    """A stretch of local wall-clock time ``start <= t < end``; an exact moment has ``start == end``."""

    start: datetime
    end: datetime


def parse_moment(text: str, *, now: datetime, end: bool = False) -> datetime:
    """Return the moment that a text names, in UTC: a period's start, or with ``end`` the moment it is over.

    Naive times are local. ``now`` must be aware.

    Raises:
        QueryError: the text cannot be read as a time, or could be read as two.
    """
    period = read_period(text, now)
    return (period.end if end else period.start).astimezone(UTC)


def parse_day(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the period that a text names as ``(since, until)`` in UTC; an exact time stands for its day.

    Raises:
        QueryError: the text cannot be read as a time, or could be read as two.
    """
    start, end = read_period(text, now)
    if start == end:
        start, end = _whole("day", start.astimezone().replace(tzinfo=None))
    return start.astimezone(UTC), end.astimezone(UTC)


def read_period(text: str, now: datetime) -> Period:
    """Return the period that a text names, its ends naive local time unless the text named a zone."""
    phrase = " ".join(text.lower().split())
    if not phrase:
        raise QueryError(f"The time is empty. {_FORMS}")
    # The wall clock is what calendars are cut by; the zone comes back when the ends are made aware.
    local = now.astimezone().replace(tzinfo=None)
    if match := _EITHER_ORDER.match(phrase):
        _refuse_two_readings(text, int(match[1]), int(match[2]))
    try:
        period = _iso(phrase) or _calendar(phrase) or _counted(phrase, now, local) or _phrase(phrase, now, local)
    except (ValueError, OverflowError):
        period = None
    if period is None or not 1000 <= period.start.year <= 9998:
        raise QueryError(f"{text!r} is not a time that can be read. {_FORMS}")
    return period


def _iso(phrase: str) -> Period | None:
    """Read an ISO date, week or time."""
    phrase = re.sub(" utc$", "z", phrase)
    try:
        day = date.fromisoformat(phrase.upper())
    except ValueError:
        try:
            moment = datetime.fromisoformat(phrase.upper())
        except ValueError:
            return None
        return Period(moment, moment)
    return _whole("week" if _WEEK.match(phrase) else "day", datetime(day.year, day.month, day.day))  # noqa: DTZ001


def _calendar(phrase: str) -> Period | None:
    """Read a year, a year and month, or a quarter of a year."""
    if match := _YEAR_MONTH.match(phrase):
        year, month = match.groups()
        return _whole("month" if month else "year", datetime(int(year), int(month or 1), 1))  # noqa: DTZ001
    if match := _QUARTER.match(phrase):
        quarter, year = (match[1], match[2]) if match[1] else (match[4], match[3])
        return _whole("quarter", datetime(int(year), 3 * int(quarter) - 2, 1))  # noqa: DTZ001
    return None


def _counted(phrase: str, now: datetime, local: datetime) -> Period | None:
    """Read what dateparser leaves out: ``last quarter``, ``last 7 days``."""
    if match := _RELATIVE_QUARTER.match(phrase):
        this = _whole("quarter", local)
        return this if match[1] == "this" else _whole("quarter", this.start - timedelta(days=1))
    if match := _ROLLING.match(phrase):
        return _rolling(match[1], match[2], now, local)
    return None


def _rolling(count: str, unit: str, now: datetime, local: datetime) -> Period | None:
    """Return the period from so many hours, or from the day so many days, weeks … ago, until now."""
    answer = _ask(f"{count} {unit}s ago", local)
    if answer is None:
        return None
    since = answer[0]
    if unit == "hour":
        return Period(_on_utc(since, now, local), now)
    if unit in ("month", "year"):
        # dateparser says the first of that month: the day is today's, or the month's last.
        since = since.replace(day=min(local.day, monthrange(since.year, since.month)[1]))
    return Period(_whole("day", since).start, local)


def _on_utc(moment: datetime, now: datetime, local: datetime) -> datetime:
    """Count hours on the clock of UTC: the local one may have been put back in between."""
    return now.astimezone(UTC) - (local - moment)


def _phrase(phrase: str, now: datetime, local: datetime) -> Period | None:
    """Read one English phrase with dateparser."""
    if _NEVER.match(phrase):
        return None
    answer = _ask(phrase, local)
    if answer is None:
        return None
    moment, period = answer
    if period != "time":
        return _whole(period, moment)
    if _HOURS_AGO.search(phrase):
        moment = _on_utc(moment, now, local)
    return Period(moment, moment)


def _refuse_two_readings(text: str, first: int, second: int) -> None:
    if first <= 12 and second <= 12 and first != second:
        raise QueryError(f"{text!r} is one day in Europe and another in America. Write it as 2025-03-31.")


def _ask(phrase: str, local: datetime) -> tuple[datetime, str] | None:
    """Return what dateparser makes of a phrase: a time, and the size of the period that it names."""
    # Loaded here because its import takes longer than a search.
    from dateparser.date import DateDataParser

    settings = {
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "RELATIVE_BASE": local,
        "RETURN_TIME_AS_PERIOD": True,
    }
    answer = DateDataParser(languages=["en"], settings=settings).get_date_data(phrase)
    return None if answer.date_obj is None else (answer.date_obj, answer.period)


def _whole(period: str, moment: datetime) -> Period:
    """Return the calendar day, week (from Monday), month, quarter or year around a local time."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week":
        monday = day - timedelta(days=day.weekday())
        return Period(monday, monday + timedelta(days=7))
    months = {"month": 1, "quarter": 3, "year": 12}.get(period)
    if months is None:
        return Period(day, day + timedelta(days=1))
    start = day.replace(day=1, month=(day.month - 1) // months * months + 1)
    after = start.month - 1 + months
    return Period(start, start.replace(year=start.year + after // 12, month=after % 12 + 1))
