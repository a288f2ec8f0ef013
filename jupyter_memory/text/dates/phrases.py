"""Finds the time that a text names at a place, also relative to or within another: ``the week before May 8th``."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

from jupyter_memory.text.dates import absolute, relative
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
    r"(?P<third>early|mid|late)[ -](?:in )?(?P<nth>)(?P<unit>)",
    r"(?:the )?(?P<third>beginning|start|middle|end) of (?:the )?(?P<nth>)(?P<unit>)",
    rf"(?:the )?(?P<third>)(?P<nth>{_NTH}) (?P<unit>week|half) (?:of|in) (?:the )?",
    r"(?:the )?(?P<third>)(?P<nth>)(?P<unit>week) (?:of|beginning|starting) (?:the )?",
)


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
    bare = re.sub(r"^(?:in|on|during) (?=\w)", "", phrase, flags=re.IGNORECASE)
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
    """Read "early 2025", "mid-March", "the end of last month"."""
    other = _longest(match.string, match.end(), local)
    return None if other is None else _part_of(match, other)


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
        pieces = _weeks(start, end, nth) if match["unit"].lower() == "week" else _halves(start, end)
        number = len(pieces) if nth is None else nth
        if length <= timedelta(days=7) or number > len(pieces):
            return None
        period = pieces[number - 1]
    named = naming(match, period, unit_of(period.end - period.start), min(0.75, other.sure), early=early, late=late)
    return replace(named, end=other.end, yearless=other.yearless)


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
        rf"(?:the |last )+(?P<count>)(?P<unit>day|week|weekend|month|{DAY}) (?P<side>before|after|prior to) ",
        _beside,
    ),
)


@cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    # Compiled on first use, which takes longer than a search.
    of_a_part = ((pattern, _part) for pattern in _BEFORE_A_TIME)
    patterns = (*absolute.READERS, *relative.READERS, *_BESIDE, *of_a_part)
    return tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in patterns)
