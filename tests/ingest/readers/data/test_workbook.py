"""Claims about Excel workbooks."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Document

Read = Callable[[Path], Document]


def workbook(path: Path, sheet: str, **members: str) -> Path:
    """Write the parts of a workbook by hand, as other programs than Excel do too."""
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns:r="{relations}"><sheets><sheet name="Prices" sheetId="1" r:id="a"/></sheets></workbook>',
        )
        archive.writestr("xl/_rels/workbook.xml.rels", '<R><Relationship Id="a" Target="/xl/worksheets/one.xml"/></R>')
        archive.writestr("xl/worksheets/one.xml", sheet)
        for name, text in members.items():
            archive.writestr(f"xl/{name}.xml", text)
    return path


def test_each_sheet_is_a_table(tmp_path: Path, read: Read) -> None:
    """With its columns, wherever it begins, and its rows; an empty sheet is none."""
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra `test`")
    book = openpyxl.Workbook()
    book.active.title = "Prices"
    book.active.append(["customer_id", "churn date", "price [EUR]"])
    for number in range(200):
        book.active.append([4711 + number, date(2026, 3, 2), 3.25])
    book.create_sheet("Empty")
    people = book.create_sheet("Wer λ")
    people["C5"], people["D5"], people["C6"], people["D6"] = "name", "age", "Anna Meier", 44
    book.save(tmp_path / "a.xlsx")

    found = read(tmp_path / "a.xlsx")

    assert [(part.location, part.headings, part.text.split("\n")) for part in found.parts] == [
        (
            "sheet Prices",
            ("Prices",),
            [
                "Excel sheet Prices: 200 rows, 3 columns",
                "customer_id (customer id): integer",
                "churn date: date",
                "price [EUR]: number, unit EUR",
            ],
        ),
        ("sheet Wer λ", ("Wer λ",), ["Excel sheet Wer λ: 1 row, 2 columns", "name: text", "age: integer"]),
    ]
    assert not any(value in repr(found) for value in ("4711", "3.25", "Anna", "44"))


def test_a_workbook_of_another_program_is_read(tmp_path: Path, read: Read) -> None:
    """Texts may be in their cells, places and sizes may be missing, and absolute names are names."""
    sheet = (
        "<worksheet><sheetData><row><c t='inlineStr'><is><t>order_id</t></is></c><c t='inlineStr'><is><t>note</t></is>"
        "</c></row><row><c><v>17</v></c><c t='inlineStr'><is><t>secret</t></is></c></row></sheetData></worksheet>"
    )

    [part] = read(workbook(tmp_path / "a.xlsx", sheet)).parts

    assert part.text == "Excel sheet Prices: 1 row, 2 columns\norder_id (order id): integer\nnote: text"


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><worksheet>&b;</worksheet>'


@pytest.mark.parametrize(
    ("sheet", "says"),
    [(BOMB, "declares entities"), ("<worksheet><sheetData>", "none"), ("no xml", "no XML"), ("", "none")],
)
def test_harmful_and_broken_xml_is_refused(tmp_path: Path, read: Read, sheet: str, says: str) -> None:
    path = workbook(tmp_path / "a.xlsx", sheet)
    if says == "none":
        assert read(path).parts == ()
    else:
        with pytest.raises(InputError, match=says):
            read(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, read: Read) -> None:
    """Its directory says how much would come out; zipfile takes out no more than that."""
    path = workbook(tmp_path / "a.xlsx", "<worksheet/>")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/b.xml", b"\0" * 1_000)
        archive.infolist()[-1].file_size = 1_100_000_000

    with pytest.raises(InputError, match="1,000 MB"):
        read(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "another format"),
        (b"customer,price\n", "another format"),
        (b"PK\x03\x04" + b"x" * 100, "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, "before 2007"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
    ],
)
def test_what_is_no_workbook_says_so(tmp_path: Path, read: Read, content: bytes, says: str) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)

    with pytest.raises(InputError, match=says):
        read(path)


def test_another_archive_says_so(tmp_path: Path, read: Read) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("a.txt", "λ")

    with pytest.raises(InputError, match="no Excel workbook"):
        read(tmp_path / "a.xlsx")
