"""Numbers as English spells them: ``twenty-two``, ``a hundred and sixty-seven``, ``thirtieth``."""

from __future__ import annotations

import re

_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_SMALL = _SMALL_WORDS.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_IRREGULAR = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
}
_ORDINALS = _IRREGULAR | {
    (word[:-1] + "ieth" if word in _TENS else word + "th"): word
    for word in _VALUES
    if word not in _IRREGULAR.values() and word != "zero"
}
_ONE_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_UNDER_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_SMALL[1:10])}))?|{_ONE_WORD})"
# Patterns for what ``cardinal`` and ``ordinal`` read in lower-case text; neither has groups.
CARDINAL = (
    rf"(?:\d{{1,4}}|(?:a|{'|'.join(_SMALL[1:10])}) hundred(?: and {_UNDER_100}| {_UNDER_100})?|{_UNDER_100}|an?)"
    r"(?![\w.,]\w)\b"
)
ORDINAL = (
    rf"(?:\d{{1,3}}(?:st|nd|rd|th)|(?:(?:{'|'.join(_TENS)})[ -])?"
    rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))}))\b"
)


def cardinal(text: str) -> int | None:
    """Return the number that a text spells, None where it spells none.

    >>> cardinal("167"), cardinal("twenty-two"), cardinal("a hundred and sixty seven"), cardinal("an")
    (167, 22, 167, 1)
    """
    text = text.strip().lower()
    if text.isascii() and text.isdigit():
        return int(text)
    if text in ("a", "an"):
        return 1
    hundreds, hundred, rest = text.rpartition("hundred")
    words = [word for word in re.split(r"[ -]+", rest.strip().removeprefix("and ")) if word]
    if any(word not in _VALUES for word in words) or not (words or hundred):
        return None
    high = cardinal(hundreds) if hundred else 0
    return None if high is None else 100 * high + sum(_VALUES[word] for word in words)


def ordinal(text: str) -> int | None:
    """Return the number that an ordinal names, None where a text is none.

    >>> ordinal("22nd"), ordinal("twenty-second"), ordinal("thirtieth"), ordinal("twelfth")
    (22, 22, 30, 12)
    """
    text = text.strip().lower()
    if match := re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)", text):
        return int(match[1])
    *before, last = re.split(r"[ -]", text)
    return cardinal(" ".join([*before, _ORDINALS[last]])) if last in _ORDINALS else None
