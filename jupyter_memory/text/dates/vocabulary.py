"""What the readers of dates share: words for days, months and counts, their patterns, and the time that they name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jupyter_memory.text.dates.calendars import Period, shifted
from jupyter_memory.text.dates.numerals import CARDINAL, ORDINAL

_MONTH_WORDS = "january february march april may june july august september october november december"
_MONTH_NAMES = _MONTH_WORDS.split()
DAY_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
DAYS = {name: number for number, name in enumerate(DAY_NAMES)} | {
    short: number for number, shorts in enumerate(("mon", "tue tues", "wed", "thu thur thurs", "fri"))
    for short in shorts.split()
}  # fmt: skip
MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
DAY = rf"(?:{'|'.join(sorted(DAYS, key=len, reverse=True))})\b"
YEAR = r"(?:19[7-9]\d|20\d\d)(?![\d:]|[.,]\d)"
DATE = rf"(?:(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\w%:]|[.,]\d)|{ORDINAL})"
UNIT = r"(?:day|week|month|quarter|year)"
_FEW = r"(?:a )?(?:couple(?: of)?|few|several)"
COUNT = rf"(?:{_FEW}|{CARDINAL})"
LAST = r"(?:last|past|previous|prior)"
WHICH = rf"(?:(?:the |this )?{LAST}|this)"
# Fiscal years begin in other months than January too, so a reading by the calendar is a guess.
FISCAL_SURE = 0.4


@dataclass(frozen=True, slots=True)
class Named:
    """A time that is named at ``text[start:end]``, in local wall-clock time.

    ``target`` is the moment meant in the middle of the ``period``; ``unit`` (day, week, month, year) how exactly it is
    meant. ``early`` and ``late`` are by how much the ends may be off. ``alone`` says that the words are a time even
    without a preposition before them, ``yearless`` that the year was chosen, ``counted`` that a noun after it would
    change what it means ("last month number"), ``recurring`` that the words may mean every one ("demand in winter").
    ``of`` returns the period in another year if it is not at the same date, as for Easter.
    """

    start: int
    end: int
    period: Period
    target: datetime
    unit: str
    sure: float
    alone: bool = True
    yearless: bool = False
    counted: bool = False
    recurring: bool = False
    of: Callable[[int], Period] | None = None
    early: timedelta = timedelta(0)
    late: timedelta = timedelta(0)

    def years_later(self, years: int) -> Named:
        """Return the same time of another year."""
        if self.of is not None:
            start, end = self.of(self.period.start.year + years)
            return replace(self, period=Period(start, end), target=start + (end - start) / 2)
        start, end = (shifted(moment, years, "year") for moment in self.period)
        return replace(self, period=Period(start, end), target=shifted(self.target, years, "year"))


Reader = Callable[[re.Match[str], datetime], Named | None]


def naming(match: re.Match[str], period: Period, unit: str, sure: float, **more: object) -> Named:
    """Return the time that a match names; ``more`` are the other fields of ``Named``."""
    middle = period.start + (period.end - period.start) / 2
    return Named(match.start(), match.end(), period, target=middle, unit=unit, sure=sure, **more)  # type: ignore[arg-type]


def unit_of(length: timedelta) -> str:
    """Return how exactly a stretch of this length names a time: day, week, month or year."""
    limits = ((2, "day"), (10, "week"), (45, "month"))
    return next((unit for days, unit in limits if length <= timedelta(days=days)), "year")
