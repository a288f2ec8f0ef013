"""What stands around a time in a query, and tells whether it is one."""

from __future__ import annotations

import re
from typing import Literal

Follows = Literal["nothing", "function", "of", "noun"]

# Nothing in quotation marks or back-ticks is read, nor what follows words that make a time of the future or a habit.
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|`[^`]*`')
# "May 3-5": not the hyphen of a name.
_FROM_TO = re.compile(r"(?<![\w\-/.])(\d{1,2}(?:st|nd|rd|th)?)-(?=\d{1,2}(?:st|nd|rd|th)?(?![\w\-]))")
_SPACE = re.compile(r"[\s\u00a0]")
_OTHER_TIMES = re.compile(
    r"\b(?:next|every|each|per|coming|upcoming|following|version|v|release|python) (?=\w)(?:\S+)", re.IGNORECASE
)
_WORD = re.compile(r"\s*([\w']+)(.?)")
_FUNCTION_WORDS = """
    a about after again against all also although am an and any are as at back be because been before being both
    but by can compared could did do does done during each ever for from had has have having he her here him his
    how i if in into is it its just like me my near no not now on only onto or our out over per regarding related
    said same she should since so some than that the their them then there these they this those though through
    till to too under until up us using versus via vs was we were what when where whether which while who whom
    whose why will with within without would you your
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
# A query that computes with dates is not told when.
_TECHNICAL = re.compile(
    r"\b(?:python|pandas|numpy|sql|javascript|java|regex|function|datetime|timedelta|timestamps?|strftime|strptime|dateutil|"
    r"cron|rolling|moving|window|average|mean|median|resample|groupby|lag|lags|forecast\w*|predict\w*|cumulative|"
    r"calculate|compute|convert|parse|format|dataframe|def|return\w*)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:i|we|me|us|my|our|did|discuss\w*|talk\w*|mention\w*|said|wrote|notes?)\b", re.IGNORECASE)
# What tells of a recurring time that it means all of them, that it means one, and that it rather means all of them.
_USUALLY = re.compile(
    r"\b(?:usual(?:ly)?|often|always|typical(?:ly)?|general(?:ly)?|seasonal\w{0,3}|every)\b", re.IGNORECASE
)
_ONCE = re.compile(
    r"\b(?:i|we|me|us|my|our|did|was|were|had|when|discussed|talked|mentioned|said|wrote|notes?)\b", re.IGNORECASE
)
_GENERAL = re.compile(r"\b(?:is|are|do|does|can|average|mean)\b", re.IGNORECASE)
# "The difference between winter and summer" is no stretch of time.
_COMPARED = re.compile(
    r"\b(?:differ\w{0,5}|gap|relation\w{0,4}|correlation|comparison|contrast|transition|ratio) $", re.IGNORECASE
)


def ready(text: str) -> str:
    """Return a text of the same length with blanks for all that cannot name a time."""
    text = _FROM_TO.sub(r"\1–", _SPACE.sub(" ", text))
    for pattern in (_QUOTED, _OTHER_TIMES):
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    return text


def what_follows(text: str, end: int) -> Follows:
    """Return what stands after a time: nothing (or a mark), a function word, ``of``, or another word, as a noun."""
    if text.startswith(("'s", "’s"), end):
        match = _WORD.match(text, end + 2)
        return "noun" if match else "nothing"
    match = _WORD.match(text, end)
    if match is None:
        return "nothing"
    word = match[1].lower()
    if word == "of":
        return "of"
    return "function" if word in _FUNCTION else "noun"


def is_about_time_itself(text: str) -> bool:
    """Return whether a query asks how to compute with times rather than what was there at one."""
    return bool(_TECHNICAL.search(text)) and not _PERSON.search(text)


def share_of_one_time(text: str) -> float:
    """Return how certain it is that a query means one time of those that recur.

    "What did I plot in winter" means one winter, "why is demand higher in winter" means all of them.
    """
    if _USUALLY.search(text):
        return 0.3
    if _ONCE.search(text):
        return 1.0
    return 0.3 if _GENERAL.search(text) else 0.6


def is_compared(text: str, place: int) -> bool:
    """Return whether what begins at a place is compared: "the difference between winter and summer"."""
    return bool(_COMPARED.search(text[:place]))
