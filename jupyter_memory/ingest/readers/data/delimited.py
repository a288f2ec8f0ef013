"""Reads the beginning of a CSV or TSV file: its columns, and about how many rows it has."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.data.headers import header_of, types_of, without_preamble
from jupyter_memory.ingest.readers.data.sample import Sample, sample
from jupyter_memory.ingest.readers.data.table import Column, Table, document

# Rows by which columns are judged, and rows by which the separator is.
_ROWS, _FEW = 200, 40
_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class DelimitedReader:
    """Reads tables whose columns are separated by a character: their first bytes, whatever their size."""

    format: str
    suffixes: tuple[str, ...]
    separators: tuple[str, ...] = _SEPARATORS
    version: int = 1
    sampled: int = 65_536

    def read(self, path: Path, /) -> Document:
        """Return the columns of the table, without a value; an empty file has none.

        Raises:
            InputError: the file is no table of text.
            OSError: the file cannot be read.
        """
        begun = sample(path)
        if not begun.text.strip():
            return Document((), "data")
        lines = _table_lines(begun)
        separator = max(self.separators, key=lambda one: _fit(lines[:_FEW], one))
        rows = _rows(lines, separator)
        if not rows:
            raise InputError(f"The file has no row that can be read, so it is no {self.format}.")
        return document([_table(rows, lines, begun)], self.format)


def _table(rows: Sequence[Sequence[str]], lines: Sequence[str], begun: Sample) -> Table:
    rows = without_preamble(rows)
    width, header = len(rows[0]), None if begun.cut_short else header_of(rows[: _ROWS + 1])
    types = types_of(rows[1 : _ROWS + 1] if header else rows[:_ROWS], width)
    count = len(rows) - (header is not None)
    estimated = not begun.whole
    if estimated:
        read = sum(map(len, lines)) or 1
        count = max(count, round(count * begun.characters / read))
    return Table(
        columns=tuple(map(Column, (cell.strip() for cell in header), types)) if header else (),
        rows=None if begun.cut_short else count,
        estimated=estimated,
        types=tuple(types) if not begun.cut_short else (),
        width=width,
        at_least=begun.cut_short,
    )


def _table_lines(begun: Sample) -> list[str]:
    """Return the lines of the table, without comments above it and without a last line that is not all there."""
    lines = io.StringIO(begun.text).readlines()
    while lines and (not lines[0].strip() or lines[0].startswith("#")):
        del lines[0]
    if not begun.whole and len(lines) > 1:
        del lines[-1]
    return lines


def _fit(lines: Sequence[str], separator: str) -> tuple[bool, float, int]:
    """Return how well lines are separated by a character: into several columns, and as many in each line."""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=separator) if row)
    except csv.Error:
        return False, 0.0, 0
    if not widths:
        return False, 0.0, 0
    width, lines_alike = widths.most_common(1)[0]
    return width > 1, lines_alike / widths.total(), width


def _rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        raise InputError("A field of the file is too long for a table; perhaps a quote is not closed.") from None
