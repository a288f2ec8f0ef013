"""Reads the sheets of workbooks of Excel before 2007, binary ones, and those of LibreOffice, with calamine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.data.table import Table, document
from jupyter_memory.ingest.readers.data.workbook import DATE, FLAG, SHEETS, sheet_table
from jupyter_memory.ingest.readers.office import archive
from jupyter_memory.text.unicode import clean

_ROWS, _COLUMNS = 51, 2_000
# What an archive of each kind must have in it; the others are no archives.
_ARCHIVES = {".xlsb": "xl/workbook.bin", ".ods": "content.xml"}


def read(path: Path, /) -> Document:
    """Return a part for each sheet that has cells.

    Raises:
        InputError: the file is no such workbook, or it is damaged or encrypted.
    """
    main = _ARCHIVES.get(path.suffix.lower())
    with archive(path, main, "workbook") if main is not None else nullcontext():
        try:
            book = CalamineWorkbook.from_path(path)
        except PasswordError:
            raise InputError("The workbook is protected by a password. Save it without one to have it read.") from None
    with book:
        sheets = [one.name for one in book.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
        tables = [table for name in sheets[:SHEETS] for table in _tables(book.get_sheet_by_name(name))]
    return document(
        tables, "Excel" if main is None or main.endswith(".bin") else "OpenDocument", max(0, len(sheets) - SHEETS)
    )


def _tables(sheet: CalamineSheet) -> Iterator[Table]:
    cells = [[_text(cell) for cell in row[:_COLUMNS]] for row in islice(sheet.iter_rows(), _ROWS)]
    filled = [row for row in cells if any(row)]
    if filled:
        yield sheet_table(sheet.name, filled, max(sheet.height - len(cells) + len(filled), len(filled)))


def _text(cell: object) -> str:
    if isinstance(cell, str):
        return clean(cell)
    if isinstance(cell, bool):
        return FLAG
    if isinstance(cell, datetime | date | time):
        return DATE
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
