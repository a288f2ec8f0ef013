"""Reads the sheets of an Excel workbook: the columns of each by its first rows.

openpyxl would read all texts of a workbook before its first row. Here only those of the first rows are looked up, and
the number of rows is the one that the sheet states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.data.headers import header_of, types_of, without_preamble
from jupyter_memory.ingest.readers.data.sheets import Cell, SheetRows, date_styles, parse, shared_texts, sheet_members
from jupyter_memory.ingest.readers.data.table import Column, Table, document
from jupyter_memory.ingest.readers.office import archive
from jupyter_memory.text.unicode import clean

_WHAT = "Excel workbook"
SHEETS = 200
# Stand for values by which the rows below a header are judged.
DATE, FLAG, _WRONG = "2000-01-01", "true", ""


def read(path: Path, /) -> Document:
    """Return a part for each sheet that has cells.

    Raises:
        InputError: the file is no Excel workbook, or it is damaged or encrypted.
    """
    with archive(path, "xl/workbook.xml", _WHAT) as opened:
        members, dates = sheet_members(opened), date_styles(opened)
        sheets: list[tuple[str, SheetRows]] = []
        for name, member in members[:SHEETS]:
            rows = SheetRows()
            parse(opened, member, rows.start, rows.text, rows.end)
            sheets.append((name, rows))
        shared = shared_texts(
            opened, [_place(cell) for _, sheet in sheets for row in sheet.rows for cell in _shared(row)]
        )
    tables = [_table(name, sheet, shared, dates) for name, sheet in sheets if sheet.rows]
    return document(tables, "Excel", max(0, len(members) - SHEETS))


def _table(name: str, sheet: SheetRows, shared: Mapping[int, str], dates: frozenset[int]) -> Table:
    places = sorted({place for row in sheet.rows for place in row})
    cells = [[_text(row.get(place), shared, dates) for place in places] for row in sheet.rows]
    stated = sheet.last - sheet.first + 1 if sheet.last >= sheet.first > 0 else None
    return sheet_table(name, cells, len(cells) if sheet.ended else stated)


def sheet_table(name: str, cells: Sequence[Sequence[str]], stated: int | None) -> Table:
    """Return what the first rows of a sheet are called; ``stated`` is how many rows it has, None if nobody says it.

    A date is given as 2000-01-01 and a flag as ``true``: they are looked at, and never told.
    """
    rows = without_preamble(cells)
    width = max(map(len, cells), default=0)
    header = header_of(rows)
    types = types_of(rows[1:] if header else rows, width)
    counted = None if stated is None else max(stated - (len(cells) - len(rows)), len(rows))
    return Table(
        columns=tuple(map(Column, (cell.strip() for cell in header), types)) if header else (),
        name=name,
        what="sheet",
        rows=None if counted is None else counted - (header is not None),
        types=tuple(types),
        width=width,
    )


def _text(cell: Cell | None, shared: Mapping[int, str], dates: frozenset[int]) -> str:
    if cell is None or not cell.value:
        return ""
    if cell.kind == "s":
        return clean(shared.get(_place(cell), ""))
    if cell.kind == "b":
        return FLAG
    if cell.kind == "e":
        return _WRONG
    if cell.kind in ("inlineStr", "str"):
        return clean(cell.value)
    return DATE if cell.kind == "d" or cell.style in dates else cell.value


def _shared(row: Mapping[int, Cell]) -> Sequence[Cell]:
    return [cell for cell in row.values() if cell.kind == "s"]


def _place(cell: Cell) -> int:
    return int(cell.value) if cell.value.isascii() and cell.value.isdecimal() and len(cell.value) < 10 else -1
