"""Short plain text for terminals and notebook output: columns, cuts, counts and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isnan
from unicodedata import combining, east_asian_width

from jupyter_memory.text.unicode import marked

_BREAKS = dict.fromkeys(map(ord, "\t\n\r\x85\u2028\u2029"), " ")


def visible(text: str) -> str:
    """Return a text on one line, with marks for the characters that control a terminal or turn the text around.

    >>> visible("\\x1b[2JZürich\\a\\nλ")
    '␛[2JZürich␇ λ'
    """
    return text if text.isprintable() else marked(text.translate(_BREAKS))


def html(text: str) -> str:
    """Return a text as HTML, with marks as in ``visible``; its lines stay.

    >>> html("a < b \\u202e")
    'a &lt; b [U+202E]'
    """
    return escape(marked(text))


def width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, cells: int) -> str:
    """Return a text on one line, cut to so many cells with an ellipsis.

    >>> fit("Monthly sales in Zürich", 14)
    'Monthly sales…'
    """
    # The text may be a book: its beginning is enough to fill a line, even if it has many blanks.
    line = " ".join(visible(text[: 20 * cells]).split())
    if len(text) <= 20 * cells and width(line) <= cells:
        return line
    return _beginning(line, cells - 1).rstrip() + "…"


def percent(share: float) -> str:
    """Return a share in per cent, empty where it is NaN.

    >>> percent(0.974), percent(float("nan"))
    ('97%', '')
    """
    return "" if isnan(share) else f"{share:.0%}"


def fit_end(text: str, cells: int) -> str:
    """Return a text cut at its beginning, for paths, whose end says more.

    >>> fit_end("/home/ada/reports/prices.ipynb", 16)
    '…ts/prices.ipynb'
    """
    text = visible(text)
    if width(text) <= cells:
        return text
    return "…" + _beginning(text[::-1], cells - 1)[::-1]


def _beginning(line: str, cells: int) -> str:
    """Return as much of a line as fits into so many cells."""
    used = 0
    for at, character in enumerate(line):
        used += width(character)
        if used > cells:
            return line[:at]
    return line


def pad(text: str, cells: int) -> str:
    """Return a text filled with spaces to so many cells."""
    return text + " " * max(0, cells - width(text))


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Return rows of text as aligned columns; the last column is not padded."""
    if not rows:
        return ""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = [
        indent + "  ".join([*(pad(cell, cells) for cell, cells in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def size(count: int) -> str:
    """Return a number of bytes as people say it.

    >>> size(2_500_000)
    '2.5 MB'
    """
    # A megabyte has a million bytes, as in the settings, in the panel and in file managers.
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{count} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


def preview(text: str) -> str:
    """Return the beginning of a text on one line, at most 60 characters."""
    line = " ".join(visible(text[:300]).split())
    return line if len(line) <= 60 and len(text) <= 300 else line[:59].rstrip() + "…"


def count_of(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun in the right form: ``1 file``, ``2 files``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def one_line(text: str) -> str:
    """Return a text, such as a snippet of code, on one line.

    >>> one_line("for shop in shops:\\n    λ += 1")
    'for shop in shops: λ += 1'
    """
    return " ".join(text.split())
