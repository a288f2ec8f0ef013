"""Claims about PDF, Word and PowerPoint files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pdfs import pdf_of, written

from jupyter_memory import InputError
from jupyter_memory.ingest import Document, known_readers

docx = pytest.importorskip("docx", reason="needs the extra `documents`")
pptx = pytest.importorskip("pptx", reason="needs the extra `documents`")
pytest.importorskip("pypdfium2", reason="needs the extra `documents`")
pypdf = pytest.importorskip("pypdf", reason="needs the extra `test`")

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def read(path: Path) -> Document:
    return known_readers().reader_of(path).read(path)


def test_a_pdf_is_read_by_page(tmp_path: Path) -> None:
    """With the title and the date that it states; a page without text is none."""
    path = tmp_path / "ar.pdf"
    path.write_bytes(
        pdf_of(["Tariffs are net of tax.", "", "Prices rose."], "Annual report", "D:20260302101500+01'00'")
    )

    found = read(path)

    assert [(part.location, part.text) for part in found.parts] == [
        ("page 1", "Tariffs are net of tax."),
        ("page 3", "Prices rose."),
    ]
    assert (found.title, found.language, found.written) == ("Annual report (ar.pdf)", "pdf", WHEN)


def test_a_word_that_goes_on_in_the_next_line_is_one_word(tmp_path: Path) -> None:
    """The hyphen at the end of a line is none of the word; one within a line stays."""
    page = "A well-known fore-) Tj 0 -14 Td (cast of prices."
    (tmp_path / "a.pdf").write_bytes(pdf_of([page]))

    [part] = read(tmp_path / "a.pdf").parts
    assert part.text.split() == ["A", "well-known", "forecast", "of", "prices."]


@pytest.mark.parametrize(
    ("stated", "written"),
    [
        ("D:20260302101500+01'00'", WHEN),
        ("D:20260302091500Z", WHEN),
        ("D:20260302091500", WHEN),
        ("D:2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("D:20261399", None),
        ("last spring", None),
        ("", None),
    ],
)
def test_a_pdf_has_the_date_that_it_states(tmp_path: Path, stated: str, written: datetime | None) -> None:
    """In the ways in which PDF writes dates; anything else is none."""
    (tmp_path / "a.pdf").write_bytes(pdf_of(["Tariffs."], date=stated))

    assert read(tmp_path / "a.pdf").written == written


def test_a_word_document_is_read_by_section(tmp_path: Path) -> None:
    """Each with the headings that lead down to it; a heading without text belongs to what follows."""
    path, document = tmp_path / "a.docx", docx.Document()
    document.core_properties.title, document.core_properties.modified = "Tariffs", WHEN.replace(tzinfo=None)
    document.add_paragraph("Before everything.")
    document.add_heading("Prices", 1)
    document.add_heading("Zürich", 2)
    document.add_paragraph("They rose.")
    cells = document.add_table(1, 2).rows[0].cells
    cells[0].text, cells[1].text = "day", "price"
    document.add_heading("Tax", 1)
    document.add_paragraph("Net.")
    document.save(str(path))

    found = read(path)

    assert [(part.location, part.headings, part.text) for part in found.parts] == [
        ("#1", (), "Before everything."),
        ("#2", ("Prices", "Zürich"), "Prices\n\nZürich\n\nThey rose.\n\nday | price"),
        ("#3", ("Tax",), "Tax\n\nNet."),
    ]
    assert (found.title, found.language, found.written) == ("Tariffs (a.docx)", "docx", WHEN)


def test_a_presentation_is_read_by_slide(tmp_path: Path) -> None:
    """With its title as heading, what is in groups and tables, and the notes."""
    path, presentation = tmp_path / "a.pptx", pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Tariffs", "Net of tax"
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "grouped λ"
    table = slide.shapes.add_table(1, 2, 0, 0, 9, 9).table
    table.cell(0, 0).text, table.cell(0, 1).text = "day", "price"
    slide.notes_slide.notes_text_frame.text = "say it slowly"
    presentation.slides.add_slide(presentation.slide_layouts[6])
    presentation.save(str(path))

    found = read(path)

    [part] = found.parts
    assert (part.location, part.headings) == ("slide 1", ("Tariffs",))
    assert part.text == "Tariffs\n\nNet of tax\n\ngrouped λ\n\nday | price\n\nNotes: say it slowly"
    assert found.written is None, "the date of the library's template is not the document's"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_locked_pdf_says_so(tmp_path: Path, algorithm: str) -> None:
    """One that anybody may open, and nobody change, is read."""
    (tmp_path / "a.pdf").write_bytes(pdf_of(["Tariffs are net of tax."]))
    for name, password in (("locked.pdf", "k4ffee"), ("open.pdf", "")):
        writer = pypdf.PdfWriter(clone_from=tmp_path / "a.pdf")
        writer.encrypt(password, "owner", algorithm=algorithm)
        writer.write(tmp_path / name)

    assert read(tmp_path / "open.pdf").parts[0].text == "Tariffs are net of tax."
    with pytest.raises(InputError, match="protected by a password"):
        read(tmp_path / "locked.pdf")


def test_a_pdf_of_pictures_says_so(tmp_path: Path) -> None:
    """A scan has text that nobody can read; a figure without words has none."""
    (tmp_path / "a.pdf").write_bytes(pdf_of(["", ""], pictures=True))
    (tmp_path / "figure.pdf").write_bytes(pdf_of([""]))

    assert read(tmp_path / "figure.pdf").parts == ()
    with pytest.raises(InputError, match="no text, only pictures"):
        read(tmp_path / "a.pdf")


def test_pages_within_themselves_end(tmp_path: Path) -> None:
    """A tree of pages that leads back to its top is damage like any other."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 9 >>",
        b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count 9 >>",
        b"<< /Title (x) >>",
    ]
    (tmp_path / "a.pdf").write_bytes(written(objects))

    with pytest.raises(InputError, match=r"damaged|nested|within"):
        read(tmp_path / "a.pdf")


@pytest.mark.parametrize("ending", [".pdf", ".docx", ".pptx"])
@pytest.mark.parametrize(
    "content", [b"", b"customer,price\n", b"%PDF-1.7\nxxx", b"PK\x03\x04xxx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]
)
def test_what_is_damaged_or_something_else_says_so(tmp_path: Path, ending: str, content: bytes) -> None:
    """In words of ours, without any of its text."""
    path = tmp_path / f"a{ending}"
    path.write_bytes(content)

    with pytest.raises(InputError) as error:
        read(path)
    assert str(error.value).startswith("The file is") and "xxx" not in str(error.value)


def test_an_archive_with_entities_expands_none(tmp_path: Path) -> None:
    """A Word document whose XML is a bomb is damaged, or is read without what the entities stand for."""
    document = docx.Document()
    document.add_paragraph("harmless")
    document.save(str(tmp_path / "plain.docx"))
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    with zipfile.ZipFile(tmp_path / "plain.docx") as plain, zipfile.ZipFile(tmp_path / "a.docx", "w") as harmful:
        for name in plain.namelist():
            text = plain.read(name)
            if name == "word/document.xml":
                text = text.replace(b"<w:document", bomb.encode() + b"<w:document", 1).replace(b"harmless", b"&f;x&a;")
            harmful.writestr(name, text)

    try:
        told = repr(read(tmp_path / "a.docx"))
    except InputError:
        told = ""
    assert "root:" not in told and "aaaa" not in told


def test_pages_are_found_again_by_their_text(tmp_path: Path, store: Callable) -> None:
    """A page that slips behind a new one keeps its id, tags and pin: its number is only a position."""
    path, opened = tmp_path / "docs" / "a.pdf", store()
    path.parent.mkdir()
    path.write_bytes(pdf_of(["Tariffs are net of tax.", "Prices rose in March."]))
    opened.index(path, progress=False)
    before = {memory.text: memory.id for memory in (hit.memory for hit in opened.hits("tariffs prices").hits)}
    path.write_bytes(pdf_of(["A new first page about weather.", "Tariffs are net of tax.", "Prices rose in March."]))
    opened.index(path, progress=False)

    after = {hit.memory.text: hit.memory for hit in opened.hits("tariffs prices").hits}
    assert len(before) == 2
    assert {text: after[text].id for text in before} == before
    assert after["Tariffs are net of tax."].location == "page 2"


def test_a_memory_has_the_date_that_its_document_states(tmp_path: Path, store: Callable) -> None:
    """Not that of the file, which is of today."""
    (tmp_path / "a.pdf").write_bytes(pdf_of(["Tariffs are net of tax."], date="D:20260302101500+01'00'"))
    opened = store()
    opened.index(tmp_path / "a.pdf", progress=False)

    assert opened.hits("tariffs").hits[0].memory.event_at == WHEN
