"""Claims about workbooks of Excel before 2007 and of LibreOffice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from workbooks import ods, row, xls

from jupyter_memory import InputError
from jupyter_memory.ingest import Document

pytest.importorskip("python_calamine", reason="needs the extra `data`")

Read = Callable[[Path], Document]


def test_a_workbook_of_before_2007_has_its_columns(tmp_path: Path, read: Read) -> None:
    """By sheet, with types and units, below a title; no value, and nothing of an empty sheet."""
    (tmp_path / "a.xls").write_bytes(xls())

    [part] = read(tmp_path / "a.xls").parts

    assert part.text == (
        "Excel sheet Umsätze: 5 rows, 5 columns\n"
        "customer_id (customer id): integer\n"
        "churn_date (churn date): date\n"
        "price [EUR]: number, unit EUR\n"
        "ort: text\n"
        "active: boolean"
    )
    assert part.metadata["rows"] == 5 and not any(value in repr(part) for value in ("4714", "Zürich", "2026"))


def test_a_workbook_of_libreoffice_has_its_columns(tmp_path: Path, read: Read) -> None:
    """As one of Excel has."""
    ods(tmp_path / "a.ods", row("tariff_id", "day") + row("a7", "2026-03-02") + row("b8", "2026-03-03"))

    [part] = read(tmp_path / "a.ods").parts

    assert part.text == "OpenDocument sheet Tarife: 2 rows, 2 columns\ntariff_id (tariff id): text\nday: date"


def test_a_sheet_that_repeats_its_rows_for_ever_is_bounded(tmp_path: Path, read: Read) -> None:
    """A cell may stand for a billion: that is read, or reported, and costs no more than its process may have."""
    more = ' table:number-rows-repeated="1048576"'
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="string">'
    wide = f"{cell}<text:p>λ</text:p></table:table-cell>"
    ods(tmp_path / "a.ods", row("day", "price") + f"<table:table-row{more}>{wide}</table:table-row>")

    try:
        told = repr(read(tmp_path / "a.ods").parts)
    except InputError as error:
        told = str(error)
    assert len(told) < 100_000


@pytest.mark.parametrize("ending", [".xls", ".xlsb", ".ods"])
@pytest.mark.parametrize("content", [b"", b"a,b\n", b"PK\x03\x04xxx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1xxx"])
def test_what_is_damaged_or_something_else_says_so(tmp_path: Path, read: Read, ending: str, content: bytes) -> None:
    """In words of ours, without any of its text."""
    (tmp_path / f"a{ending}").write_bytes(content)

    with pytest.raises(InputError) as error:
        read(tmp_path / f"a{ending}")
    assert str(error.value).startswith("The file is") and "xxx" not in str(error.value)
