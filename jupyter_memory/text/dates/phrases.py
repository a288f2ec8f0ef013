"""Times as English names them, each read at its place in a text: ``May 8th``, ``last Tuesday``, ``three weeks ago``."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

from jupyter_memory.text.dates import absolute, parts, relative
from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.relative import counted, latest
from jupyter_memory.text.dates.vocabulary import COUNT, DAY, DAYS, Named, Reader, naming, unit_of

# What stands around a word that is part of a name, of code or of a number.
_NOT_BEFORE = re.compile(r"[\w.\-/\\@#:=$%']")
_NOT_AFTER = re.compile(r"[\w(/\\=$%]|[-.:]\w|[-:]\w")


def named_at(text: str, place: int, local: datetime) -> Named | None:
    """Return the longest time that is named from a place of a text on; ``local`` is the naive time now."""
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
        # Whose week begins on a Monday, and whose is the seven days before.
        period = Period(period.start, other.period.start)
    named = naming(match, period, unit_of(period.end - period.start), min(0.8, other.sure))
    return replace(named, end=other.end, yearless=other.yearless)


def _part(match: re.Match[str], local: datetime) -> Named | None:
    """Read "early 2025", "mid-March", "the end of last month"."""
    other = _longest(match.string, match.end(), local)
    return None if other is None else parts.part_of(match, other)


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
    # Not before a text may name a time: they take longer to compile than a search.
    of_a_part = ((pattern, _part) for pattern in parts.BEFORE_A_TIME)
    patterns = (*absolute.READERS, *relative.READERS, *_BESIDE, *of_a_part)
    return tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in patterns)
