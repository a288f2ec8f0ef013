"""Plain text for terminals and notebook output: columns, cuts and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width


def width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, cells: int) -> str:
    """Return a text on one line, cut to so many cells with an ellipsis.

    >>> fit("Monthly sales in Zürich", 14)
    'Monthly sales…'
    """
    line = " ".join(text.split())
    if width(line) <= cells:
        return line
    while line and width(line) > cells - 1:
        line = line[:-1]
    return line.rstrip() + "…"


def fit_end(text: str, cells: int) -> str:
    """Return a text cut at its beginning, for paths, whose end tells more.

    >>> fit_end("/home/ada/reports/prices.ipynb", 16)
    '…ts/prices.ipynb'
    """
    if width(text) <= cells:
        return text
    while text and width(text) > cells - 1:
        text = text[1:]
    return "…" + text


def pad(text: str, cells: int) -> str:
    """Return a text filled with spaces to so many cells."""
    return text + " " * max(0, cells - width(text))


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Return rows of text with their columns below each other; the last one keeps its length."""
    if not rows:
        return ""
    widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = [
        indent + "  ".join([*(pad(cell, cells) for cell, cells in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def size(count: int) -> str:
    """Return a number of bytes as people say it.

    >>> size(2_621_440)
    '2.5 MB'
    """
    amount, unit = float(count), "bytes"
    for larger in ("KB", "MB", "GB", "TB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{count} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
