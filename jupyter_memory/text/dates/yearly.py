"""Readers of what comes once a year: ``in spring``, ``last winter``, ``before Easter``, ``New Year's Eve 2025``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from jupyter_memory.text.dates.calendars import Period, shifted, whole
from jupyter_memory.text.dates.numerals import CARDINAL, cardinal
from jupyter_memory.text.dates.vocabulary import WHICH, YEAR, Named, Reader, naming

OfYear = Callable[[int], Period]

# The months in which the seasons of the northern hemisphere begin, as meteorologists count them.
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Also the name of a framework, a coil, a tumble; after these words no season is meant.
_AMBIGUOUS = {"spring", "fall"}
_NO_SEASON_AFTER = re.compile(r"\b(?:after|at|from|into|of|on|through|to|using|via|with) $", re.IGNORECASE)
_FRAMEWORK = re.compile(
    r"\b(?:java|kotlin|maven|gradle|beans?|autowir(?:e|ed|ing)|servlets?|jdbc|jpa|hibernate|mvc|boot|coil|stiffness)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Holiday:
    """When a holiday is; ``early`` and ``late`` are the days around it that people may mean too."""

    of: OfYear
    early: int = 0
    late: int = 0


def _fixed(month: int, day: int) -> OfYear:
    return lambda year: whole("day", datetime(year, month, day))  # noqa: DTZ001


def _from_easter(days: int, length: int = 1) -> OfYear:
    def of(year: int) -> Period:
        # Loaded here because few queries name Easter.
        from dateutil.easter import easter

        first = datetime.combine(easter(year), time()) + timedelta(days=days)
        return Period(first, first + timedelta(days=length))

    return of


def _thanksgiving(length: int = 1) -> OfYear:
    """Return the fourth Thursday of November, as in the United States."""

    def of(year: int) -> Period:
        last = datetime(year, 11, 28)  # noqa: DTZ001
        first = last - timedelta(days=(last.weekday() - 3) % 7)
        return Period(first, first + timedelta(days=length))

    return of


# By their names without apostrophes.
_HOLIDAYS: Mapping[str, _Holiday] = {
    "new years eve": _Holiday(_fixed(12, 31)),
    "new years day": _Holiday(_fixed(1, 1)),
    "new years": _Holiday(_fixed(1, 1), early=1),
    "new year": _Holiday(_fixed(1, 1), early=1),
    "valentines day": _Holiday(_fixed(2, 14)),
    "ash wednesday": _Holiday(_from_easter(-46)),
    "palm sunday": _Holiday(_from_easter(-7)),
    "good friday": _Holiday(_from_easter(-2)),
    "easter weekend": _Holiday(_from_easter(-2, 4)),
    "easter sunday": _Holiday(_from_easter(0)),
    "easter monday": _Holiday(_from_easter(1)),
    "easter": _Holiday(_from_easter(0), early=2, late=1),
    "ascension day": _Holiday(_from_easter(39)),
    "pentecost": _Holiday(_from_easter(49), early=1, late=1),
    "whitsun": _Holiday(_from_easter(49), early=1, late=1),
    "halloween": _Holiday(_fixed(10, 31)),
    "thanksgiving weekend": _Holiday(_thanksgiving(4)),
    "thanksgiving day": _Holiday(_thanksgiving()),
    "thanksgiving": _Holiday(_thanksgiving(), late=3),
    "christmas eve": _Holiday(_fixed(12, 24)),
    "christmas day": _Holiday(_fixed(12, 25)),
    "christmas": _Holiday(_fixed(12, 25), early=1, late=1),
    "xmas": _Holiday(_fixed(12, 25), early=1, late=1),
    "boxing day": _Holiday(_fixed(12, 26)),
}
_SEASON = "|".join(_SEASONS)
_HOLIDAY = "|".join(_HOLIDAYS).replace("years", "year['’]?s").replace("valentines", "valentine['’]?s")


def yearless(
    match: re.Match[str], of: OfYear, local: datetime, unit: str, sure: float, /, *, which: str = "", **more: object
) -> Named | None:
    """Return the latest period that has begun, of periods that come once a year.

    The last one (``which``) is over: what has just begun is "this" May. This one is of this year, or was just over.
    """
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
        return naming(match, period, unit, sure, **{"yearless": True, **more})
    return None


def _season(match: re.Match[str], local: datetime) -> Named | None:
    season, which = match["s"].lower(), (match["which"] or "").lower()
    of = _of_season(season)
    if match["y"]:
        return naming(match, of(int(match["y"])), "year", 0.6)
    if which not in ("", "the"):
        return yearless(match, of, local, "year", 0.7, which=which, counted=True)
    if not which and season in _AMBIGUOUS and _is_no_season(match):
        return None
    return yearless(match, of, local, "year", 0.6, alone=False, recurring=True)


def _of_season(season: str) -> OfYear:
    def of(year: int) -> Period:
        start = datetime(year, _SEASONS[season], 1)  # noqa: DTZ001
        return Period(start, shifted(start, 3, "month"))

    return of


def _is_no_season(match: re.Match[str]) -> bool:
    """Return whether "spring" or "fall" is rather a name or a noun: by its capital, or by the words around it."""
    after_another_word = _NO_SEASON_AFTER.search(match.string[: match.start()])
    return match["s"] == "Spring" or bool(after_another_word or _FRAMEWORK.search(match.string))


def _holiday(match: re.Match[str], local: datetime) -> Named | None:
    holiday, which = _HOLIDAYS[_name(match["h"])], match["which"] or ""
    named: Named | None
    if match["y"]:
        named = naming(match, holiday.of(int(match["y"])), "day", 0.9)
    elif which:
        named = yearless(match, holiday.of, local, "day", 0.85, which=which, counted=True)
    else:
        named = yearless(match, holiday.of, local, "day", 0.8, alone=False, recurring=True)
    early, late = timedelta(days=holiday.early), timedelta(days=holiday.late)
    return named and replace(named, early=early, late=late, of=holiday.of)


def _name(words: str) -> str:
    return words.lower().replace("'", "").replace("’", "")


def _years_back(match: re.Match[str], local: datetime) -> Named | None:
    """Read "two summers ago", "the Christmas before last"."""
    name = _name(match["many"] or match["one"])
    of = _of_season(name) if name in _SEASONS else _HOLIDAYS[name].of
    last = yearless(match, of, local, "year" if name in _SEASONS else "day", 0.75, which="last", counted=True, of=of)
    years = (cardinal(match["n"]) or 0) if match["n"] else 2
    return last.years_later(1 - years) if last is not None and years > 0 else None


READERS: tuple[tuple[str, Reader], ...] = (
    # "winter 2024/25"
    (rf"(?:(?P<which>{WHICH}|the) )?(?P<s>{_SEASON})(?:,? (?:of )?(?P<y>{YEAR})(?:[/–-](?:20)?\d\d)?)?", _season),
    (rf"(?:(?P<which>{WHICH}) )?(?P<h>{_HOLIDAY})\b(?:,? (?:of |in )?(?P<y>{YEAR}))?", _holiday),
    (
        rf"(?P<n>{CARDINAL}) (?P<many>{_SEASON}|easter|christmas)e?s ago"
        rf"|(?:the )?(?P<one>{_SEASON}|{_HOLIDAY}) before last\b",
        _years_back,
    ),
)
