"""Readers of a part of a longer time: ``early 2025``, ``the end of last month``, ``the week of November 9``."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import ordinal
from jupyter_memory.text.dates.vocabulary import Named, naming, unit_of

_THIRDS = {
    "early": 0, "beginning": 0, "start": 0,
    "mid": 1, "middle": 1,
    "late": 2, "end": 2,
}  # fmt: skip
_A_DAY = timedelta(days=1)
_NTH = r"first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|last"
# Each goes before a time that another reader reads.
BEFORE_A_TIME = (
    r"(?P<third>early|mid|late)[ -](?:in )?(?P<nth>)(?P<unit>)",
    r"(?:the )?(?P<third>beginning|start|middle|end) of (?:the )?(?P<nth>)(?P<unit>)",
    rf"(?:the )?(?P<third>)(?P<nth>{_NTH}) (?P<unit>week|half) (?:of|in) (?:the )?",
    r"(?:the )?(?P<third>)(?P<nth>)(?P<unit>week) (?:of|beginning|starting) (?:the )?",
)


def part_of(match: re.Match[str], other: Named) -> Named | None:
    """Return the part of another time that a match of one of ``BEFORE_A_TIME`` names, None where it has none.

    A third is of whole days, and may begin and end a quarter of itself earlier or later. The weeks of a month are
    counted from its first day, the last is its last seven days.
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
        # No part of a thing reaches beyond it.
        early, late = (timedelta(days=min(length / 12, beyond) // _A_DAY) for beyond in (begins - start, end - ends))
    elif not match["nth"]:
        # "The week of November" is none.
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
    """Return the weeks from a first day on, or for no number the one that ends with the last."""
    week = timedelta(days=7)
    if nth is None:
        return [Period(end - week, end)]
    firsts = [start + number * week for number in range(-(-(end - start) // week))]
    return [Period(first, min(first + week, end)) for first in firsts]


def _halves(start: datetime, end: datetime) -> list[Period]:
    """Return the two halves, those of a year and of a quarter by the months."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 1:
        middle = whole("day", shifted(start, months // 2, "month") + (months % 2) * timedelta(days=15)).start
    else:
        middle = whole("day", start + (end - start) / 2).start
    return [Period(start, middle), Period(middle, end)]
