"""Times in plain English: "last week", "in March", "two days before Christmas"."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from jupyter_memory.text.dates import (
    CARDINAL,
    DAY_NAMES,
    MONTH_NAMES,
    ORDINAL,
    Period,
    cardinal,
    ordinal,
    shifted,
    whole,
)

MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, start=1)}
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
    """A time that is named at ``text[start:end]``, in local wall-clock time."""

    start: int
    end: int
    period: Period
    target: datetime  # the moment meant in the middle of the period
    unit: str  # day, week, month or year: how exactly it is meant
    sure: float
    alone: bool = True  # the words are a time even without a preposition before them
    yearless: bool = False  # the year was chosen
    counted: bool = False  # a noun after it would change what it means ("last month number")
    recurring: bool = False  # the words may mean every one ("demand in winter")
    of: Callable[[int], Period] | None = None  # the period in another year if it is at another date, as for Easter
    early: timedelta = timedelta(0)  # by how much the ends may be off
    late: timedelta = timedelta(0)

    def years_later(self, years: int) -> Named:
        """Return the same time of another year."""
        if self.of is not None:
            start, end = self.of(self.period.start.year + years)
            return replace(self, period=Period(start, end), target=start + (end - start) / 2)
        start, end = (shifted(moment, years, "year") for moment in self.period)
        return replace(self, period=Period(start, end), target=shifted(self.target, years, "year"))


Reader = Callable[[re.Match[str], datetime], Named | None]


def _naming(match: re.Match[str], period: Period, unit: str, sure: float, **more: object) -> Named:
    middle = period.start + (period.end - period.start) / 2
    return Named(match.start(), match.end(), period, target=middle, unit=unit, sure=sure, **more)  # type: ignore[arg-type]


def unit_of(length: timedelta) -> str:
    """Return how exactly a stretch of this length names a time: day, week, month or year."""
    limits = ((2, "day"), (10, "week"), (45, "month"))
    return next((unit for days, unit in limits if length <= timedelta(days=days)), "year")


_READERS: list[tuple[str, Reader]] = []
# On first use: together they take longer to compile than a search.
_compiled = cache(partial(re.compile, flags=re.IGNORECASE))


def _reads(*patterns: str) -> Callable[[Reader], Reader]:
    # Of readings of one length the first counts, so the order of the readers matters.
    def add(reader: Reader) -> Reader:
        _READERS.extend((pattern, reader) for pattern in patterns)
        return reader

    return add


# Names of months that are also common words unless they are capitalised.
_COMMON = {"may", "march", "mar", "dec", "jan", "jun", "sep", "oct", "apr", "jul", "feb", "nov", "aug", "sept"}
# How exactly a unit names a time; those that are not here name a day.
_EXACTNESS = {"quarter": "year", "week": "week", "month": "month", "year": "year"}
_PART = "(?:q[1-4]|h[12])"


def _day(year: int, month: int, day: int) -> Period:
    return whole("day", datetime(year, month, day))  # noqa: DTZ001


def _months(year: int, month: int, count: int = 1) -> Period:
    start = datetime(year, month, 1)  # noqa: DTZ001
    return Period(start, shifted(start, count, "month"))


def _month(word: str) -> int:
    return MONTHS[word.rstrip(".").lower()]


def _is_word(word: str) -> bool:
    return word.rstrip(".").lower() in _COMMON and not word[0].isupper()


def _fixed(pattern: str, unit: str, sure: float, of: Callable[[re.Match[str]], Period], *, alone: bool = True) -> None:
    # A time that is the same whenever it is read.
    _reads(pattern)(lambda match, local: _naming(match, of(match), unit, sure, alone=alone))


_fixed(
    r"(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z| UTC)?)?", "day", 0.98,
    lambda match: _day(int(match[1]), int(match[3]), int(match[4])),
)  # fmt: skip
_fixed(rf"({MONTH}),? (?:of )?({YEAR})", "month", 0.9, lambda match: _months(int(match[2]), _month(match[1])))
_fixed(
    r"(\d{4})-(0[1-9]|1[0-2])(?!\d)", "month", 0.85, lambda match: _months(int(match[1]), int(match[2])), alone=False
)
_fixed(
    r"(\d{4})-?W(\d\d)(?!\d)", "week", 0.95,
    lambda match: whole("week", datetime.fromisocalendar(int(match[1]), int(match[2]), 1)),
)  # fmt: skip
# Without a year, H1 is a heading or a hypothesis.
_fixed(
    rf"h(?P<a>[12])[ /-]+(?:of )?(?P<y>{YEAR})|(?P<z>20\d\d)[ /-]?h(?P<b>[12])\b", "year", 0.9,
    lambda match: _part_of_year(int(match["y"] or match["z"]), f"h{match['a'] or match['b']}"),
)  # fmt: skip


@_reads(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})")
def _slashes(match: re.Match[str], local: datetime) -> Named | None:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "." or first > 12:  # with dots, the day comes first
        return _naming(match, _day(year, second, first), "day", 0.9)
    # The American order, where the other reading is a date too.
    return _naming(match, _day(year, first, second), "day", 0.9 if second > 12 or first == second else 0.4)


@_reads(
    rf"(?P<m>{MONTH}) (?:the )?(?P<d>{DATE})(?:,? (?:of )?(?P<y>{YEAR}))?",
    rf"(?:the )?(?P<d>{DATE}) (?:of )?(?P<m>{MONTH})(?:,? (?:of )?(?P<y>{YEAR}))?",
)
def _month_and_day(match: re.Match[str], local: datetime) -> Named | None:
    month, date = _month(match["m"]), match["d"]
    day = int(date) if date.isdigit() else ordinal(date) or 0
    if match["y"]:
        return _naming(match, _day(int(match["y"]), month, day), "day", 0.95)
    alone = not _is_word(match["m"]) or not date.isdigit()
    return _yearless(match, lambda year: _day(year, month, day), local, "day", 0.9, alone=alone)


@_reads(rf"(?:(?P<which>{WHICH}) )?(?P<m>{MONTH})")
def _month_alone(match: re.Match[str], local: datetime) -> Named | None:
    of = partial(_months, month=_month(match["m"]))
    if which := match["which"]:
        return _yearless(match, of, local, "month", 0.85 if which.lower() == "this" else 0.8, which=which)
    return _yearless(match, of, local, "month", 0.6 if _is_word(match["m"]) else 0.85, alone=False)


@_reads(YEAR)
def _year(match: re.Match[str], local: datetime) -> Named | None:
    year = int(match[0])
    if not 2000 <= year <= local.year:
        return None
    return _naming(match, _months(year, 1, 12), "year", 0.7, alone=False)


@_reads(
    rf"q(?P<a>[1-4])(?:[ /-]+(?:of )?(?P<y>{YEAR}))?|(?P<z>20\d\d)[ /-]?q(?P<b>[1-4])\b"
    rf"|(?:the )?(?P<c>{ORDINAL}) quarter (?:of )?(?P<w>{YEAR})"
)
def _quarter(match: re.Match[str], local: datetime) -> Named | None:
    quarter = int(match["a"] or match["b"] or ordinal(match["c"]) or 0)
    year = match["y"] or match["z"] or match["w"]
    if quarter > 4:
        return None
    if year:
        return _naming(match, _part_of_year(int(year), f"q{quarter}"), "year", 0.9)
    return _yearless(match, lambda year: _part_of_year(year, f"q{quarter}"), local, "year", 0.75, alone=False)


@_reads(
    rf"(?:(?P<before>{_PART}) (?:of )?(?:the )?)?"
    rf"(?:fy(?:[ -]?(?P<y>{YEAR})|['’]?(?P<yy>\d\d))|(?:fiscal|financial) (?:year )?(?P<z>{YEAR}))"
    rf"(?:[ -]?(?P<after>{_PART}))?"
    rf"|(?:fiscal|financial) (?P<q>{_PART})(?: (?:of )?(?P<w>{YEAR}))?"
)
def _fiscal(match: re.Match[str], local: datetime) -> Named | None:
    part = (match["before"] or match["after"] or match["q"] or "").lower()
    short, long = match["yy"], match["y"] or match["z"] or match["w"]
    if short or long:
        return _naming(match, _part_of_year(int(long or f"20{short}"), part), "year", FISCAL_SURE)
    return _yearless(match, lambda year: _part_of_year(year, part), local, "year", FISCAL_SURE)


def _part_of_year(year: int, part: str) -> Period:
    months = {"q": 3, "h": 6}.get(part[:1], 12)
    return _months(year, 1 + (int(part[1:] or 1) - 1) * months, months)


# Times relative to now: ``yesterday``, ``three weeks ago``, ``last Tuesday``.

# The hours when a part of the day begins and ends. What people call morning may end an hour later, hence ``_SOFT``.
_PARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_SOFT = timedelta(hours=1)
_ROLLED = "hour|day|week|fortnight|month|quarter|year"
_FUZZY = {"couple": (2, 3), "few": (2, 5), "several": (3, 8)}


@_reads(r"today|yesterday|(?:the )?day before yesterday")
def _today(match: re.Match[str], local: datetime) -> Named | None:
    words = " ".join(match[0].lower().split())
    days = {"yesterday": 1, "the day before yesterday": 2, "day before yesterday": 2}.get(words, 0)
    return _naming(match, whole("day", local - timedelta(days=days)), "day", 0.95)


@_reads(
    rf"(?P<which>this|yesterday|last|{DAY}) (?P<part>morning|afternoon|evening|night)", r"(?P<which>)tonight(?P<part>)"
)
def _part_of_day(match: re.Match[str], local: datetime) -> Named | None:
    word, day = (match["part"] or "night").lower(), local
    which = (match["which"] or "").lower()
    if which in ("yesterday", "last"):
        day = local - timedelta(days=1)
    elif which in DAYS:
        day = _latest(DAYS[which], local)
    midnight = whole("day", day).start
    begin, end = _PARTS[word]
    period = Period(midnight + timedelta(hours=begin), midnight + timedelta(hours=end))
    # "friday night lights"
    return _naming(match, period, "day", 0.85, alone=which not in DAYS, early=_SOFT, late=_SOFT)


@_reads(r"earlier (?:(?:this |in the )(?P<period>morning|week|month|quarter|year))", r"earlier (?P<period>today)")
def _earlier(match: re.Match[str], local: datetime) -> Named | None:
    today = whole("day", local)
    if (unit := match["period"].lower()) in ("week", "month", "quarter", "year"):
        begun = whole(unit, local).start
        return _naming(match, Period(begun, max(today.start, begun + timedelta(days=1))), _EXACTNESS[unit], 0.75)
    latest = local if unit == "today" else min(local, today.start + timedelta(hours=13))
    # Just after midnight a minute is left.
    until = max(min(latest, local - _SOFT), today.start + timedelta(minutes=1))
    return _naming(match, Period(today.start, until), "day", 0.8)


@_reads(r"later (?P<period>today|this (?:week|month|quarter|year))\b")
def _later(match: re.Match[str], local: datetime) -> Named | None:
    unit = match["period"].lower().replace("today", "day").removeprefix("this ")
    return _naming(match, Period(local, whole(unit, local).end), _EXACTNESS.get(unit, "day"), 0.7)


@_reads(rf"(?P<count>{COUNT}) (?P<unit>minute|hour|day|week|month|quarter|year)s? (?:ago|back|earlier)\b")
def _ago(match: re.Match[str], local: datetime) -> Named | None:
    unit, (low, high) = match["unit"].lower(), _counted(match["count"])
    if unit in ("hour", "minute"):
        then = local - timedelta(**{unit + "s": low})
        slack = timedelta(**{unit + "s": max(1, high - low)})
        return _naming(match, Period(then - slack, then + slack), "day", 0.8)
    first, last = (whole(unit, shifted(local, -count, unit)) for count in (high, low))
    sure = 0.65 if high > low else {"day": 0.95, "week": 0.8, "month": 0.85}.get(unit, 0.75)
    named = _naming(match, Period(first.start, last.end), _EXACTNESS.get(unit, "day"), sure)
    if unit == "day" and low == high > 1:
        # Someone who counts 24 hours a day gets one day less than someone who looks at the calendar.
        named = replace(named, early=timedelta(days=1))
    return named if high > low else replace(named, target=shifted(local, -low, match["unit"].lower()))


@_reads(rf"(?P<count>{COUNT}) (?P<unit>week|month|year)s? ago (?P<day>today|yesterday)\b")
def _ago_today(match: re.Match[str], local: datetime) -> Named | None:
    day = local - timedelta(days=match["day"].lower() == "yesterday")
    day = shifted(day, -_counted(match["count"])[0], match["unit"].lower())
    return _naming(match, whole("day", day), "day", 0.95)


@_reads(
    rf"(?P<count>{COUNT}) (?P<unit>weekend|night|{'|'.join(DAY_NAMES)})s? (?:ago|back)\b",
    rf"(?:the )?(?P<count>)(?P<unit>weekend|night|week|month|quarter|year|{DAY}) before last\b",
)
def _back_then(match: re.Match[str], local: datetime) -> Named | None:
    unit, (low, high) = match["unit"].lower(), _counted(match["count"]) if match["count"] else (2, 2)
    if not low:
        return None
    period = Period(_back(unit, high, local).start, _back(unit, low, local).end)
    soft = _SOFT if unit == "night" else timedelta(0)
    sure = 0.65 if high > low else 0.9
    exactly = unit_of(period.end - period.start) if high > low else _EXACTNESS.get(unit, "day")
    return _naming(match, period, exactly, sure, counted=True, early=soft, late=soft)


def _back(unit: str, count: int, local: datetime) -> Period:
    if unit == "weekend":
        # The last weekend is over: it ends a week before one that has begun.
        start = _latest(5, local - timedelta(days=2)) - timedelta(weeks=count - 1)
        return Period(whole("day", start).start, whole("day", start + timedelta(days=1)).end)
    if unit == "night":
        midnight = whole("day", local - timedelta(days=count)).start
        begin, end = _PARTS["night"]
        return Period(midnight + timedelta(hours=begin), midnight + timedelta(hours=end))
    if unit in DAYS:
        return whole("day", _latest(DAYS[unit], local - timedelta(days=1)) - timedelta(weeks=count - 1))
    return whole(unit, shifted(local, -count, unit))


@_reads(r"the other (?P<unit>day|morning|afternoon|evening|night|weekend|week|month)\b")
def _the_other(match: re.Match[str], local: datetime) -> Named | None:
    # One of the last seven, or of the seven before; "the other week": one of the last three.
    unit, today = match["unit"].lower(), whole("day", local).start
    if unit in ("week", "weekend", "month"):
        unit = unit.removesuffix("end")
        period = Period(whole(unit, shifted(local, -3, unit)).start, whole(unit, local).start)
        return _naming(match, period, unit_of(period.end - period.start), 0.5, counted=True)
    week = timedelta(days=7)
    return _naming(match, Period(today - week, today), "week", 0.6, counted=True, early=week)


@_reads(r"(?P<half>half a year ago)|(?:a|one) fortnight (?:ago|back)\b")
def _half_or_fortnight_ago(match: re.Match[str], local: datetime) -> Named | None:
    unit, count, sure = ("month", 6, 0.65) if match["half"] else ("week", 2, 0.8)
    then = shifted(local, -count, unit)
    return replace(_naming(match, whole(unit, then), unit, sure), target=then)


@_reads(
    rf"(?:the |these |this )?(?:last|past) (?P<count>{COUNT}) (?P<unit>{_ROLLED})s?\b",
    rf"(?:(?:the|this) (?:last|past)|this previous|past) (?P<unit>{_ROLLED})\b(?P<count>)",
)
def _rolling(match: re.Match[str], local: datetime) -> Named | None:
    unit = match["unit"].lower()
    count = _counted(match["count"])[1] if match["count"] else 1
    if unit == "hour":
        return _naming(match, Period(local - timedelta(hours=count), local), "day", 0.85, counted=True)
    if unit == "fortnight":
        unit, count = "week", 2 * count
    since = whole("day", shifted(local, -count, unit)).start
    length = count * {"day": 1, "week": 7, "month": 30, "quarter": 90, "year": 365}[unit]
    return _naming(match, Period(since, local), unit_of(timedelta(days=length)), 0.85, counted=True)


@_reads(
    rf"(?P<which>this|the (?:previous|prior)|last|previous|prior) "
    rf"(?P<fiscal>(?:fiscal|financial) )?(?P<unit>{UNIT})\b"
)
def _calendar_unit(match: re.Match[str], local: datetime) -> Named | None:
    unit = match["unit"].lower()
    back = 0 if match["which"].lower() == "this" else -1
    sure = FISCAL_SURE if match["fiscal"] else 0.9
    exactly = _EXACTNESS.get(unit, "day")
    named = _naming(match, whole(unit, shifted(local, back, unit)), exactly, sure, counted=True)
    # Few people call yesterday "last day", but many write "the last day of the month".
    return None if unit == "day" else named


@_reads(rf"(?:(?P<which>this|this past|{LAST}) )?(?P<day>{DAY})")
def _weekday(match: re.Match[str], local: datetime) -> Named | None:
    which, wanted = (match["which"] or "").lower(), DAYS[match["day"].lower()]
    if which == "this":
        return _naming(match, whole("day", _latest(wanted, local)), "day", 0.8)
    # "last Monday" on a Monday is a week ago, "on Monday" may be today.
    day = _latest(wanted, local - timedelta(days=1) if which else local)
    return _naming(match, whole("day", day), "day", 0.9 if which else 0.85, alone=bool(which))


@_reads(r"(?P<which>this past|this|the|last|past|previous) weekend\b")
def _weekend(match: re.Match[str], local: datetime) -> Named | None:
    last = match["which"].lower() not in ("this", "the")
    # "Over the weekend" may be the one that has begun.
    period = _back("weekend", 1, local if last else local + timedelta(days=2))
    return _naming(match, period, "day", 0.8, alone=match["which"] != "the")


def _latest(weekday: int, local: datetime) -> datetime:
    # It may be today.
    return local - timedelta(days=(local.weekday() - weekday) % 7)


def _counted(text: str) -> tuple[int, int]:
    words = text.lower()
    for word, (low, high) in _FUZZY.items():
        if word in words:
            return low, high
    number = cardinal(words) or 0
    return number, number


# What comes once a year: ``in spring``, ``last winter``, ``before Easter``, ``New Year's Eve 2025``.

_OfYear = Callable[[int], Period]

# The months in which the seasons of the northern hemisphere begin, as meteorologists count them.
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Also the name of a framework, a coil, a tumble; after these words no season is meant.
_AMBIGUOUS = {"spring", "fall"}
_NO_SEASON_AFTER = re.compile(r"\b(?:after|at|from|into|of|on|through|to|using|via|with) $", re.IGNORECASE)
_FRAMEWORK = re.compile(
    r"\b(?:java|kotlin|maven|gradle|beans?|autowir(?:e|ed|ing)|servlets?|jdbc|jpa|hibernate|mvc|boot|coil|stiffness)\b",
    re.IGNORECASE,
)


# By their names without apostrophes: the month and the day, or the days after Easter Sunday, or the last day on which
# Thanksgiving may be; how many days they are; and the days before and after that may be meant too.
_HOLIDAYS: Mapping[str, tuple[list[int] | int, int, int, int]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
_SEASON = "|".join(_SEASONS)
_HOLIDAY = "|".join(_HOLIDAYS).replace("years", "year['’]?s").replace("valentines", "valentine['’]?s")


def _yearless(
    match: re.Match[str], of: _OfYear, local: datetime, unit: str, sure: float, /, *, which: str = "", **more: object
) -> Named | None:
    # The latest period that has begun. The "last" one is over: what has just begun is "this" May. "This" one is of this
    # year, or was just over.
    this, last = which.lower() == "this", which.lower() not in ("", "the", "this")
    for year in range(local.year, local.year - 9, -1):
        try:
            period = of(year)
        except ValueError:  # 29 February
            continue
        if (period.end if last else period.start) > local:
            continue
        if this and period.start.year < local.year and shifted(period.end, 1, "quarter") < local:
            return None
        return _naming(match, period, unit, sure, **{"yearless": True, **more})
    return None


@_reads(rf"(?:(?P<which>{WHICH}|the) )?(?P<s>{_SEASON})(?:,? (?:of )?(?P<y>{YEAR})(?:[/–-](?:20)?\d\d)?)?")
def _season(match: re.Match[str], local: datetime) -> Named | None:
    season, which = match["s"].lower(), (match["which"] or "").lower()
    of = _of_season(season)
    if match["y"]:
        return _naming(match, of(int(match["y"])), "year", 0.6)
    if which not in ("", "the"):
        return _yearless(match, of, local, "year", 0.7, which=which, counted=True)
    if not which and season in _AMBIGUOUS:
        after_another_word = _NO_SEASON_AFTER.search(match.string[: match.start()])
        if match["s"] == "Spring" or after_another_word or _FRAMEWORK.search(match.string):
            return None
    return _yearless(match, of, local, "year", 0.6, alone=False, recurring=True)


def _of_season(season: str) -> _OfYear:
    return lambda year: _months(year, _SEASONS[season], 3)


def _of_holiday(name: str) -> _OfYear:
    date, length, _, _ = _HOLIDAYS[name]

    def of(year: int) -> Period:
        if isinstance(date, list):
            month, day = date
            first = datetime(year, month, day)  # noqa: DTZ001
            if name.startswith("thanksgiving"):
                first -= timedelta(days=(first.weekday() - 3) % 7)
        else:
            # Loaded here because few queries name Easter.
            from dateutil.easter import easter

            first = datetime.combine(easter(year), time()) + timedelta(days=date)
        return Period(first, first + timedelta(days=length))

    return of


@_reads(rf"(?:(?P<which>{WHICH}) )?(?P<h>{_HOLIDAY})\b(?:,? (?:of |in )?(?P<y>{YEAR}))?")
def _holiday(match: re.Match[str], local: datetime) -> Named | None:
    name = _name(match["h"])
    of, (_, _, before, after) = _of_holiday(name), _HOLIDAYS[name]
    more: dict[str, Any] = {"early": timedelta(days=before), "late": timedelta(days=after), "of": of}
    if match["y"]:
        return _naming(match, of(int(match["y"])), "day", 0.9, **more)
    if which := match["which"]:
        return _yearless(match, of, local, "day", 0.85, which=which, counted=True, **more)
    return _yearless(match, of, local, "day", 0.8, alone=False, recurring=True, **more)


def _name(words: str) -> str:
    return words.lower().replace("'", "").replace("’", "")


@_reads(
    rf"(?P<n>{CARDINAL}) (?P<many>{_SEASON}|easter|christmas)e?s ago"
    rf"|(?:the )?(?P<one>{_SEASON}|{_HOLIDAY}) before last\b"
)
def _years_back(match: re.Match[str], local: datetime) -> Named | None:
    name = _name(match["many"] or match["one"])
    of = _of_season(name) if name in _SEASONS else _of_holiday(name)
    last = _yearless(match, of, local, "year" if name in _SEASONS else "day", 0.75, which="last", counted=True, of=of)
    years = (cardinal(match["n"]) or 0) if match["n"] else 2
    return last.years_later(1 - years) if last is not None and years > 0 else None


# Times relative to or within another: ``the week before May 8th``.

# What surrounds a word that is part of a name, of code or of a number.
_NOT_BEFORE = re.compile(r"[\w.\-/\\@#:=$%']")
_NOT_AFTER = re.compile(r"[\w(/\\=$%]|[-.:]\w|[-:]\w")

_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
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
    for pattern, read in _READERS:
        match = _compiled(pattern).match(text, place)
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


@_reads(
    rf"(?:(?P<count>{COUNT}) (?P<unit>day|week|month|year)s?) (?P<side>before|after|prior to) "
    rf"(?!now\b|today\b)",
    rf"(?:the |last ){{0,2}}(?P<count>)(?P<unit>day|week|weekend|month|{DAY}) (?P<side>before|after|prior to) ",
)
def _beside(match: re.Match[str], local: datetime) -> Named | None:
    other = named_at(match.string, match.end(), local)
    if other is None:
        return None
    unit, sign = match["unit"].lower(), -1 if match["side"].lower() != "after" else 1
    edge = other.period.start if sign < 0 else other.period.end - timedelta(days=1)
    if unit == "weekend":
        saturday = _latest(5, edge - timedelta(days=2)) if sign < 0 else _latest(5, edge + timedelta(days=7))
        period = Period(whole("day", saturday).start, whole("day", saturday).start + timedelta(days=2))
    elif unit in DAYS:
        day = _latest(DAYS[unit], edge - timedelta(days=1) if sign < 0 else edge + timedelta(days=7))
        period = whole("day", day)
    else:
        number = _counted(match["count"])[0] if match["count"] else 1
        period = whole("day" if match["count"] else unit, shifted(edge, sign * number, unit))
    if unit == "week" and not match["count"] and sign < 0:
        # A week may begin on Monday, or be the seven days before.
        period = Period(period.start, other.period.start)
    named = _naming(match, period, unit_of(period.end - period.start), min(0.8, other.sure))
    return replace(named, end=other.end, yearless=other.yearless)


@_reads(rf"(?P<day>{DAY}),? (?:of |in )?(?:the )?(?=last|past|previous|prior|this|week|\w+ weeks? (?:ago|back)\b)")
def _weekday_of(match: re.Match[str], local: datetime) -> Named | None:
    other = _longest(match.string, match.end(), local)
    if other is None or other.period.end - other.period.start != timedelta(days=7) or other.unit != "week":
        return None
    day = _latest(DAYS[match["day"].lower()], other.period.end - _A_DAY)
    return replace(_naming(match, whole("day", day), "day", other.sure), end=other.end, yearless=other.yearless)


@_reads(*_BEFORE_A_TIME)
def _part(match: re.Match[str], local: datetime) -> Named | None:
    other = _longest(match.string, match.end(), local)
    if other is not None:
        return _part_of(match, other)
    present = _PRESENT.match(match.string, match.end()) if match[0].lower().endswith(" the ") else None
    if present is None or _NOT_AFTER.match(match.string, present.end()):
        return None
    unit = present[0].lower()
    wholes = (whole(unit, shifted(local, -back, unit)) for back in (0, 1))
    parts = (_part_of(match, _naming(present, one, unit, 0.6, recurring=True)) for one in wholes)
    return next((part for part in parts if part is not None and part.period.start <= local), None)


def _part_of(match: re.Match[str], other: Named) -> Named | None:
    # A third has whole days, and may begin and end earlier or later by a quarter of its length. The weeks of a month
    # are counted from its first day; its last week is its last seven days.
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
    named = _naming(match, period, unit_of(period.end - period.start), min(0.75, other.sure), early=early, late=late)
    # "Early spring" needs a preposition as spring does; "early in spring" and "the week of Easter" do not.
    alone = not other.recurring or other.unit == "day" or " in " in match[0].lower()
    return replace(named, end=other.end, yearless=other.yearless, recurring=other.recurring, alone=alone)


def _pieces(unit: str, start: datetime, end: datetime, nth: int | None) -> list[Period]:
    week = timedelta(weeks=1)
    if unit == "week":
        if nth is None:
            return [Period(end - week, end)]
        firsts = [start + number * week for number in range(-(-(end - start) // week))]
        return [Period(first, min(first + week, end)) for first in firsts]
    if unit == "half":
        months = (end.year - start.year) * 12 + end.month - start.month
        of_months = shifted(start, months // 2, "month") + (months % 2) * timedelta(days=15)
        middle = whole("day", of_months if months > 1 else start + (end - start) / 2).start
        return [Period(start, middle), Period(middle, end)]
    if unit == "quarter":
        quarters = [shifted(start, number, "quarter") for number in range(5)]
        return [Period(*ends) for ends in pairwise(quarters)] if quarters[-1] == end else []
    first = start + timedelta(days=(DAYS.get(unit, 5) - start.weekday()) % 7)
    days = 2 if unit == "weekend" else 1
    firsts = [first + number * week for number in range(-(-(end - first) // week))]
    return [Period(day, day + timedelta(days=days)) for day in firsts]
