"""Readers of times relative to now: ``yesterday``, ``three weeks ago``, ``last Tuesday``."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import cardinal
from jupyter_memory.text.dates.vocabulary import (
    COUNT,
    DAY,
    DAY_NAMES,
    DAYS,
    FISCAL_SURE,
    LAST,
    UNIT,
    Named,
    Reader,
    naming,
    unit_of,
)

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
    if (unit := match["period"].lower()) in ("week", "month", "quarter", "year"):
        begun = whole(unit, local).start
        return naming(match, Period(begun, max(today.start, begun + timedelta(days=1))), _exactness(unit), 0.75)
    latest = local if unit == "today" else min(local, today.start + timedelta(hours=13))
    # Just after midnight a minute is left.
    until = max(min(latest, local - _SOFT), today.start + timedelta(minutes=1))
    return naming(match, Period(today.start, until), "day", 0.8)


def _later(match: re.Match[str], local: datetime) -> Named | None:
    """Read "later this week": what is left of it."""
    unit = match["period"].lower().replace("today", "day").removeprefix("this ")
    return naming(match, Period(local, whole(unit, local).end), _exactness(unit), 0.7)


def _ago(match: re.Match[str], local: datetime) -> Named | None:
    unit, (low, high) = match["unit"].lower(), counted(match["count"])
    if unit in ("hour", "minute"):
        then = local - timedelta(**{unit + "s": low})
        slack = timedelta(**{unit + "s": max(1, high - low)})
        return naming(match, Period(then - slack, then + slack), "day", 0.8)
    first, last = (whole(unit, shifted(local, -count, unit)) for count in (high, low))
    sure = 0.65 if high > low else {"day": 0.95, "week": 0.8, "month": 0.85}.get(unit, 0.75)
    named = naming(match, Period(first.start, last.end), _exactness(unit), sure)
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


def _ago_today(match: re.Match[str], local: datetime) -> Named | None:
    """Read "a year ago today", "two weeks ago yesterday"."""
    day = local - timedelta(days=match["day"].lower() == "yesterday")
    day = shifted(day, -counted(match["count"])[0], match["unit"].lower())
    return naming(match, whole("day", day), "day", 0.95)


def _back_then(match: re.Match[str], local: datetime) -> Named | None:
    """Read "the week before last", "two weekends ago", "three Fridays ago", "a few nights ago"."""
    unit, (low, high) = match["unit"].lower(), counted(match["count"]) if match["count"] else (2, 2)
    if not low:
        return None
    period = Period(_back(unit, high, local).start, _back(unit, low, local).end)
    soft = _SOFT if unit == "night" else timedelta(0)
    sure = 0.65 if high > low else 0.9
    exactly = unit_of(period.end - period.start) if high > low else _exactness(unit)
    return naming(match, period, exactly, sure, counted=True, early=soft, late=soft)


def _back(unit: str, count: int, local: datetime) -> Period:
    """Return the weekend, night, weekday, week, month, quarter or year that is so many before the present one."""
    if unit == "weekend":
        # The last weekend is over: it ends a week before one that has begun.
        start = latest(5, local - timedelta(days=2)) - timedelta(weeks=count - 1)
        return Period(whole("day", start).start, whole("day", start + timedelta(days=1)).end)
    if unit == "night":
        midnight = whole("day", local - timedelta(days=count)).start
        begin, end = _PARTS["night"]
        return Period(midnight + timedelta(hours=begin), midnight + timedelta(hours=end))
    if unit in DAYS:
        return whole("day", latest(DAYS[unit], local - timedelta(days=1)) - timedelta(weeks=count - 1))
    return whole(unit, shifted(local, -count, unit))


def _the_other(match: re.Match[str], local: datetime) -> Named | None:
    """Read "the other day": one of the last seven, or of the seven before; "the other week": one of the last three."""
    unit, today = match["unit"].lower(), whole("day", local).start
    if unit in ("week", "weekend", "month"):
        unit = unit.removesuffix("end")
        period = Period(whole(unit, shifted(local, -3, unit)).start, whole(unit, local).start)
        return naming(match, period, unit_of(period.end - period.start), 0.5, counted=True)
    week = timedelta(days=7)
    return naming(match, Period(today - week, today), "week", 0.6, counted=True, early=week)


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
    """Read "this week", "last month", "the previous year", "last fiscal year"."""
    unit = match["unit"].lower()
    back = 0 if match["which"].lower() == "this" else -1
    sure = FISCAL_SURE if match["fiscal"] else 0.9
    named = naming(match, whole(unit, shifted(local, back, unit)), _exactness(unit), sure, counted=True)
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
    last = match["which"].lower() not in ("this", "the")
    # "Over the weekend" may be the one that has begun.
    period = _back("weekend", 1, local if last else local + timedelta(days=2))
    return naming(match, period, "day", 0.8, alone=match["which"] != "the")


def _exactness(unit: str) -> str:
    """Return how exactly a time is meant that is told in some unit."""
    return {"quarter": "year", "week": "week", "month": "month", "year": "year"}.get(unit, "day")


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
    (r"earlier (?:(?:this |in the )(?P<period>morning|week|month|quarter|year))", _earlier),
    (r"earlier (?P<period>today)", _earlier),
    (r"later (?P<period>today|this (?:week|month|quarter|year))\b", _later),
    (rf"(?P<count>{COUNT}) (?P<unit>minute|hour|day|week|month|quarter|year)s? (?:ago|back|earlier)\b", _ago),
    (rf"(?P<count>{COUNT}) (?P<unit>week|month|year)s? ago (?P<day>today|yesterday)\b", _ago_today),
    (rf"(?P<count>{COUNT}) (?P<unit>weekend|night|{'|'.join(DAY_NAMES)})s? (?:ago|back)\b", _back_then),
    (rf"(?:the )?(?P<count>)(?P<unit>weekend|night|week|month|quarter|year|{DAY}) before last\b", _back_then),
    (r"the other (?P<unit>day|morning|afternoon|evening|night|weekend|week|month)\b", _the_other),
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
    (
        rf"(?P<which>this|the (?:previous|prior)|last|previous|prior) "
        rf"(?P<fiscal>(?:fiscal|financial) )?(?P<unit>{UNIT})\b",
        _calendar_unit,
    ),
    (rf"(?:(?P<which>this|this past|{LAST}) )?(?P<day>{DAY})", _weekday),
    (r"(?P<which>this past|this|the|last|past|previous) weekend\b", _weekend),
)
