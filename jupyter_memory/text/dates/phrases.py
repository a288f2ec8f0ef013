"""Finds the time that a text names at a place, also relative to or within another: ``the week before May 8th``."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise

from jupyter_memory.text.dates import absolute, relative, yearly
from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import ordinal
from jupyter_memory.text.dates.relative import counted, latest
from jupyter_memory.text.dates.vocabulary import COUNT, DAY, DAYS, Named, Reader, naming, unit_of

# What surrounds a word that is part of a name, of code or of a number.
_NOT_BEFORE = re.compile(r"[\w.\-/\\@#:=$%']")
_NOT_AFTER = re.compile(r"[\w(/\\=$%]|[-.:]\w|[-:]\w")

_THIRDS = {
    "early": 0, "beginning": 0, "start": 0,
    "mid": 1, "middle": 1,
    "late": 2, "end": 2,
}  # fmt: skip
_A_DAY = timedelta(days=1)
_NTH = r"first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|last"
# Each comes before a time that another reader reads.
_BEFORE_A_TIME = (
    r"(?P<third>early|mid|late)[ -](?:in (?:the )?)?(?P<nth>)(?P<unit>)",
    r"(?:the )?(?P<third>beginning|start|middle|end) of (?:the )?(?P<nth>)(?P<unit>)",
    rf"(?:the )?(?P<third>)(?P<nth>{_NTH}) (?P<unit>weekend|week|half|quarter|{DAY}) (?:of|in) (?:the )?",
    r"(?:the )?(?P<third>)(?P<nth>)(?P<unit>week) (?:of|beginning|starting) (?:the )?",
)
# "The end of the year": what is not named is the present one.
_PRESENT = re.compile(r"(?:week|month|quarter|year)\b", re.IGNORECASE)


def named_at(text: str, place: int, local: datetime) -> Named | None:
    """Return the longest time that a text names at a place; ``local`` is the naive time now."""
    return None if place and _NOT_BEFORE.match(text, place - 1) else _longest(text, place, local)


def _longest(text: str, place: int, local: datetime) -> Named | None:
    best: Named | None = None
    for pattern, read in _readers():
        match = pattern.match(text, place)
        if match is None or (match[0][-1:] not in (" ", "-") and _NOT_AFTER.match(text, match.end())):
            continue
        try:
            named = read(match, local)
        except (ValueError, OverflowError):  # 30 February; before the calendar begins
            continue
        if named is not None and (best is None or named.end > best.end):
            best = named
    return best


def whole_phrase(phrase: str, local: datetime) -> Period | None:
    """Return the period that a phrase names, None unless all of it does."""
    bare = re.sub(r"^(?:in|on|at|over|during) (?=\w)", "", phrase, flags=re.IGNORECASE)
    named = named_at(bare, 0, local)
    return named.period if named is not None and named.end == len(bare) else None


def _beside(match: re.Match[str], local: datetime) -> Named | None:
    """Read "three days before May 8th", "the weekend before April 10"."""
    other = named_at(match.string, match.end(), local)
    if other is None:
        return None
    unit, sign = match["unit"].lower(), -1 if match["side"].lower() != "after" else 1
    edge = other.period.start if sign < 0 else other.period.end - timedelta(days=1)
    if unit == "weekend":
        saturday = latest(5, edge - timedelta(days=2)) if sign < 0 else latest(5, edge + timedelta(days=7))
        period = Period(whole("day", saturday).start, whole("day", saturday).start + timedelta(days=2))
    elif unit in DAYS:
        day = latest(DAYS[unit], edge - timedelta(days=1) if sign < 0 else edge + timedelta(days=7))
        period = whole("day", day)
    else:
        number = counted(match["count"])[0] if match["count"] else 1
        period = whole("day" if match["count"] else unit, shifted(edge, sign * number, unit))
    if unit == "week" and not match["count"] and sign < 0:
        # A week may begin on Monday, or be the seven days before.
        period = Period(period.start, other.period.start)
    named = naming(match, period, unit_of(period.end - period.start), min(0.8, other.sure))
    return replace(named, end=other.end, yearless=other.yearless)


def _part(match: re.Match[str], local: datetime) -> Named | None:
    """Read "early 2025", "mid-March", "the end of last month", "the start of the year"."""
    other = _longest(match.string, match.end(), local)
    return _part_of_present(match, local) if other is None else _part_of(match, other)


def _part_of_present(match: re.Match[str], local: datetime) -> Named | None:
    """Return a part of this year, or of the last where this year's has not begun; likewise of a month and a week."""
    present = _PRESENT.match(match.string, match.end()) if match[0].lower().endswith(" the ") else None
    if present is None or _NOT_AFTER.match(match.string, present.end()):
        return None
    unit = present[0].lower()
    wholes = (whole(unit, shifted(local, -back, unit)) for back in (0, 1))
    parts = (_part_of(match, naming(present, one, unit, 0.6, recurring=True)) for one in wholes)
    return next((part for part in parts if part is not None and part.period.start <= local), None)


def _weekday_of(match: re.Match[str], local: datetime) -> Named | None:
    """Read "Tuesday of last week", "Friday the week before last"."""
    other = _longest(match.string, match.end(), local)
    if other is None or other.period.end - other.period.start != timedelta(days=7) or other.unit != "week":
        return None
    day = latest(DAYS[match["day"].lower()], other.period.end - _A_DAY)
    return replace(naming(match, whole("day", day), "day", other.sure), end=other.end, yearless=other.yearless)


def _part_of(match: re.Match[str], other: Named) -> Named | None:
    """Return the part of another time that a match of ``_BEFORE_A_TIME`` names, None where the time has no such part.

    A third has whole days, and may begin and end earlier or later by a quarter of its length. The weeks of a month are
    counted from its first day; its last week is its last seven days.
    """
    start, end = other.period
    length = end - start
    early = late = timedelta(0)
    if match["third"]:
        if length <= _A_DAY:
            return None
        first = _THIRDS[match["third"].lower()]
        begins, ends = (whole("day", start + third * length / 3).start for third in (first, first + 1))
        period = Period(begins, ends)
        # A part never reaches beyond the whole.
        early, late = (timedelta(days=min(length / 12, beyond) // _A_DAY) for beyond in (begins - start, end - ends))
    elif not match["nth"]:
        # "The week of November" names no week.
        if length > _A_DAY:
            return None
        period = whole("week", start)
    else:
        nth = None if match["nth"].lower() == "last" else ordinal(match["nth"])
        pieces = _pieces(match["unit"].lower(), start, end, nth)
        number = len(pieces) if nth is None else nth
        if length <= timedelta(days=7) or not 1 <= number <= len(pieces):
            return None
        period = pieces[number - 1]
    named = naming(match, period, unit_of(period.end - period.start), min(0.75, other.sure), early=early, late=late)
    # "Early spring" needs a preposition as spring does; "early in spring" and "the week of Easter" do not.
    alone = not other.recurring or other.unit == "day" or " in " in match[0].lower()
    return replace(named, end=other.end, yearless=other.yearless, recurring=other.recurring, alone=alone)


def _pieces(unit: str, start: datetime, end: datetime, nth: int | None) -> list[Period]:
    """Return the weeks, weekends, weekdays, quarters or halves of a period; for its last week ``nth`` is None."""
    if unit == "week":
        return _weeks(start, end, nth)
    if unit == "half":
        return _halves(start, end)
    if unit == "quarter":
        quarters = [shifted(start, number, "quarter") for number in range(5)]
        return [Period(*ends) for ends in pairwise(quarters)] if quarters[-1] == end else []
    first = start + timedelta(days=(DAYS.get(unit, 5) - start.weekday()) % 7)
    days = 2 if unit == "weekend" else 1
    firsts = [first + number * timedelta(weeks=1) for number in range(-(-(end - first) // timedelta(weeks=1)))]
    return [Period(day, day + timedelta(days=days)) for day in firsts]


def _weeks(start: datetime, end: datetime, nth: int | None) -> list[Period]:
    """Return the weeks counted from the first day, or the last seven days if ``nth`` is None."""
    week = timedelta(days=7)
    if nth is None:
        return [Period(end - week, end)]
    firsts = [start + number * week for number in range(-(-(end - start) // week))]
    return [Period(first, min(first + week, end)) for first in firsts]


def _halves(start: datetime, end: datetime) -> list[Period]:
    """Return the two halves; a year and a quarter are halved by months."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 1:
        middle = whole("day", shifted(start, months // 2, "month") + (months % 2) * timedelta(days=15)).start
    else:
        middle = whole("day", start + (end - start) / 2).start
    return [Period(start, middle), Period(middle, end)]


_BESIDE: tuple[tuple[str, Reader], ...] = (
    (
        rf"(?:(?P<count>{COUNT}) (?P<unit>day|week|month|year)s?) (?P<side>before|after|prior to) "
        rf"(?!now\b|today\b)",
        _beside,
    ),
    (
        rf"(?:the |last ){{0,2}}(?P<count>)(?P<unit>day|week|weekend|month|{DAY}) (?P<side>before|after|prior to) ",
        _beside,
    ),
    (
        rf"(?P<day>{DAY}),? (?:of |in )?(?:the )?(?=last|past|previous|prior|this|week|\w+ weeks? (?:ago|back)\b)",
        _weekday_of,
    ),
)


@cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    # Compiled on first use, which takes longer than a search.
    of_a_part = ((pattern, _part) for pattern in _BEFORE_A_TIME)
    patterns = (*absolute.READERS, *relative.READERS, *yearly.READERS, *_BESIDE, *of_a_part)
    return tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in patterns)
