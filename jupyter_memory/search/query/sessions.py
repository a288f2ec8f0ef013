"""Sessions that a query names: "in our second session", "20 sessions ago", "over sessions 2 through 4"."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from jupyter_memory.text.dates import CARDINAL, ORDINAL, cardinal, ordinal
from jupyter_memory.types import Sessions, TemporalExpression

_IN = r"(?:(?:in|on|at|during|over|from|of|within|across|throughout) )?"
_TALK = r"(?:session|discussion|conversation|chat)"
_NOT_CODE = r"(?<![\w.\-/\\@#:=$%])"
_END = r"(?![\w(/\\=$%]|[-.:]\w)"
Reader = Callable[[re.Match[str]], Sessions | None]


def named_sessions(text: str, place: int) -> TemporalExpression | None:
    """Return the sessions that are named from a place of a text on; the phrase is left to the caller."""
    for pattern, sure, read in _compiled():
        match = pattern.match(text, place)
        sessions = read(match) if match else None
        if match and sessions:
            return TemporalExpression(match.start(), match.end(), "", sure, sessions=sessions)
    return None


def _ago(match: re.Match[str]) -> Sessions | None:
    return _back(cardinal(match["n"]))


def _back(count: int | None) -> Sessions | None:
    return Sessions(count, count, from_newest=True) if count else None


def _latest(match: re.Match[str]) -> Sessions | None:
    count = cardinal(match["n"]) if match["n"] else 1
    return Sessions(count, 1, from_newest=True) if count else None


def _next_to_last(match: re.Match[str]) -> Sessions | None:
    return Sessions(2, 2, from_newest=True)


def _place(match: re.Match[str]) -> Sessions | None:
    number = ordinal(match["n"])
    return Sessions(number, number) if number else None


def _first_few(match: re.Match[str]) -> Sessions | None:
    count = cardinal(match["n"])
    return Sessions(1, count) if count else None


def _number(match: re.Match[str]) -> Sessions | None:
    number = cardinal(match["n"])
    return Sessions(number, number) if number else None


def _span(match: re.Match[str]) -> Sessions | None:
    first, last = (ordinal(match[name]) or cardinal(match[name]) for name in ("a", "b"))
    return Sessions(first, last) if first and last and first <= last else None


def _side(match: re.Match[str]) -> Sessions | None:
    number = ordinal(match["n"]) or cardinal(match["n"])
    if not number:
        return None
    side = match["side"].lower()
    if side == "before":
        return Sessions(1, number - 1) if number > 1 else None
    return Sessions(number + (side == "after"), None)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], float, Reader], ...]:
    # Not before a query may name a time: they take longer to compile than a search.
    return tuple(
        (re.compile(_NOT_CODE + pattern + _END, re.IGNORECASE), sure, read) for pattern, sure, read in _PATTERNS
    )


_JOINT = r" ?(?:to|through|thru|until|till|and|[-–—]) ?"
_PATTERNS: tuple[tuple[str, float, Reader], ...] = (
    (rf"{_IN}(?:between )?sessions? (?P<a>{CARDINAL}){_JOINT}(?P<b>{CARDINAL})", 0.95, _span),
    (
        rf"{_IN}(?:between )?(?:our |the )?(?P<a>{ORDINAL}){_JOINT}(?:the )?(?P<b>{ORDINAL}) sessions?",
        0.9,
        _span,
    ),
    (rf"(?P<side>since|before|after) (?:our |the )?(?P<n>{ORDINAL}) session", 0.85, _side),
    (rf"(?P<side>since|before|after) session (?P<n>{CARDINAL})", 0.85, _side),
    (rf"(?P<n>{CARDINAL}) {_TALK}s? ago", 0.95, _ago),
    (rf"{_IN}(?:our|the|my) {_TALK} before last", 0.9, _next_to_last),
    (
        rf"{_IN}(?:(?:our|the|my) )?(?:last|previous|past|latest|most recent) (?P<n>{CARDINAL}) sessions",
        0.9,
        _latest,
    ),
    (rf"{_IN}(?:(?:our|the|my) )?(?:last|previous|latest|most recent) session(?P<n>)", 0.85, _latest),
    (rf"{_IN}our (?:last|previous|latest|most recent) {_TALK}(?P<n>)", 0.7, _latest),
    (rf"{_IN}(?:the )?last {_TALK}(?P<n>)(?=\s*[?.!]*$)", 0.6, _latest),
    (rf"{_IN}(?:(?:our|the|my) )?first (?P<n>{CARDINAL}) sessions", 0.85, _first_few),
    (rf"{_IN}our (?:very )?(?P<n>{ORDINAL}) {_TALK}", 0.95, _place),
    (rf"{_IN}(?:(?:the|my) )(?:very )?(?P<n>{ORDINAL}) session", 0.9, _place),
    (rf"(?P<n>{ORDINAL}) session", 0.6, _place),
    (rf"{_IN}session (?:number |no\.? |#)?(?P<n>\d{{1,4}})", 0.8, _number),
)
