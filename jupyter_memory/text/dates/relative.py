"""Readers of times relative to now: ``yesterday``, ``three weeks ago``, ``last Tuesday``."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import cardinal
from jupyter_memory.text.dates.vocabulary import COUNT, DAY, DAYS, LAST, UNIT, Named, Reader, naming, unit_of

# The hours when a part of the day begins and ends. What people call morning may end an hour later, hence ``_SOFT``.
_PARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_SOFT = timedelta(hours=1)
_ROLLED = "hour|day|week|fortnight|month|quarter|year"
_FUZZY = {"couple": (2, 3), "few": (2, 5), "several": (3, 8)}


def _today(match: re.Match[str], local: datetime) -> Named | None:
    words = " ".join(match[0].lower().split())
    days = {"yesterday": 1, "the day before yesterday": 2, "day before yesterday": 2}.get(words, 0)
    return naming(match, whole("day", local - timedelta(days=days)), "day", 0.95)


def _part_of_day(match: re.Match[str], local: datetime) -> Named | None:
    """Read "this morning", "yesterday evening", "last night", "tonight", "Monday morning"."""
    word, day = (match["part"] or "night").lower(), local
    which = (match["which"] or "").lower()
    if which in ("yesterday", "last"):
        day = local - timedelta(days=1)
    elif which in DAYS:
        day = latest(DAYS[which], local)
    midnight = whole("day", day).start
    begin, end = _PARTS[word]
    period = Period(midnight + timedelta(hours=begin), midnight + timedelta(hours=end))
    # "friday night lights"
    return naming(match, period, "day", 0.85, alone=which not in DAYS, early=_SOFT, late=_SOFT)


def _earlier(match: re.Match[str], local: datetime) -> Named | None:
    """Read "earlier today", which leaves out the last hour."""
    today = whole("day", local)
    if match["period"].lower() in ("week", "month", "year"):
        begun = whole(match["period"].lower(), local).start
        return naming(match, Period(begun, max(today.start, begun + timedelta(days=1))), match["period"].lower(), 0.75)
    latest = local if match["period"].lower() == "today" else min(local, today.start + timedelta(hours=13))
    until = min(latest, max(local - _SOFT, today.start + timedelta(minutes=1)))
    return naming(match, Period(today.start, until), "day", 0.8)


def _ago(match: re.Match[str], local: datetime) -> Named | None:
    unit, (low, high) = match["unit"].lower(), counted(match["count"])
    if unit in ("hour", "minute"):
        then = local - timedelta(**{unit + "s": low})
        slack = timedelta(**{unit + "s": max(1, high - low)})
        return naming(match, Period(then - slack, then + slack), "day", 0.8)
    first, last = (whole(unit, shifted(local, -count, unit)) for count in (high, low))
    sure = 0.65 if high > low else {"day": 0.95, "week": 0.8, "month": 0.85}.get(unit, 0.75)
    unit = "year" if unit == "quarter" else unit
    named = naming(match, Period(first.start, last.end), unit, sure)
    if unit == "day" and low == high > 1:
        # Someone who counts 24 hours a day gets one day less than someone who looks at the calendar.
        named = replace(named, early=timedelta(days=1))
    return named if high > low else replace(named, target=shifted(local, -low, match["unit"].lower()))


def _half_ago(match: re.Match[str], local: datetime) -> Named | None:
    then = shifted(local, -6, "month")
    return replace(naming(match, whole("month", then), "month", 0.65), target=then)


def _fortnight_ago(match: re.Match[str], local: datetime) -> Named | None:
    then = shifted(local, -2, "week")
    return replace(naming(match, whole("week", then), "week", 0.8), target=then)


def _rolling(match: re.Match[str], local: datetime) -> Named | None:
    """Read "last 7 days", "the past month": until now, from the beginning of that day on."""
    unit = match["unit"].lower()
    count = counted(match["count"])[1] if match["count"] else 1
    if unit == "hour":
        return naming(match, Period(local - timedelta(hours=count), local), "day", 0.85, counted=True)
    if unit == "fortnight":
        unit, count = "week", 2 * count
    since = whole("day", shifted(local, -count, unit)).start
    length = count * {"day": 1, "week": 7, "month": 30, "quarter": 90, "year": 365}[unit]
    return naming(match, Period(since, local), unit_of(timedelta(days=length)), 0.85, counted=True)


def _calendar_unit(match: re.Match[str], local: datetime) -> Named | None:
    """Read "this week", "last month", "the previous year"."""
    unit = match["unit"].lower()
    back = 0 if match["which"].lower() == "this" else -1
    named = naming(match, whole(unit, shifted(local, back, unit)), unit.replace("quarter", "year"), 0.9, counted=True)
    # Few people call yesterday "last day", but many write "the last day of the month".
    return None if unit == "day" else named


def _weekday(match: re.Match[str], local: datetime) -> Named | None:
    which, wanted = (match["which"] or "").lower(), DAYS[match["day"].lower()]
    if which == "this":
        return naming(match, whole("day", latest(wanted, local)), "day", 0.8)
    # "last Monday" on a Monday is a week ago, "on Monday" may be today.
    day = latest(wanted, local - timedelta(days=1) if which else local)
    return naming(match, whole("day", day), "day", 0.9 if which else 0.85, alone=bool(which))


def _weekend(match: re.Match[str], local: datetime) -> Named | None:
    saturday = whole("day", latest(5, local)).start
    if match["which"].lower() in ("last", "past", "previous", "this past") and local.weekday() >= 5:
        saturday -= timedelta(days=7)
    return naming(match, Period(saturday, saturday + timedelta(days=2)), "day", 0.8, alone=match["which"] != "the")


def latest(weekday: int, local: datetime) -> datetime:
    """Return the latest day with this weekday, which may be today; Monday is 0."""
    return local - timedelta(days=(local.weekday() - weekday) % 7)


def counted(text: str) -> tuple[int, int]:
    """Return the least and the most that a count means: ``a few`` is not one number."""
    words = text.lower()
    for word, (low, high) in _FUZZY.items():
        if word in words:
            return low, high
    number = cardinal(words) or 0
    return number, number


READERS: tuple[tuple[str, Reader], ...] = (
    (r"today|yesterday|(?:the )?day before yesterday", _today),
    (rf"(?P<which>this|yesterday|last|{DAY}) (?P<part>morning|afternoon|evening|night)", _part_of_day),
    (r"(?P<which>)tonight(?P<part>)", _part_of_day),
    (r"earlier (?:(?:this |in the )(?P<period>morning|week|month|year))", _earlier),
    (r"earlier (?P<period>today)", _earlier),
    (rf"(?P<count>{COUNT}) (?P<unit>minute|hour|day|week|month|quarter|year)s? (?:ago|back|earlier)\b", _ago),
    (r"half a year ago", _half_ago),
    (r"(?:a|one) fortnight (?:ago|back)\b", _fortnight_ago),
    (
        rf"(?:the |these |this )?(?:last|past) (?P<count>{COUNT}) (?P<unit>{_ROLLED})s?\b",
        _rolling,
    ),
    (
        rf"(?:(?:the|this) (?:last|past)|this previous|past) (?P<unit>{_ROLLED})\b(?P<count>)",
        _rolling,
    ),
    (rf"(?P<which>this|the (?:previous|prior)|last|previous|prior) (?P<unit>{UNIT})\b", _calendar_unit),
    (rf"(?:(?P<which>this|this past|{LAST}) )?(?P<day>{DAY})", _weekday),
    (r"(?P<which>this past|this|the|last|past|previous) weekend\b", _weekend),
)
