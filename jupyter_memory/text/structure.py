"""The structural prefix: a short text that places a chunk in its document and in time, and is embedded with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jupyter_memory.text.headings import plain
from jupyter_memory.text.names import heading_path, words_within

# Spelled out here, since strftime speaks the language of the machine.
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WORDS_ABOVE = 60
# Sixty words are some 400 characters; what is longer has data among them.
_LONGEST_ABOVE = 1_000
# In the metadata of a memory: the line of its file with which it begins.
LINE = "line"
# Locations that only count: another part may be there after an edit.
_POSITION = re.compile(r"#.*|(?:page|slide) \d+", re.DOTALL)
# Between the source of a cell and its outputs.
_OUTPUTS = "\n\nOut:\n"


def context(name: str, headings: Sequence[str], above: str = "", when: datetime | str | None = None) -> str:
    """Return the prefix of a cell or chunk: one line for each thing that is known of it.

    ``name`` is the document's, ``headings`` lead down to the place, ``above`` is the Markdown just above it, of which
    the first 60 words are used, up to 1,000 characters. ``when`` is aware and shown in local time, or a day as ``day``
    returns it.

    >>> from datetime import UTC
    >>> print(context("02_prices.ipynb", ["Prices", "Cleaning"], when=datetime(2026, 11, 21, 12, tzinfo=UTC)))
    02_prices.ipynb
    Prices > Cleaning
    Saturday 21 November 2026
    """
    words = plain(above).split(" ", _WORDS_ABOVE)[:_WORDS_ABOVE] if above else ()
    told = words_within(" ".join(words), _LONGEST_ABOVE)
    parts = (name, heading_path(headings), told, day(when) if isinstance(when, datetime) else when)
    return "\n".join(part for part in parts if part)


def headings_above(prefix: str, title: str, kind: str) -> str:
    """Return the headings of a chunk's prefix, without the last one if the memory's title ends with it.

    >>> headings_above("prices.ipynb\\nPrices > Cleaning > Outliers", "prices.ipynb – Outliers", "cell")
    'Prices > Cleaning'
    """
    name, *lines = prefix.split("\n")
    if kind == "file":
        return lines[0] if len(lines) > 1 else ""
    # Only the title tells whether the second line of a cell has headings or the words above it.
    last = title.removeprefix(f"{name} – ")
    if last == title or not lines or not lines[0].endswith(f" > {last}"):
        return ""
    return lines[0].removesuffix(f" > {last}")


def heading_of(prefix: str, title: str, kind: str) -> str:
    """Return the heading that a chunk is under, or the title of a note; nothing where there is none.

    >>> heading_of("prices.ipynb\\nPrices > Outliers\\nMonday 1 June 2026", "prices.ipynb – Outliers", "cell")
    'Outliers'
    """
    if kind == "note":
        return title
    name, *lines = prefix.split("\n")
    if kind == "file":
        return lines[0].rpartition(" > ")[2] if len(lines) > 1 else ""
    last = title.removeprefix(f"{name} – ")
    return "" if last == title else last


def words_above(prefix: str, title: str, kind: str) -> str:
    """Return the words of the Markdown just above a cell, as its prefix has them; nothing where there are none.

    >>> words_above("prices.ipynb\\nOutliers\\nDrop them.\\nMonday 1 June 2026", "prices.ipynb – Outliers", "cell")
    'Drop them.'
    """
    name, *lines = prefix.split("\n")
    # Only a title that the document gave tells whether the second line has headings; the day comes last.
    if kind != "cell" or not (title == name or heading_of(prefix, title, kind)):
        return ""
    told = lines[:-1] if title == name else lines[1:-1]
    return told[0] if told else ""


def is_position(location: str) -> bool:
    """Return whether a location is only a position in its document, not a name that stays with its part.

    >>> is_position("#7"), is_position("page 3"), is_position("89ce8ae6"), is_position("table prices")
    (True, True, False, False)
    """
    return _POSITION.fullmatch(location) is not None


def first_line(metadata: Mapping[str, Any]) -> int | None:
    """Return the line of its file with which a memory begins, None where that is not known."""
    line = metadata.get(LINE)
    return line if isinstance(line, int) and line > 0 else None


def day(when: datetime) -> str:
    """Return weekday and date in English: ``Saturday 21 November 2026``."""
    local = when.astimezone()
    return f"{_DAYS[local.weekday()]} {local.day} {_MONTHS[local.month - 1]} {local.year}"


def under(document: str, headings: Sequence[str], about: str = "") -> str:
    """Return a document's prefix with the heading path of one of its chunks, and more about it, after the name."""
    name, newline, rest = document.partition("\n")
    return "\n".join(part for part in (name, heading_path(headings), about, rest if newline else "") if part)


def embedding_text(kind: str, title: str, prefix: str, text: str) -> str:
    """Return what is embedded for a chunk: its head and its text."""
    head = embedded_head(kind, title, prefix)
    return f"{head}\n{text}" if head else text


def embedded_head(kind: str, title: str, prefix: str) -> str:
    """Return what is put in front of a chunk's text when it is embedded: a note's title, or the structural prefix."""
    return title if kind == "note" else prefix


def with_outputs(source: str, outputs: str) -> str:
    """Return the text of a cell: its source, then its outputs where it has any."""
    return f"{source}{_OUTPUTS}{outputs}" if outputs else source


def source_of(text: str) -> str:
    """Return the source of a cell by its text.

    >>> source_of(with_outputs("1 + 1", "2"))
    '1 + 1'
    """
    return text.split(_OUTPUTS, 1)[0]


def outputs_of(text: str) -> str:
    """Return the outputs of a cell by its text; nothing where there are none.

    >>> outputs_of(with_outputs("1 + 1", "2"))
    '2'
    """
    return text.partition(_OUTPUTS)[2]
