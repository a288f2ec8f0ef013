"""A time that a text names, as its readers give it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jupyter_memory.times.calendars import Period, shifted


@dataclass(frozen=True, slots=True)
class Named:
    """A time that is named at ``text[start:end]``, in local wall-clock time.

    ``target`` is the moment meant in the middle of the ``period``; ``unit`` (day, week, month, year) how exactly it is
    meant. ``early`` and ``late`` are by how much the ends may be off. ``alone`` says that the words are a time even
    without a preposition before them, ``yearless`` that the year was chosen, ``counted`` that a noun after it would
    change what it means ("last month number").
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
    early: timedelta = timedelta(0)
    late: timedelta = timedelta(0)

    def years_later(self, years: int) -> Named:
        """Return the same date of another year."""
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
