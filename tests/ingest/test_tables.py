"""Tables in CSV, TSV, JSON Lines and workbooks: their columns are told with types and units, and never a value."""

import gzip
import json
import os
import tomllib
import zipfile
import zlib
from datetime import date
from importlib.resources import files

import pytest
from pdfs import ods, row, xls

from jupyter_memory import InputError

ORDERS = "customer_id,churn_date,price [EUR]\n17,2026-03-02,3.25\n18,2026-03-04,9.75\n"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_have_names_types_and_units(read, separator):
    header = separator.join(("customer_id", "churn_date", "price [EUR]", "temp_c", "ort"))
    values = separator.join(("17", "2026-03-02", "3.25", "21", "Zürich"))
    [part] = read("churn.csv", f"{header}\n{values}\n").parts
    assert part.text == (
        "CSV table: 1 row, 5 columns\n"
        "customer_id (customer id): integer\n"
        "churn_date (churn date): date\n"
        "price [EUR]: number, unit EUR\n"
        "temp_c (temp c): integer, unit °C\n"
        "ort: text"
    )
    assert part.metadata == {"format": "CSV", "columns": 5, "rows": 1, "rows_estimated": False}


def test_no_value_is_told(read):
    """Neither of a row, nor of a first row that is none of names."""
    for name, header in (("with.csv", "name,amount\n"), ("without.csv", "")):
        told = repr(read(name, f"{header}Anna Meier,4711\nBob Rossi,815\nCarl Weber,99\n"))
        assert not any(value in told for value in ("Anna", "Bob", "Weber", "4711", "815", "99"))
    assert "The columns have no names. Types: text, integer" in told


def test_addresses_and_secrets_in_a_header_are_counted_only(read):
    """A table that was pivoted has values for names."""
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    [part] = read("pivot.csv", f"day,anna@example.org,bob@example.org,{secret}\n2026-03-02,1,2,3\n").parts
    assert "example.org" not in part.text and "ghp_" not in part.text and "4 columns" in part.text


TYPES = tomllib.loads((files("jupyter_memory") / "ingest/readers/tables.toml").read_text("utf-8"))["types"]


@pytest.mark.parametrize("row", TYPES, ids=[row["type"] for row in TYPES])
def test_each_type_is_that_of_its_sample(read, row):
    [part] = read("one.tsv", f"customer_id\n{row['sample']}\n").parts
    assert part.text.endswith(f"customer_id (customer id): {row['type']}")


PEOPLE = ("Anna,Meier,Zürich", "Bob,Rossi,Genf", "Carl,Weber,Basel")


@pytest.mark.parametrize(
    "lines",
    [
        ("customer_id,churn_date,price [EUR]", "1,2026-03-02,3.5", "2,2026-03-03,4.5"),
        ("name,surname,city", *PEOPLE),  # text above text, in the words of columns
        ("firstName,lastName,homeTown", *PEOPLE),  # or in their spelling
        ("Speed of the rotor,Wind", "3.5,1", "3.6,2", "4,3"),  # text above numbers, whatever its words
        ("id,V1,V2,x_100", "1,.1,.2,.3", "2,.1,.2,.3"),
        (",age,city", "0,31,Zürich", "1,44,Genf"),  # the index of a DataFrame has no name
        ("customer_id,churn_date",),  # nothing below it
    ],
)
def test_a_header_is_told_from_the_rows_below_it(read, lines):
    """By text above numbers or dates, or by the words and spellings of names of columns; a title is passed over."""
    width = lines[0].count(",")
    for above in ((), ("Prices of March" + "," * width, "," * width)) if width > 1 and len(lines) > 2 else ((),):
        [part] = read("a.csv", "\n".join((*above, *lines)) + "\n").parts
        assert part.metadata["rows"] == len(lines) - 1
        assert all(name in part.text for name in lines[0].split(",")) and "no names" not in part.text


@pytest.mark.parametrize(
    "lines",
    [
        PEOPLE, ("Anna,23", "Bob,42", "Carl,17"),
        ("Anna,n/a", "Bob,42", "Carl,17", "Dora,18"),  # a missing value above numbers
        ("Anna Meier,absent", "Bob Rossi,42", "Carl Weber,17", "Dora Wolf,18"),
        ("anna@example.org,name", "bob@example.org,x"), ("name,2026-03-02", "x,2026-03-03"),
        ("name,+41 44 123 45 67", "x,+41 44 123 45 68"),
        ("user,9f8c1e2ab7d04c55e1f02a3b", "x,1f8c1e2ab7d04c55e1f02a3c"),
        ("name,name", "x,1"),  # one name twice
        ("1,2", "3,4"), ("Zürich,Genf",),
        ("name,city", "name,city"),  # it recurs: it is a value
        # Years or dates above other years or dates, in no equal steps, or alone: a life in years, numbers that look so.
        ("Anna Meier,1950,1972,1994", "Bob Rossi,1948,1970,2001", "Carl Weber,1960,1981,1999"),
        ("Ayre,2019,2100,2150", "Brough,12,13,14", "Cairn,17,18,19"),
        ("Anna Meier,2026-03-02,2026-03-09", "Bob Rossi,2026-03-03,2026-03-10", "Carl Weber,2026-03-04,2026-03-11"),
        ("Ayre,2019", "Brough,12", "Cairn,13"),
        ("2019,2020,2021", "2022,2023,2024", "2025,2026,2027"),
        ('{"name": "Anna"}', '{"name": "Bob"}'), ('["Anna", 3]', '["Bob", 4]'),  # JSON lines
    ],
)  # fmt: skip
def test_what_may_be_data_is_no_header(read, lines):
    """When in doubt, the first row is a row."""
    [part] = read("a.csv", "\n".join(lines) + "\n").parts
    assert "The columns have no names." in part.text and part.metadata["rows"] == len(lines)


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ("2019,2020,2021", ("Ayre,3,4,5", "Brough,7,8,9")),
        ("1990,2000,2010", ("Ayre,1203,2001,812", "Brough,99,7,8")),
        ("FY2023,FY2024,FY2025E", ("Ayre,1.5,,2", "Brough,n/a,3.5,3")),
        ("2019/20,2020/21,2021/22", ("Ayre,1,2,3",)),
        ("Jan 2024,Feb 2024,Mar 2024", ("Ayre,1,2,3", "Brough,1,2,3")),
        ("2024-01-31,2024-02-29,2024-03-31", ("Ayre,1,2,3",)),
        ("Q1 2024,Q2 2024,Q3 2024", ("Ayre,1,2,3",)),
        ("X2021,X2022,X2023", ("Ayre,1,2,3",)),  # as R calls them
        ("2021 (est.),2022 (est.),2023 (est.)", ("Ayre,1,2,3",)),
    ],
)
def test_columns_of_years_and_dates_are_counted_and_the_others_named(read, names, rows):
    """They are no values of a row where numbers stand below them; of those numbers nothing is told."""
    [part] = read("landings.csv", "\n".join((f"harbour,{names}", *rows)) + "\n").parts
    what = f"CSV table: {len(rows)} row{'s' if len(rows) > 1 else ''}, 4 columns"
    assert part.text == f"{what}\nharbour: text\nand 3 columns named by years or dates"


def test_a_question_is_a_name(read):
    question = "How often did you take the ferry in the last twelve months before you moved to the town for good? (1-5)"
    [part] = read("survey.csv", f"respondent_id,{question},Why?\n1,3,bored\n2,4,late\n3,5,cheap\n").parts
    assert f"{question}: integer" in part.text and "Why?: text" in part.text and "bored" not in part.text
    sentence = "I took the ferry because the bridge was closed for the third time in this very long year."
    [part] = read("a.jsonl", json.dumps({sentence: 1, "id": 2}) + "\n").parts
    assert sentence not in part.text


def test_rows_of_a_long_file_are_estimated_and_marked(read):
    """By the length of its first lines; a short file is counted."""
    [part] = read("a.csv", "order_id,amount\n" + "".join(f"{i:06},{i % 90 + 10}\n" for i in range(100_000))).parts
    assert part.metadata["rows_estimated"] and abs(part.metadata["rows"] - 100_000) < 2_000
    assert "rows (estimated)" in part.text


def test_millions_of_columns_are_counted_as_far_as_they_are_read(read):
    wide = ",".join(f"gene_{i}" for i in range(1_000_000)) + "\n" + ",".join("1" * 1_000_000) + "\n"
    [part] = read("wide.csv", wide).parts
    assert part.text.startswith("CSV table: at least 1") and len(part.text) < 1_000


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_are_read(read, encoding):
    """As Excel writes them; lines may end as on Windows, and a comment may stand above."""
    assert "größe: integer" in read("a.csv", "# von Zoë\r\nname;größe\r\nx;3\r\n".encode(encoding)).parts[0].text


def lines_of(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_keys_are_told_with_their_types_and_inner_keys(read):
    """Of lines of JSON, inner keys behind a dot."""
    records = [{"user_id": i, "address": {"city": "Zürich"}, "items": [{"price": 0.5}], "note": None} for i in range(5)]
    [part] = read("events.jsonl", lines_of(*records)).parts
    assert part.text == (
        "JSON Lines file: 5 rows, 6 columns\n"
        "user_id (user id): integer\n"
        "address: object\n"
        "address.city (address city): text\n"
        "items: list\n"
        "items.price (items price): number\n"
        "note: empty"
    )


def test_a_record_may_end_where_reading_does(read):
    """The first 256,000 bytes are read; a record that fills them is whole."""
    long = {"type": "x", "day": ""}
    long["day"] = "y" * (256_000 - len(lines_of(long)))
    assert "day: text" in read("a.jsonl", lines_of(long, {"type": "x"})).parts[0].text


def test_keys_that_are_data_are_not_told(read):
    """Those of a mapping from people to numbers differ from record to record, and some look like values."""
    people = ("Anna", "Bob", "Carl", "Dora", "Emil", "Franka", "Gustav", "Hanna", "Ilse", "Jan")
    records = [{"day": i, "by": {name: 3}, f"{name.lower()}@example.org": 1} for i, name in enumerate(people)]
    told = repr(read("events.jsonl", lines_of(*records)))
    assert "by: object" in told and not any(name.lower() in told.lower() for name in people)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("orders.csv", ORDERS),
        ("orders.tsv", ORDERS.replace(",", "\t")),
        ("orders.jsonl", '{"customer_id": 17, "price": 3.25}\n{"customer_id": 18, "price": 9.75}\n'),
        ("orders.ndjson", '{"customer_id": 17}\n{"customer_id": 18}\n'),
    ],
)
def test_a_compressed_file_is_read_as_what_is_in_it(read, name, text):
    """The same columns and rows, in whatever case the name is written, and in several members, as bgzip writes them."""
    plain = [part.text for part in read(name, text).parts]
    members = b"".join(gzip.compress(line.encode()) for line in text.splitlines(keepends=True))
    for data in (gzip.compress(text.encode()), members):
        found = read(f"{name.upper()}.gz", data)
        assert [part.text for part in found.parts] == plain
        assert found.parts[0].metadata["rows"] == 2 and "17" not in found.parts[0].text


def test_rows_of_a_compressed_file_are_estimated_by_what_its_beginning_takes(read):
    """Marked as an estimate; of a download that was cut off, they are those that came."""
    rows = "".join(f"{i:06},{(i * 7919) % 99991}\n" for i in range(100_000))
    [part] = read("long.csv.gz", gzip.compress(f"order_id,amount\n{rows}".encode())).parts
    assert part.metadata["rows_estimated"] and 70_000 < part.metadata["rows"] < 140_000
    rows = "".join(f"{os.urandom(9).hex()},{i}\n" for i in range(9_000))
    whole = gzip.compress(f"order_id,amount\n{rows}".encode())
    [part] = read("half.csv.gz", whole[: len(whole) // 2]).parts
    assert part.metadata["rows_estimated"] and "order_id" in part.text


def test_of_a_bomb_only_the_beginning_comes_out(read, monkeypatch):
    """A file of 100 KB that holds 100 MB of columns, or of lines, costs as much as any other."""
    came_out, decompressor = [], zlib.decompressobj

    class Counting:
        def __init__(self, wbits):
            self._member = decompressor(wbits=wbits)

        def decompress(self, data, most):
            came_out.append(found := self._member.decompress(data, most))
            return found

        def __getattr__(self, name):
            return getattr(self._member, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    for name, piece in (("wide.csv.gz", b"gene_a,"), ("long.csv.gz", b"a,b\n"), ("one.jsonl.gz", b'{"a":')):
        packer = zlib.compressobj(wbits=31)
        pieces = [packer.compress(piece * 150_000) for _ in range(100)]
        bomb = b"".join([*pieces, packer.flush()])
        assert len(bomb) < 400_000
        try:
            told = repr(read(name, bomb).parts)
        except InputError as error:
            told = str(error)
        assert len(told) < 1_000
    assert 0 < sum(map(len, came_out)) < 10_000_000


def workbook(path, sheet):
    """Write the parts of a workbook by hand, as other programs than Excel do too."""
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns:r="{relations}"><sheets><sheet name="Prices" sheetId="1" r:id="a"/></sheets></workbook>',
        )
        for name, kind, target in (
            ("_rels/.rels", "officeDocument", "xl/workbook.xml"),
            ("xl/_rels/workbook.xml.rels", "worksheet", "/xl/worksheets/one.xml"),
        ):
            found = f'<Relationship Id="a" Type="{relations}/{kind}" Target="{target}"/>'
            archive.writestr(name, f"<Relationships>{found}</Relationships>")
        archive.writestr("xl/worksheets/one.xml", sheet)
    return path


def test_each_sheet_is_a_table(tmp_path, read):
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
    found = read("a.xlsx")
    prices = (
        "Excel sheet Prices: 200 rows, 3 columns\ncustomer_id (customer id): integer\nchurn date: date\n"
        "price [EUR]: number, unit EUR"
    )
    assert [(part.location, part.headings, part.text) for part in found.parts] == [
        ("sheet Prices", ("Prices",), prices),
        ("sheet Wer λ", ("Wer λ",), "Excel sheet Wer λ: 1 row, 2 columns\nname: text\nage: integer"),
    ]
    assert not any(value in repr(found) for value in ("4711", "3.25", "Anna", "44"))


def test_a_workbook_of_another_program_is_read(tmp_path, read):
    sheet = (
        "<worksheet><sheetData><row><c t='inlineStr'><is><t>order_id</t></is></c><c t='inlineStr'><is><t>note</t></is>"
        "</c></row><row><c><v>17</v></c><c t='inlineStr'><is><t>secret</t></is></c></row></sheetData></worksheet>"
    )
    [part] = read(workbook(tmp_path / "a.xlsx", sheet)).parts
    assert part.text == "Excel sheet Prices: 1 row, 2 columns\norder_id (order id): integer\nnote: text"


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><worksheet>&b;</worksheet>'


def test_harmful_and_broken_xml_is_refused(tmp_path, read):
    """Entities are not expanded, and of an archive no more comes out than its directory says, and never a gigabyte."""
    path = tmp_path / "a.xlsx"
    cell = "<sheetData><row><c t='inlineStr'><is><t>&b;</t></is></c></row></sheetData>"
    for sheet in (BOMB.replace("&b;</", f"{cell}</"), "no xml", "<worksheet><sheetData>", ""):
        with pytest.raises(InputError, match="damaged"):
            read(workbook(path, sheet))
    assert read(workbook(path, BOMB)).parts == ()
    workbook(path, "<worksheet/>")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/b.xml", b"\0" * 1_000)
        archive.infolist()[-1].file_size = 1_100_000_000
    with pytest.raises(InputError, match="1,000 MB"):
        read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "λ")
    with pytest.raises(InputError, match="no Excel workbook"):
        read(path)


def test_other_workbooks_have_their_columns(tmp_path, read):
    """Of Excel before 2007 and of LibreOffice: by sheet, with types and units, below a title; no value."""
    [part] = read("a.xls", xls()).parts
    assert part.text == (
        "Excel sheet Umsätze: 5 rows, 5 columns\n"
        "customer_id (customer id): integer\n"
        "churn_date (churn date): date\n"
        "price [EUR]: number, unit EUR\n"
        "ort: text\n"
        "active: boolean"
    )
    assert part.metadata["rows"] == 5 and not any(value in repr(part) for value in ("4714", "Zürich", "2026"))
    ods(tmp_path / "a.ods", row("tariff_id", "day") + row("a7", "2026-03-02") + row("b8", "2026-03-03"))
    [part] = read("a.ods").parts
    assert part.text == "OpenDocument sheet Tarife: 2 rows, 2 columns\ntariff_id (tariff id): text\nday: date"


def test_a_sheet_that_repeats_its_rows_for_ever_is_bounded(tmp_path, read):
    """A cell may stand for a billion: that is read, or reported, and costs no more than its process may have."""
    more = ' table:number-rows-repeated="1048576"'
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="string">'
    wide = f"{cell}<text:p>λ</text:p></table:table-cell>"
    ods(tmp_path / "a.ods", row("day", "price") + f"<table:table-row{more}>{wide}</table:table-row>")
    try:
        told = repr(read("a.ods").parts)
    except InputError as error:
        told = str(error)
    assert len(told) < 100_000
