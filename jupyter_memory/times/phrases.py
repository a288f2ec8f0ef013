"""Times as English names them, each read at its place in a text: ``May 8th``, ``last Tuesday``, ``three weeks ago``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jupyter_memory.times.calendars import Period, shifted, whole
from jupyter_memory.times.numerals import CARDINAL, ORDINAL, cardinal, ordinal

_MONTH_WORDS = "january february march april may june july august september october november december"
_MONTH_NAMES = _MONTH_WORDS.split()
_DAY_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_DAYS = {name: number for number, name in enumerate(_DAY_NAMES)} | {
    short: number for number, shorts in enumerate(("mon", "tue tues", "wed", "thu thur thurs", "fri"))
    for short in shorts.split()
}  # fmt: skip
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# When a part of the day begins and ends; what people call morning may end an hour later, hence ``_SOFT``.
_PARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_SOFT = timedelta(hours=1)
# Words that are months only when they are written so.
_COMMON = {"may", "march", "mar", "dec", "jan", "jun", "sep", "oct", "apr", "jul", "feb", "nov", "aug", "sept"}

_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_DAY = rf"(?:{'|'.join(sorted(_DAYS, key=len, reverse=True))})\b"
_YEAR = r"(?:19[7-9]\d|20\d\d)(?![\d:]|[.,]\d)"
_DATE = rf"(?:(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\w%:]|[.,]\d)|{ORDINAL})"
_UNIT = r"(?:day|week|month|quarter|year)"
_FEW = r"(?:a )?(?:couple(?: of)?|few|several)"
_COUNT = rf"(?:{_FEW}|{CARDINAL})"
_FUZZY = {"couple": (2, 3), "few": (2, 5), "several": (3, 8)}
_LAST = r"(?:last|past|previous|prior)"


@dataclass(frozen=True, slots=True)
class Named:
    """A time that is named at ``text[start:end]``, in local wall-clock time.

    ``target`` is the moment meant in the middle of the ``period``; ``unit`` (day, week, month, year) how exactly it is
    meant. ``soft`` is by how much the ends may be off. ``alone`` says that the words are a time even without a
    preposition before them, ``yearless`` that the year was chosen, ``counted`` that a noun after it would change what
    it means ("last month number").
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
# What stands around a word that is part of a name, of code or of a number.
_NOT_BEFORE = re.compile(r"[\w.\-/\\@#:=$%']")
_NOT_AFTER = re.compile(r"[\w(/\\=$%]|[-.:]\w|[-:]\w")


def named_at(text: str, place: int, local: datetime) -> Named | None:
    """Return the longest time that is named from a place of a text on; ``local`` is the naive time now."""
    if place and _NOT_BEFORE.match(text, place - 1):
        return None
    best: Named | None = None
    for pattern, read in _READERS:
        match = pattern.match(text, place)
        if match is None or (match[0][-1:] != " " and _NOT_AFTER.match(text, match.end())):
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


def _named(match: re.Match[str], period: Period, unit: str, sure: float, **more: object) -> Named:
    middle = period.start + (period.end - period.start) / 2
    return Named(match.start(), match.end(), period, target=middle, unit=unit, sure=sure, **more)  # type: ignore[arg-type]


def _day(year: int, month: int, day: int) -> Period:
    return whole("day", datetime(year, month, day))  # noqa: DTZ001


def _month(word: str) -> int:
    return _MONTHS[word.rstrip(".").lower()]


def _number(date: str) -> int:
    return int(date) if date.isdigit() else ordinal(date) or 0


def _is_word(match: re.Match[str], word: str) -> bool:
    """Return whether a month's name is more likely the verb, the noun or a short word: it is not capitalised."""
    return word.rstrip(".").lower() in _COMMON and not word[0].isupper()


# -- written dates -----------------------------------------------------------------------------------------------------


def _iso(match: re.Match[str], local: datetime) -> Named | None:
    year, month, day = (int(match[part]) for part in "ymd")
    return _named(match, _day(year, month, day), "day", 0.98)


def _slashes(match: re.Match[str], local: datetime) -> Named | None:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == ".":  # only where the day comes first
        return _named(match, _day(year, second, first), "day", 0.7, alone=False)
    if first > 12:
        return _named(match, _day(year, second, first), "day", 0.9)
    # As in America, where the other reading is a date too.
    return _named(match, _day(year, first, second), "day", 0.9 if second > 12 or first == second else 0.4)


def _month_and_day(match: re.Match[str], local: datetime) -> Named | None:
    month, day = _month(match["m"]), _number(match["d"])
    if match["y"]:
        return _named(match, _day(int(match["y"]), month, day), "day", 0.95)
    alone = not _is_word(match, match["m"]) or not match["d"].isdigit()
    return _yearless(match, lambda year: _day(year, month, day), local, "day", 0.9, alone=alone)


def _month_and_year(match: re.Match[str], local: datetime) -> Named | None:
    period = whole("month", datetime(int(match["y"]), _month(match["m"]), 1))  # noqa: DTZ001
    return _named(match, period, "month", 0.9, alone=not _is_word(match, match["m"]))


def _month_alone(match: re.Match[str], local: datetime) -> Named | None:
    month = _month(match["m"])

    def of(year: int) -> Period:
        return whole("month", datetime(year, month, 1))  # noqa: DTZ001

    if match["which"] and match["which"].lower() != "this":
        # "last May" is never the one that has just begun.
        return _yearless(match, of, whole("month", local).start - timedelta(days=1), "month", 0.8)
    sure = 0.6 if _is_word(match, match["m"]) else 0.85
    return _yearless(match, of, local, "month", sure, alone=bool(match["which"]))


def _year(match: re.Match[str], local: datetime) -> Named | None:
    year = int(match[0])
    if not 2000 <= year <= local.year:
        return None
    return _named(match, whole("year", datetime(year, 1, 1)), "year", 0.7, alone=False)  # noqa: DTZ001


def _year_and_month(match: re.Match[str], local: datetime) -> Named | None:
    return _named(match, whole("month", datetime(int(match[1]), int(match[2]), 1)), "month", 0.85, alone=False)  # noqa: DTZ001


def _iso_week(match: re.Match[str], local: datetime) -> Named | None:
    return _named(match, whole("week", datetime.fromisocalendar(int(match[1]), int(match[2]), 1)), "week", 0.95)


def _quarter(match: re.Match[str], local: datetime) -> Named | None:
    quarter = int(match["a"] or match["b"] or ordinal(match["c"]) or 0)
    year = match["y"] or match["z"] or match["w"]
    if quarter > 4:
        return None

    def of(year: int) -> Period:
        return whole("quarter", datetime(year, 3 * quarter - 2, 1))  # noqa: DTZ001

    if year:
        return _named(match, of(int(year)), "year", 0.9)
    return _yearless(match, of, local, "year", 0.75, alone=False)


def _season(match: re.Match[str], local: datetime) -> Named | None:
    season = match["s"].lower()

    def of(year: int) -> Period:
        start = datetime(year, _SEASONS[season], 1)  # noqa: DTZ001
        return Period(start, shifted(start, 3, "month"))

    if match["y"]:
        return _named(match, of(int(match["y"])), "year", 0.6, alone=False)
    which = (match["which"] or "").lower()
    if which in ("", "the"):
        return None if not which else _yearless(match, of, local, "year", 0.6, alone=False)
    if which == "this":
        return _yearless(match, of, local, "year", 0.7, counted=True)
    # The last one is over: what has begun is "this" summer.
    return _yearless(match, of, shifted(local, -3, "month"), "year", 0.7, counted=True)


def _yearless(
    match: re.Match[str], of: Callable[[int], Period], local: datetime, unit: str, sure: float, **more: object
) -> Named | None:
    """Return the latest period that has begun, of those that come once a year."""
    for year in range(local.year, local.year - 9, -1):
        try:
            period = of(year)
        except ValueError:  # 29 February
            continue
        if period.start <= local:
            return _named(match, period, unit, sure, **{"yearless": True, **more})
    return None


# -- times told from now -----------------------------------------------------------------------------------------------


def _today(match: re.Match[str], local: datetime) -> Named | None:
    words = " ".join(match[0].lower().split())
    days = {"yesterday": 1, "the day before yesterday": 2, "day before yesterday": 2}.get(words, 0)
    return _named(match, whole("day", local - timedelta(days=days)), "day", 0.95)


def _part_of_day(match: re.Match[str], local: datetime) -> Named | None:
    """Read "this morning", "yesterday evening", "last night", "tonight", "Monday morning"."""
    word, day = (match["part"] or "night").lower(), local
    which = (match["which"] or "").lower()
    if which in ("yesterday", "last"):
        day = local - timedelta(days=1)
    elif which in _DAYS:
        day = _latest(_DAYS[which], local)
    midnight = whole("day", day).start
    begin, end = _PARTS[word]
    period = Period(midnight + timedelta(hours=begin), midnight + timedelta(hours=end))
    # "friday night lights"
    return _named(match, period, "day", 0.85, alone=which not in _DAYS, early=_SOFT, late=_SOFT)


def _earlier(match: re.Match[str], local: datetime) -> Named | None:
    """Read "earlier today": not what has only just been said."""
    today = whole("day", local)
    if match["period"].lower() in ("week", "month", "year"):
        begun = whole(match["period"].lower(), local).start
        return _named(match, Period(begun, max(today.start, begun + timedelta(days=1))), match["period"].lower(), 0.75)
    latest = local if match["period"].lower() == "today" else min(local, today.start + timedelta(hours=13))
    until = min(latest, max(local - _SOFT, today.start + timedelta(minutes=1)))
    return _named(match, Period(today.start, until), "day", 0.8)


def _ago(match: re.Match[str], local: datetime) -> Named | None:
    unit, (low, high) = match["unit"].lower(), _count(match["count"])
    if unit in ("hour", "minute"):
        then = local - timedelta(**{unit + "s": low})
        slack = timedelta(**{unit + "s": max(1, high - low)})
        return _named(match, Period(then - slack, then + slack), "day", 0.8)
    first, last = (whole(unit, shifted(local, -count, unit)) for count in (high, low))
    sure = 0.65 if high > low else {"day": 0.95, "week": 0.8, "month": 0.85}.get(unit, 0.75)
    unit = "year" if unit == "quarter" else unit
    named = _named(match, Period(first.start, last.end), unit, sure)
    if unit == "day" and low == high > 1:
        # Who counts days on the clock counts one less than who looks at the calendar.
        named = replace(named, early=timedelta(days=1))
    return named if high > low else replace(named, target=shifted(local, -low, match["unit"].lower()))


def _half_ago(match: re.Match[str], local: datetime) -> Named | None:
    then = shifted(local, -6, "month")
    return replace(_named(match, whole("month", then), "month", 0.65), target=then)


def _rolling(match: re.Match[str], local: datetime) -> Named | None:
    """Read "last 7 days", "the past month": until now, from the beginning of that day on."""
    unit = match["unit"].lower()
    count = _count(match["count"])[1] if match["count"] else 1
    if unit == "hour":
        return _named(match, Period(local - timedelta(hours=count), local), "day", 0.85, counted=True)
    since = whole("day", shifted(local, -count, unit)).start
    length = count * {"day": 1, "week": 7, "month": 30, "quarter": 90, "year": 365}[unit]
    return _named(match, Period(since, local), unit_of(timedelta(days=length)), 0.85, counted=True)


def _calendar_unit(match: re.Match[str], local: datetime) -> Named | None:
    """Read "this week", "last month", "the previous year"."""
    unit = match["unit"].lower()
    back = 0 if match["which"].lower() == "this" else -1
    named = _named(match, whole(unit, shifted(local, back, unit)), unit.replace("quarter", "year"), 0.9, counted=True)
    # Few call the day before "last day"; many write "the last day of the month".
    return None if unit == "day" else named


def _weekday(match: re.Match[str], local: datetime) -> Named | None:
    which, wanted = (match["which"] or "").lower(), _DAYS[match["day"].lower()]
    if which == "this":
        return _named(match, whole("day", _latest(wanted, local)), "day", 0.8)
    # "last Monday" on a Monday is a week ago, "on Monday" may be today.
    day = _latest(wanted, local - timedelta(days=1) if which else local)
    return _named(match, whole("day", day), "day", 0.9 if which else 0.85, alone=bool(which))


def _weekend(match: re.Match[str], local: datetime) -> Named | None:
    saturday = whole("day", _latest(5, local)).start
    if match["which"].lower() in ("last", "past", "previous", "this past") and local.weekday() >= 5:
        saturday -= timedelta(days=7)
    return _named(match, Period(saturday, saturday + timedelta(days=2)), "day", 0.8, alone=match["which"] != "the")


def _latest(weekday: int, local: datetime) -> datetime:
    return local - timedelta(days=(local.weekday() - weekday) % 7)


def _count(text: str) -> tuple[int, int]:
    words = text.lower()
    for word, (low, high) in _FUZZY.items():
        if word in words:
            return low, high
    number = cardinal(words) or 0
    return number, number


# -- times told from others --------------------------------------------------------------------------------------------


def _beside(match: re.Match[str], local: datetime) -> Named | None:
    """Read "three days before May 8th", "the weekend before April 10"."""
    other = named_at(match.string, match.end(), local)
    if other is None:
        return None
    unit, sign = match["unit"].lower(), -1 if match["side"].lower() != "after" else 1
    edge = other.period.start if sign < 0 else other.period.end - timedelta(days=1)
    if unit == "weekend":
        saturday = _latest(5, edge - timedelta(days=2)) if sign < 0 else _latest(5, edge + timedelta(days=7))
        period = Period(whole("day", saturday).start, whole("day", saturday).start + timedelta(days=2))
    elif unit in _DAYS:
        day = _latest(_DAYS[unit], edge - timedelta(days=1) if sign < 0 else edge + timedelta(days=7))
        period = whole("day", day)
    else:
        number = _count(match["count"])[0] if match["count"] else 1
        period = whole("day" if match["count"] else unit, shifted(edge, sign * number, unit))
    if unit == "week" and not match["count"] and sign < 0:
        # Whose week begins on a Monday, and whose is the seven days before.
        period = Period(period.start, other.period.start)
    named = _named(match, period, unit_of(period.end - period.start), min(0.8, other.sure))
    return replace(named, end=other.end, yearless=other.yearless)


def unit_of(length: timedelta) -> str:
    """Return how exactly a stretch of this length names a time: day, week, month or year."""
    limits = ((2, "day"), (10, "week"), (45, "month"))
    return next((unit for days, unit in limits if length <= timedelta(days=days)), "year")


def _readers() -> Iterator[tuple[re.Pattern[str], Reader]]:
    for pattern, reader in (
        (r"(?P<y>\d{4})(?P<s>[-/])(?P<m>\d\d)(?P=s)(?P<d>\d\d)(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z| UTC)?)?", _iso),
        (r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})", _slashes),
        (rf"(?P<m>{_MONTH}) (?:the )?(?P<d>{_DATE})(?:,? (?:of )?(?P<y>{_YEAR}))?", _month_and_day),
        (rf"(?:the )?(?P<d>{_DATE}) (?:of )?(?P<m>{_MONTH})(?:,? (?:of )?(?P<y>{_YEAR}))?", _month_and_day),
        (rf"(?P<m>{_MONTH}),? (?:of )?(?P<y>{_YEAR})", _month_and_year),
        (rf"(?:(?P<which>this|{_LAST}) )?(?P<m>{_MONTH})", _month_alone),
        (_YEAR, _year),
        (r"(\d{4})-(0[1-9]|1[0-2])(?!\d)", _year_and_month),
        (r"(\d{4})-?W(\d\d)(?!\d)", _iso_week),
        (
            rf"q(?P<a>[1-4])(?:[ /-]+(?:of )?(?P<y>{_YEAR}))?|(?P<z>20\d\d)[ /-]?q(?P<b>[1-4])\b"
            rf"|(?:the )?(?P<c>{ORDINAL}) quarter (?:of )?(?P<w>{_YEAR})",
            _quarter,
        ),
        (rf"(?:(?P<which>this|the|{_LAST}) )?(?P<s>{'|'.join(_SEASONS)})(?: (?:of )?(?P<y>{_YEAR}))?", _season),
        (r"today|yesterday|(?:the )?day before yesterday", _today),
        (rf"(?P<which>this|yesterday|last|{_DAY}) (?P<part>morning|afternoon|evening|night)", _part_of_day),
        (r"(?P<which>)tonight(?P<part>)", _part_of_day),
        (r"earlier (?:(?:this |in the )(?P<period>morning|week|month|year))", _earlier),
        (r"earlier (?P<period>today)", _earlier),
        (rf"(?P<count>{_COUNT}) (?P<unit>minute|hour|day|week|month|quarter|year)s? (?:ago|back|earlier)\b", _ago),
        (r"half a year ago", _half_ago),
        (
            rf"(?:the |these |this )?(?:last|past) (?P<count>{_COUNT}) (?P<unit>hour|day|week|month|quarter|year)s?\b",
            _rolling,
        ),
        (
            r"(?:(?:the|this) (?:last|past)|this previous|past) (?P<unit>day|week|month|quarter|year)\b(?P<count>)",
            _rolling,
        ),
        (rf"(?P<which>this|the (?:previous|prior)|last|previous|prior) (?P<unit>{_UNIT})\b", _calendar_unit),
        (rf"(?:(?P<which>this|this past|{_LAST}) )?(?P<day>{_DAY})", _weekday),
        (r"(?P<which>this past|this|the|last|past|previous) weekend\b", _weekend),
        (
            rf"(?:(?P<count>{_COUNT}) (?P<unit>day|week|month|year)s?) (?P<side>before|after|prior to) "
            rf"(?!now\b|today\b)",
            _beside,
        ),
        (
            rf"(?:the |last )+(?P<count>)(?P<unit>day|week|weekend|month|{_DAY}) (?P<side>before|after|prior to) ",
            _beside,
        ),
    ):
        yield re.compile(pattern, re.IGNORECASE), reader


_READERS = tuple(_readers())
