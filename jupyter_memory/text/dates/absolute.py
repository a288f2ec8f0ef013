"""Readers of written dates: ``2026-03-31``, ``May 8th``, ``last March``, ``Q2 2025``, ``FY26``."""

from __future__ import annotations

import re
from datetime import datetime

from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import ORDINAL, ordinal
from jupyter_memory.text.dates.vocabulary import DATE, FISCAL_SURE, MONTH, MONTHS, WHICH, YEAR, Named, Reader, naming
from jupyter_memory.text.dates.yearly import yearless

# Names of months that are also common words unless they are capitalised.
_COMMON = {"may", "march", "mar", "dec", "jan", "jun", "sep", "oct", "apr", "jul", "feb", "nov", "aug", "sept"}
# A quarter or a half.
_PART = "(?:q[1-4]|h[12])"


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
    return yearless(match, lambda year: _day(year, month, day), local, "day", 0.9, alone=alone)


def _month_and_year(match: re.Match[str], local: datetime) -> Named | None:
    period = whole("month", datetime(int(match["y"]), _month(match["m"]), 1))  # noqa: DTZ001
    return naming(match, period, "month", 0.9)


def _month_alone(match: re.Match[str], local: datetime) -> Named | None:
    month = _month(match["m"])

    def of(year: int) -> Period:
        return whole("month", datetime(year, month, 1))  # noqa: DTZ001

    if which := match["which"]:
        return yearless(match, of, local, "month", 0.85 if which.lower() == "this" else 0.8, which=which)
    return yearless(match, of, local, "month", 0.6 if _is_word(match, match["m"]) else 0.85, alone=False)


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

    if year:
        return naming(match, _part_of_year(int(year), f"q{quarter}"), "year", 0.9)
    return yearless(match, lambda year: _part_of_year(year, f"q{quarter}"), local, "year", 0.75, alone=False)


def _half(match: re.Match[str], local: datetime) -> Named | None:
    return naming(match, _part_of_year(int(match["y"] or match["z"]), f"h{match['a'] or match['b']}"), "year", 0.9)


def _fiscal(match: re.Match[str], local: datetime) -> Named | None:
    """Read "FY2025", "Q3 FY26", "fiscal Q2 2026" as if fiscal years began in January: each organisation decides."""
    part = (match["before"] or match["after"] or match["q"] or "").lower()
    short, long = match["yy"], match["y"] or match["z"] or match["w"]
    if short or long:
        return naming(match, _part_of_year(int(long or f"20{short}"), part), "year", FISCAL_SURE)
    return yearless(match, lambda year: _part_of_year(year, part), local, "year", FISCAL_SURE)


def _part_of_year(year: int, part: str) -> Period:
    """Return a quarter (``q3``) or a half (``h1``) of a calendar year; without a part, the year."""
    months = {"q": 3, "h": 6}.get(part[:1], 12)
    start = datetime(year, 1 + (int(part[1:] or 1) - 1) * months, 1)  # noqa: DTZ001
    return Period(start, shifted(start, months, "month"))


READERS: tuple[tuple[str, Reader], ...] = (
    (r"(?P<y>\d{4})(?P<s>[-/])(?P<m>\d\d)(?P=s)(?P<d>\d\d)(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z| UTC)?)?", _iso),
    (r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})", _slashes),
    (rf"(?P<m>{MONTH}) (?:the )?(?P<d>{DATE})(?:,? (?:of )?(?P<y>{YEAR}))?", _month_and_day),
    (rf"(?:the )?(?P<d>{DATE}) (?:of )?(?P<m>{MONTH})(?:,? (?:of )?(?P<y>{YEAR}))?", _month_and_day),
    (rf"(?P<m>{MONTH}),? (?:of )?(?P<y>{YEAR})", _month_and_year),
    (rf"(?:(?P<which>{WHICH}) )?(?P<m>{MONTH})", _month_alone),
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
    (
        rf"(?:(?P<before>{_PART}) (?:of )?(?:the )?)?"
        rf"(?:fy(?:[ -]?(?P<y>{YEAR})|['’]?(?P<yy>\d\d))|(?:fiscal|financial) (?:year )?(?P<z>{YEAR}))"
        rf"(?:[ -]?(?P<after>{_PART}))?"
        rf"|(?:fiscal|financial) (?P<q>{_PART})(?: (?:of )?(?P<w>{YEAR}))?",
        _fiscal,
    ),
)
