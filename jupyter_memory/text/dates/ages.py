"""How long ago something happened, in a few words."""

from __future__ import annotations

from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# From so many of a unit on, the next larger one is told.
_DAYS, _WEEKS, _MONTHS = 14, 9, 24


def age(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was; of one that is still to come, its day.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> [age(noon.replace(day=day), noon) for day in (21, 20, 18, 1)]
    ['just now', 'yesterday', '3 days ago', '2 weeks ago']
    >>> age(noon.replace(month=3), noon), age(noon.replace(year=2023), noon), age(noon.replace(hour=9), noon)
    ('8 months ago', '3 years ago', '3 hours ago')
    """
    seconds = (now - moment).total_seconds()
    if seconds < -_DAY:
        return moment.astimezone().date().isoformat()
    if seconds < _HOUR:
        return _ago(int(seconds // _MINUTE), "minute") if seconds >= _MINUTE else "just now"
    days = (now.astimezone().date() - moment.astimezone().date()).days
    if days == 0 or seconds < 6 * _HOUR:
        return _ago(int(seconds // _HOUR), "hour")
    return _in_days(days)


def _in_days(days: int) -> str:
    weeks, months = days // 7, int(days / 30.44)
    if days == 1:
        return "yesterday"
    if days < _DAYS:
        return _ago(days, "day")
    if weeks < _WEEKS:
        return _ago(weeks, "week")
    return _ago(months, "month") if months < _MONTHS else _ago(int(days / 365.24), "year")


def _ago(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)} ago"
