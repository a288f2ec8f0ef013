"""Periods, ages, and the words and numbers that times are made of."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

# Spelled out here, since strftime speaks the language of the machine.
_MONTH_WORDS = "january february march april may june july august september october november december"
MONTH_NAMES = _MONTH_WORDS.split()
DAY_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
# The time of what was written nobody knows when.
UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


class Period(NamedTuple):
    """A stretch of local wall-clock time ``start <= t < end``; an exact moment has ``start == end``."""

    start: datetime
    end: datetime


def zone_of(now: datetime) -> tzinfo | None:
    """Return the named zone that a moment is given in, None for this machine's own."""
    from zoneinfo import ZoneInfo  # names of days are read where no time is

    # An offset says nothing about last summer's clock, and stored moments are in UTC: both stand for this machine's.
    return now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else None


def wall_clock(now: datetime) -> datetime:
    """Return what the clocks show at an aware moment, as a naive time."""
    return now.astimezone(zone_of(now)).replace(tzinfo=None)


def to_utc(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in UTC; a naive one is local in the zone (None: this machine's)."""
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)


def whole(unit: str, moment: datetime) -> Period:
    """Return the calendar day, week (from Monday), month, quarter or year around a local time."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return Period(monday, monday + timedelta(days=7))
    months = _MONTHS_IN.get(unit)
    if months is None:
        return Period(day, day + timedelta(days=1))
    start = day.replace(day=1, month=(day.month - 1) // months * months + 1)
    return Period(start, shifted(start, months, "month"))


def shifted(moment: datetime, count: int, unit: str) -> datetime:
    """Return the local time so many units later, or earlier if negative; a month's 31st becomes its last day."""
    months = _MONTHS_IN.get(unit)
    if months is None:
        return moment + timedelta(**{f"{unit}s": count})
    year, month = divmod(moment.year * 12 + moment.month - 1 + count * months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# From so many of a unit on, the next larger one is told.
_DAYS, _WEEKS, _MONTHS = 14, 9, 24


def age(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was; of one that is still to come, its day, of ``UNKNOWN`` nothing.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> [age(noon.replace(day=day), noon) for day in (21, 20, 18, 1)]
    ['just now', 'yesterday', '3 days ago', '2 weeks ago']
    >>> age(noon.replace(month=3), noon), age(noon.replace(year=2023), noon), age(noon.replace(hour=9), noon)
    ('8 months ago', '3 years ago', '3 hours ago')
    """
    seconds = (now - moment).total_seconds()
    if seconds < -_DAY or moment == UNKNOWN:
        return iso_day(moment)
    if seconds < _HOUR:
        return _ago(int(seconds // _MINUTE), "minute") if seconds >= _MINUTE else "just now"
    days = (now.astimezone().date() - moment.astimezone().date()).days
    if days == 0 or seconds < 6 * _HOUR:
        return _ago(int(seconds // _HOUR), "hour")
    weeks, months = days // 7, int(days / 30.44)
    if days == 1:
        return "yesterday"
    if days < _DAYS:
        return _ago(days, "day")
    if weeks < _WEEKS:
        return _ago(weeks, "week")
    return _ago(months, "month") if months < _MONTHS else _ago(int(days / 365.24), "year")


def iso_day(moment: datetime) -> str:
    """Return the local day of a moment as ``2026-11-21``, of ``UNKNOWN`` nothing."""
    return "" if moment == UNKNOWN else moment.astimezone().date().isoformat()


def _ago(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)} ago"


# Numbers as English spells them: ``twenty-two``, ``a hundred and sixty-seven``, ``thirtieth``.
_SMALL_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_SMALL = _SMALL_WORDS.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_IRREGULAR = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
    "twelfth": "twelve",
}  # fmt: skip
_ORDINALS = _IRREGULAR | {
    (word[:-1] + "ieth" if word in _TENS else word + "th"): word
    for word in _VALUES
    if word not in _IRREGULAR.values() and word != "zero"
}
_ONE_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_UNDER_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_SMALL[1:10])}))?|{_ONE_WORD})"
# Patterns for what ``cardinal`` and ``ordinal`` read in lower-case text; neither has groups.
CARDINAL = (
    rf"(?:\d{{1,4}}|(?:a|{'|'.join(_SMALL[1:10])}) hundred(?: and {_UNDER_100}| {_UNDER_100})?|{_UNDER_100}|an?)"
    r"(?![\w.,]\w)\b"
)
ORDINAL = (
    rf"(?:\d{{1,3}}(?:st|nd|rd|th)|(?:(?:{'|'.join(_TENS)})[ -])?"
    rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))}))\b"
)


def cardinal(text: str) -> int | None:
    """Return the number that a text spells, None where it spells none."""
    text = text.strip().lower()
    if text.isascii() and text.isdigit():
        return int(text)
    if text in ("a", "an"):
        return 1
    hundreds, hundred, rest = text.rpartition("hundred")
    words = [word for word in re.split(r"[ -]+", rest.strip().removeprefix("and ")) if word]
    if any(word not in _VALUES for word in words) or not (words or hundred):
        return None
    high = cardinal(hundreds) if hundred else 0
    return None if high is None else 100 * high + sum(_VALUES[word] for word in words)


def ordinal(text: str) -> int | None:
    """Return the number that an ordinal names, None where a text is none."""
    text = text.strip().lower()
    if match := re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)", text):
        return int(match[1])
    *before, last = re.split(r"[ -]", text)
    return cardinal(" ".join([*before, _ORDINALS[last]])) if last in _ORDINALS else None
