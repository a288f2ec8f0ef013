"""What a kind of secret is described by, and the pieces that several descriptions share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


def _always(value: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like. A text without any of ``hints`` in lower case has no such secret.

    A hint has at least three bytes, because hints are found by their first three. If ``check`` agrees, the pattern's
    group ``secret`` is replaced, or the whole match if there is no such group.
    """

    what: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = _always


def shape(what: str, hints: str | tuple[str, ...], pattern: str, check: Callable[[str], bool] = _always) -> Shape:
    """Return a shape; hints without spaces may be given in one string."""
    return Shape(what, tuple(hints.split()) if isinstance(hints, str) else hints, re.compile(pattern), check)


def word(*beginnings: str) -> str:
    """Return a pattern for what a token begins with, where no longer word ends with it.

    The letters come before the look behind them, because that is much faster. In a string of JSON, the letter before a
    token may belong to an escaped line break.
    """
    tokens = [rf"{begin}(?:(?<![\w-]{begin})|(?<=\\[nrt]{begin}))" for begin in beginnings]
    return f"(?:{'|'.join(tokens)})" if len(tokens) > 1 else tokens[0]


# A word of a command line, in quotes or not; the options before it; and what separates an option from its value, also
# where a program is called with a list of words.
QUOTED = r"(?P<quote>[\"'])?+"
WORD = (
    r"(?P<secret>(?(quote)[^\"'\n]{4,500}+|(?:[^\s\"'`;|&<>()\\,]|,(?!\s)|\\[^\w\s\"'\\]){4,500}+))(?(quote)(?P=quote))"
)
BEFORE = r"(?:\\\n|[^\n;|&]){0,200}?[\s\"']"
TO = r"(?:[\"'],\s{0,3}|[ =]{0,3})"

# "Password" in German, French, Spanish, Portuguese and Dutch, in lower case; JSON may escape a letter.
ABROAD = r"(?:kennwort|mot[ _-]?de[ _-]?passe|contrase(?:ñ|n\u0303?|\\u00f1)a|(?<!de)senha|wachtwoord)"
OF_ABROAD = ("kennwort", "de passe", "de_passe", "de-passe", "depasse", "contrase", "senha", "wachtwoord")

# A quote, also within a string of JSON.
QUOTE = r"\\?[\"']"
# What a traceback writes before a line of code: its number, and an arrow.
NUMBER = r"(?:[ \t]{0,9}(?:-{1,6}>)?[ \t]{0,9}\d{1,5}[ \t|])"
# The end of a line and what stands before the text of the next one; within a string of JSON it is escaped.
BREAK = r"[ \t]{0,9}(?:\r?\n" + NUMBER + r"?|(?:\\r)?\\n)[ \t]{0,40}"
# Between two words of a file, on one line or over two.
GAP = r"(?:" + BREAK + r"|[ \t]{1,9})"
# Nothing but the end of a line or of a string follows.
LINE_END = r"(?=[ \t]{0,9}(?:[\r\n]|\\[rn]|" + QUOTE + r"|$))"
