"""Moments and periods as people write them, as aware times in UTC."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from jupyter_memory.errors import QueryError
from jupyter_memory.text.date_phrases import whole_phrase
from jupyter_memory.text.dates import CARDINAL, Period, cardinal, to_utc, wall_clock, whole, zone_of

_FORMS = (
    "Write a date (2025-03-31), a time (2025-03-31T14:30), a month, quarter or year (March 2025, Q3 2025, "
    "2025), or words such as yesterday, last week, 3 days ago."
)
# No time has more characters; dateparser's own patterns may take long for a longer text.
_LONGEST = 100
_WEEK = re.compile(r"\d{4}-?w\d{2}$")
_YEAR_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?$")
_LAST_HOURS = re.compile(rf"(?:the )?(?:last|past) ({CARDINAL}) hours?$")
_HOURS_AGO = re.compile(r"\b(?:hours?|minutes?|mins?|seconds?|secs?) ago$")
# 3/4/2025 and 3.4. are a day in March for one half of the world and in April for the other; 32.1. would be in 1932.
_EITHER_ORDER = re.compile(r"(\d{1,2})[/.-](\d{1,2})(?:[/.-]\d{2,4}|\.)?$")
_NO_DAY = re.compile(r"(?:3[2-9]|[4-9]\d)\.\d{1,2}\.$|\d{1,2}\.(?:3[2-9]|[4-9]\d)\.$")
_FISCAL = re.compile(r"\bfy[ -]?['’]?\d|\b(?:fiscal|financial)\b")
# dateparser reads "a" as a month, "-3" as March, 2026-13-01 as a January day, "last decade" as one year, 10^9 as a day,
# "½ day ago" as two days, "-5 days ago" as five and "H3 2025" as a month.
_NEVER = re.compile(r"\W*\w{0,2}$|\W*\d+$|\d{4}[-/.]|-|.*\bdecades?\b|.*\bh\d\b|.*[^a-z\d :,.'/+-]", re.ASCII)
_NO_TIME_OF_DAY = re.compile(r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d")


def parse_moment(text: str, *, now: datetime, end: bool = False) -> datetime:
    """Return the moment that a text names, in UTC: the start of a period, or its end; ``now`` is aware."""
    period = _read_period(text, now)
    return to_utc(period.end if end else period.start, zone_of(now))


def moment(value: str | date | datetime | None, now: datetime, *, end: bool = False) -> datetime | None:
    """Return an aware time in UTC. Naive times are local, and with ``end`` a day means its end."""
    if (converted := getattr(value, "to_pydatetime", None)) is not None:
        # A Timestamp is a datetime that cannot be converted like one. NaT, unequal to itself, is no time.
        value = converted(warn=False) if value == value else None
    if value is None:
        return None
    if isinstance(value, str):
        return parse_moment(value, now=now, end=end)
    if isinstance(value, datetime):
        try:
            return value.astimezone(UTC)
        except (OverflowError, OSError):
            raise QueryError(f"{value} has no place in the calendar of UTC, which ends with the year 9999.") from None
    if isinstance(value, date):
        return parse_moment(value.isoformat(), now=now, end=end)
    raise QueryError(f"A time is a string, a date or a datetime, not {type(value).__name__}.")


def last_moment(value: str | date | datetime | None, now: datetime) -> datetime | None:
    """Return the last moment of the time that a value names: of a day its end, of an exact time that time."""
    end = moment(value, now, end=True)
    return end if end is None or end == moment(value, now) else end - timedelta.resolution


def goes_on(time: str, words: str, now: datetime) -> bool:
    """Return whether the words after a time change it, as ``2025`` does after ``March``."""
    local = wall_clock(now)
    both = whole_phrase(f"{time} {words}", local)
    return both is not None and both != whole_phrase(time, local)


def parse_day(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the period that a text names as ``(since, until)`` in UTC; an exact time means its day."""
    zone = zone_of(now)
    start, end = _read_period(text, now)
    if start == end:
        start, end = whole("day", start if start.tzinfo is None else start.astimezone(zone).replace(tzinfo=None))
    return to_utc(start, zone), to_utc(end, zone)


def _read_period(text: str, now: datetime) -> Period:
    # Its ends are naive local times unless the text named a zone.
    if len(text) > _LONGEST:
        raise QueryError(unquoted=f"A time has up to {_LONGEST} characters; this one has {len(text):,}. {_FORMS}")
    phrase = " ".join(text.lower().split())
    if not phrase:
        raise QueryError(unquoted=f"The time is empty. {_FORMS}")
    if match := _EITHER_ORDER.match(phrase):
        first, second = int(match[1]), int(match[2])
        if first <= 12 and second <= 12 and first != second:
            raise _refused(text, "is one day in Europe and another in America. Write it as 2025-03-31.")
    if _FISCAL.search(phrase):
        told = "begins in a month that each organisation chooses. Write calendar dates, such as 2025-07 or Q3 2025."
        raise _refused(text, told)
    try:
        period = _phrase(phrase, now)
    except (ValueError, OverflowError):
        period = None
    if period is None or not 1000 <= period.start.year <= 9998:
        raise _refused(text, f"is not a time that can be read. {_FORMS}")
    return period


def _refused(text: str, why: str) -> QueryError:
    return QueryError(f"{text!r} {why}", unquoted=f"This {why}")


def _phrase(phrase: str, now: datetime) -> Period | None:
    iso = re.sub(" utc$", "z", phrase).upper()
    with suppress(ValueError):
        day = datetime.combine(date.fromisoformat(iso), time())
        return whole("week" if _WEEK.match(phrase) else "day", day)
    with suppress(ValueError):
        return Period(moment := datetime.fromisoformat(iso), moment)
    if match := _YEAR_MONTH.match(phrase):
        year, month = match.groups()
        return whole("month" if month else "year", datetime(int(year), int(month or 1), 1))  # noqa: DTZ001
    if match := _LAST_HOURS.match(phrase):
        return Period(now.astimezone(UTC) - timedelta(hours=cardinal(match[1]) or 0), now)
    if _NO_TIME_OF_DAY.match(phrase):
        return None
    local = wall_clock(now)
    if not _HOURS_AGO.search(phrase) and (named := whole_phrase(phrase, local)):
        return named
    if _NEVER.match(phrase) or _NO_DAY.match(phrase):
        return None

    # Loaded here because its import takes longer than a search.
    from dateparser.date import DateDataParser

    settings = {
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "RELATIVE_BASE": local,
        "RETURN_TIME_AS_PERIOD": True,
    }
    answer = DateDataParser(languages=["en"], settings=settings).get_date_data(phrase)
    moment = answer.date_obj
    if moment is None:
        return None
    if answer.period != "time":
        return whole(answer.period, moment)
    if _HOURS_AGO.search(phrase):
        moment = now.astimezone(UTC) - (local - moment)
    return Period(moment, moment)
