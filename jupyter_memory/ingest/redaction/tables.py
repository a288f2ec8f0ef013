"""Finds the columns of passwords in printed frames, Markdown tables and lines of CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_memory.ingest.redaction.values import is_noise, is_scrambled, is_spoken

# The name of such a column; what follows is another column, or the end of the line.
_NAME = r"p(?<![a-z0-9.'(=-]p)(?:assw(?:or)?d|asswort|assphrase|wd)s?"
_COLUMN = re.compile(rf"{_NAME}(?=[\"']?(?:[ \t]{{0,40}}(?:[|\t]|\\?[\r\n]|\\n)|[,;]\S|[ \t]{{2,40}}\w|$))")
_LINE = re.compile(r"(?:(?!\\n)[^\n])*+")
_NUMBER = re.compile(r"[ \t]*+(?:-{1,6}>[ \t]*+)?\d{1,5}[ \t]")
_WORDS = re.compile(r"[ \t]*[\"']?[\w.%#-]+(?: [\w.%#-]+)*[\"']?[ \t]*")
_SPACED = re.compile(r"\S+(?: \S+)*")
_PRINTED = re.compile(r"\S+")
# Rows below a header that are looked at, and characters of a line.
_ROWS, _WIDTH = 300, 2_000

Span = tuple[int, int]


def columns(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Yield the passwords in the columns of tables; ``low`` is the text in lower case."""
    done = 0
    for name in _COLUMN.finditer(low):
        if name.start() < done:
            continue
        begin = _begin(low, name.start())
        header = _line(low, begin)
        if header is None or header.end() < name.end():
            continue
        separator = next((mark for mark in "|\t;," if mark in header.group()), None)
        if separator:
            spans = _separated(text, header, begin, name.start(), separator)
        else:
            spans = _aligned(text, header, begin, name.span())
        # One column of a table. Its rows are no headers, so each line is read twice at most.
        done = header.end()
        for start, end in spans:
            done = end
            value = text[start:end]
            if is_spoken(value) or is_scrambled(value) or is_noise(value):
                yield start, end, "password"


def _begin(low: str, place: int) -> int:
    """Return where the line with a place begins, also within a string of JSON."""
    since = max(0, place - _WIDTH)
    found = ((low.rfind(mark, since, place), len(mark)) for mark in ("\n", "\\n", '": "'))
    return max((since, *(at + length for at, length in found if at >= 0)))


def _line(text: str, begin: int) -> re.Match[str] | None:
    return _LINE.match(text, begin, begin + _WIDTH)


def _rows(text: str, header: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines below a header, with where each begins, up to an empty one."""
    end = header.end()
    for _ in range(_ROWS):
        begin = end + (2 if text.startswith("\\n", end) else 1)
        row = _line(text, begin) if begin < len(text) else None
        if row is None or not row.group().strip():
            return
        yield begin, row.group()
        end = row.end()


def _fields(line: str, begin: int, separator: str) -> list[Span]:
    """Return where the fields of a line are, without the number that a traceback writes before it."""
    numbered = _NUMBER.match(line)
    start = numbered.end() if numbered else 0
    fields = []
    for field in line[start:].split(separator):
        bare = field.strip(" \t\r\"'`\\")
        at = begin + start + field.find(bare)
        fields.append((at, at + len(bare)))
        start += len(field) + 1
    return fields


def _separated(text: str, header: re.Match[str], begin: int, name: int, separator: str) -> Iterator[Span]:
    """Yield the values of a column of a table whose columns have a separator between them."""
    line = text[begin : header.end()]
    fields = _fields(line, begin, separator)
    if not all(_WORDS.fullmatch(text[start:end] or "x") for start, end in fields):
        return
    column = next((index for index, (start, end) in enumerate(fields) if start <= name < end), None)
    for at, row in _rows(text, header):
        values = _fields(row, at, separator)
        if column is None or len(values) != len(fields):
            return
        yield values[column]


def _aligned(text: str, header: re.Match[str], begin: int, name: Span) -> Iterator[Span]:
    """Yield the values below a name in a table that is aligned by spaces, as pandas prints it."""
    line = text[begin : header.end()]
    if len(list(_SPACED.finditer(line))) != len(line.split()) or len(line.split()) < 2:
        return
    for at, row in _rows(text, header):
        for value in _PRINTED.finditer(row):
            start, end = value.start() + begin, value.end() + begin
            if start < name[1] and end > name[0]:
                yield value.start() + at, value.end() + at
