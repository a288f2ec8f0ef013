"""Readers of written dates: ``2026-03-31``, ``May 8th``, ``last spring``, ``Q2 2025``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import ORDINAL, ordinal
from jupyter_memory.text.dates.vocabulary import DATE, LAST, MONTH, MONTHS, YEAR, Named, Reader, naming

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Names of months that are also common words unless they are capitalised.
_COMMON = {"may", "march", "mar", "dec", "jan", "jun", "sep", "oct", "apr", "jul", "feb", "nov", "aug", "sept"}


def _day(year: int, month: int, day: int) -> Period:
    return whole("day", datetime(year, month, day))  # noqa: DTZ001


def _month(word: str) -> int:
    return MONTHS[word.rstrip(".").lower()]


def _number(date: str) -> int:
    return int(date) if date.isdigit() else ordinal(date) or 0


def _is_word(match: re.Match[str], word: str) -> bool:
    """Return whether a month's name is more likely a verb, a noun or an abbreviation, because it is not capitalised."""
    return word.rstrip(".").lower() in _COMMON and not word[0].isupper()


def _iso(match: re.Match[str], local: datetime) -> Named | None:
    year, month, day = (int(match[part]) for part in "ymd")
    return naming(match, _day(year, month, day), "day", 0.98)


def _slashes(match: re.Match[str], local: datetime) -> Named | None:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == ".":  # only where the day comes first
        return naming(match, _day(year, second, first), "day", 0.9)
    if first > 12:
        return naming(match, _day(year, second, first), "day", 0.9)
    # The American order, where the other reading is a date too.
    return naming(match, _day(year, first, second), "day", 0.9 if second > 12 or first == second else 0.4)


def _month_and_day(match: re.Match[str], local: datetime) -> Named | None:
    month, day = _month(match["m"]), _number(match["d"])
    if match["y"]:
        return naming(match, _day(int(match["y"]), month, day), "day", 0.95)
    alone = not _is_word(match, match["m"]) or not match["d"].isdigit()
    return _yearless(match, lambda year: _day(year, month, day), local, "day", 0.9, alone=alone)


def _month_and_year(match: re.Match[str], local: datetime) -> Named | None:
    period = whole("month", datetime(int(match["y"]), _month(match["m"]), 1))  # noqa: DTZ001
    return naming(match, period, "month", 0.9)


def _month_alone(match: re.Match[str], local: datetime) -> Named | None:
    month = _month(match["m"])

    def of(year: int) -> Period:
        return whole("month", datetime(year, month, 1))  # noqa: DTZ001

    if match["which"] and match["which"].lower() != "this":
        # "last May" never means the May that has just begun.
        return _yearless(match, of, whole("month", local).start - timedelta(days=1), "month", 0.8)
    sure = 0.6 if _is_word(match, match["m"]) else 0.85
    return _yearless(match, of, local, "month", sure, alone=bool(match["which"]))


def _year(match: re.Match[str], local: datetime) -> Named | None:
    year = int(match[0])
    if not 2000 <= year <= local.year:
        return None
    return naming(match, whole("year", datetime(year, 1, 1)), "year", 0.7, alone=False)  # noqa: DTZ001


def _year_and_month(match: re.Match[str], local: datetime) -> Named | None:
    return naming(match, whole("month", datetime(int(match[1]), int(match[2]), 1)), "month", 0.85, alone=False)  # noqa: DTZ001


def _iso_week(match: re.Match[str], local: datetime) -> Named | None:
    return naming(match, whole("week", datetime.fromisocalendar(int(match[1]), int(match[2]), 1)), "week", 0.95)


def _quarter(match: re.Match[str], local: datetime) -> Named | None:
    quarter = int(match["a"] or match["b"] or ordinal(match["c"]) or 0)
    year = match["y"] or match["z"] or match["w"]
    if quarter > 4:
        return None

    def of(year: int) -> Period:
        return whole("quarter", datetime(year, 3 * quarter - 2, 1))  # noqa: DTZ001

    if year:
        return naming(match, of(int(year)), "year", 0.9)
    return _yearless(match, of, local, "year", 0.75, alone=False)


def _half(match: re.Match[str], local: datetime) -> Named | None:
    half, year = int(match["a"] or match["b"]), int(match["y"] or match["z"])
    start = datetime(year, 6 * half - 5, 1)  # noqa: DTZ001
    return naming(match, Period(start, shifted(start, 6, "month")), "year", 0.9)


def _season(match: re.Match[str], local: datetime) -> Named | None:
    season = match["s"].lower()

    def of(year: int) -> Period:
        start = datetime(year, _SEASONS[season], 1)  # noqa: DTZ001
        return Period(start, shifted(start, 3, "month"))

    if match["y"]:
        return naming(match, of(int(match["y"])), "year", 0.6, alone=False)
    which = (match["which"] or "").lower()
    if which in ("", "the"):
        return None if not which else _yearless(match, of, local, "year", 0.6, alone=False)
    if which == "this":
        return _yearless(match, of, local, "year", 0.7, counted=True)
    # The last summer is over; one that has begun is "this" summer.
    return _yearless(match, of, shifted(local, -3, "month"), "year", 0.7, counted=True)


def _yearless(
    match: re.Match[str], of: Callable[[int], Period], local: datetime, unit: str, sure: float, **more: object
) -> Named | None:
    """Return the latest period that has begun, of periods that come once a year."""
    for year in range(local.year, local.year - 9, -1):
        try:
            period = of(year)
        except ValueError:  # 29 February
            continue
        if period.start <= local:
            return naming(match, period, unit, sure, **{"yearless": True, **more})
    return None


READERS: tuple[tuple[str, Reader], ...] = (
    (r"(?P<y>\d{4})(?P<s>[-/])(?P<m>\d\d)(?P=s)(?P<d>\d\d)(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z| UTC)?)?", _iso),
    (r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})", _slashes),
    (rf"(?P<m>{MONTH}) (?:the )?(?P<d>{DATE})(?:,? (?:of )?(?P<y>{YEAR}))?", _month_and_day),
    (rf"(?:the )?(?P<d>{DATE}) (?:of )?(?P<m>{MONTH})(?:,? (?:of )?(?P<y>{YEAR}))?", _month_and_day),
    (rf"(?P<m>{MONTH}),? (?:of )?(?P<y>{YEAR})", _month_and_year),
    (rf"(?:(?P<which>this|{LAST}) )?(?P<m>{MONTH})", _month_alone),
    (YEAR, _year),
    (r"(\d{4})-(0[1-9]|1[0-2])(?!\d)", _year_and_month),
    (r"(\d{4})-?W(\d\d)(?!\d)", _iso_week),
    (
        rf"q(?P<a>[1-4])(?:[ /-]+(?:of )?(?P<y>{YEAR}))?|(?P<z>20\d\d)[ /-]?q(?P<b>[1-4])\b"
        rf"|(?:the )?(?P<c>{ORDINAL}) quarter (?:of )?(?P<w>{YEAR})",
        _quarter,
    ),
    # Without a year, H1 is a heading or a hypothesis.
    (rf"h(?P<a>[12])[ /-]+(?:of )?(?P<y>{YEAR})|(?P<z>20\d\d)[ /-]?h(?P<b>[12])\b", _half),
    (rf"(?:(?P<which>this|the|{LAST}) )?(?P<s>{'|'.join(_SEASONS)})(?: (?:of )?(?P<y>{YEAR}))?", _season),
)
