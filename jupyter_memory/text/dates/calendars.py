"""Days, weeks, months and years around a local time, and their conversion to UTC."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}


class Period(NamedTuple):
    """A stretch of local wall-clock time ``start <= t < end``; an exact moment has ``start == end``."""

    start: datetime
    end: datetime


def zone_of(now: datetime) -> tzinfo | None:
    """Return the named zone that a moment is given in, None for this machine's own.

    An offset says nothing about last summer's clock, and stored moments are in UTC: both stand for this machine's zone.
    """
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
    """Return the local time so many units later, or earlier if negative; a month's 31st becomes its last day.

    Raises:
        OverflowError, ValueError: the calendar ends before that.
    """
    months = _MONTHS_IN.get(unit)
    if months is None:
        return moment + timedelta(**{f"{unit}s": count})
    year, month = divmod(moment.year * 12 + moment.month - 1 + count * months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))
