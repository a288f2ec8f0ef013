"""PDF, Word and PowerPoint files: what is read of them, and how their parts are found again."""

import zipfile
from datetime import UTC, datetime

import pytest
from pdfs import pdf_of, written

from jupyter_memory import InputError

docx = pytest.importorskip("docx", reason="needs the extra `documents`")
pptx = pytest.importorskip("pptx", reason="needs the extra `documents`")
pytest.importorskip("pypdfium2", reason="needs the extra `documents`")
pypdf = pytest.importorskip("pypdf", reason="needs the extra `test`")

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
STATED = "D:20260302101500+01'00'"


def test_a_pdf_is_read_by_page(read):
    """With the title that it states; a page without text is none; a word that goes on in the next line is one."""
    content = pdf_of(["Tariffs are net of tax.", "", "A well-known fore-) Tj 0 -14 Td (cast."], "Annual report", STATED)
    found = read("ar.pdf", content)
    assert [(part.location, " ".join(part.text.split())) for part in found.parts] == [
        ("page 1", "Tariffs are net of tax."),
        ("page 3", "A well-known forecast."),
    ]
    assert (found.title, found.language, found.written) == ("Annual report (ar.pdf)", "pdf", WHEN)


@pytest.mark.parametrize(
    ("stated", "date"),
    [
        (STATED, WHEN),
        ("D:20260302091500Z", WHEN),
        ("D:20260302091500", WHEN),
        ("D:2026", datetime(2026, 1, 1, tzinfo=UTC)),
        *((text, None) for text in ("D:20261399", "last spring", "")),
    ],
)
def test_a_pdf_has_the_date_that_it_states(read, stated, date):
    """In the ways in which PDF writes dates; anything else is none."""
    assert read("a.pdf", pdf_of(["Tariffs."], date=stated)).written == date


def test_a_word_document_is_read_by_section(tmp_path, read):
    """Each with the headings that lead down to it; a heading without text belongs to what follows."""
    document = docx.Document()
    document.core_properties.title, document.core_properties.modified = "Tariffs", WHEN.replace(tzinfo=None)
    document.add_paragraph("Before everything.")
    document.add_heading("Prices", 1)
    document.add_heading("Zürich", 2)
    document.add_paragraph("They rose.")
    cells = document.add_table(1, 2).rows[0].cells
    cells[0].text, cells[1].text = "day", "price"
    document.add_heading("Tax", 1)
    document.add_paragraph("Net.")
    document.save(str(tmp_path / "a.docx"))
    found = read("a.docx")
    assert [(part.location, part.headings, part.text) for part in found.parts] == [
        ("#1", (), "Before everything."),
        ("#2", ("Prices", "Zürich"), "Prices\n\nZürich\n\nThey rose.\n\nday | price"),
        ("#3", ("Tax",), "Tax\n\nNet."),
    ]
    assert (found.title, found.language, found.written) == ("Tariffs (a.docx)", "docx", WHEN)


def test_a_presentation_is_read_by_slide(tmp_path, read):
    """With its title as heading, what is in groups and tables, and the notes."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Tariffs", "Net of tax"
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "grouped λ"
    table = slide.shapes.add_table(1, 2, 0, 0, 9, 9).table
    table.cell(0, 0).text, table.cell(0, 1).text = "day", "price"
    slide.notes_slide.notes_text_frame.text = "say it slowly"
    presentation.slides.add_slide(presentation.slide_layouts[6])
    presentation.save(str(tmp_path / "a.pptx"))
    found = read("a.pptx")
    [part] = found.parts
    assert (part.location, part.headings) == ("slide 1", ("Tariffs",))
    assert part.text == "Tariffs\n\nNet of tax\n\ngrouped λ\n\nday | price\n\nNotes: say it slowly"
    assert found.written is None, "the date of the library's template is not the document's"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_locked_pdf_says_so(tmp_path, read, algorithm):
    """One that anybody may open, and nobody change, is read."""
    (tmp_path / "a.pdf").write_bytes(pdf_of(["Tariffs are net of tax."]))
    for name, password in (("locked.pdf", "k4ffee"), ("open.pdf", "")):
        writer = pypdf.PdfWriter(clone_from=tmp_path / "a.pdf")
        writer.encrypt(password, "owner", algorithm=algorithm)
        writer.write(tmp_path / name)
    assert read("open.pdf").parts[0].text == "Tariffs are net of tax."
    with pytest.raises(InputError, match="protected by a password"):
        read("locked.pdf")


def test_pdfs_without_text_say_why(read):
    """A scan has text that nobody can read, a figure has none; a tree of pages that leads back to its top is damage."""
    assert read("figure.pdf", pdf_of([""])).parts == ()
    with pytest.raises(InputError, match="no text, only pictures"):
        read("scan.pdf", pdf_of(["", ""], pictures=True))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 9 >>",
        b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count 9 >>",
        b"<< /Title (x) >>",
    ]
    with pytest.raises(InputError, match=r"damaged|nested|within"):
        read("round.pdf", written(objects))


def test_an_archive_with_entities_expands_none(tmp_path, read):
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
        told = repr(read("a.docx"))
    except InputError:
        told = ""
    assert "root:" not in told and "aaaa" not in told


def test_pages_are_found_again_by_their_text(index, folder):
    """A page that slips behind a new one keeps its id and has the date that its document states, not the file's."""
    pages = ["Tariffs are net of tax.", "Prices rose in March."]
    found = []
    for texts in (pages, ["A new first page about weather.", *pages]):
        (folder / "a.pdf").write_bytes(pdf_of(texts, date=STATED))
        index(folder)
        found.append({hit.memory.text: hit.memory for hit in index.memory.hits("tariffs prices").hits})
    before, after = found
    assert len(before) == 2 and {text: after[text].id for text in before} == {text: before[text].id for text in before}
    assert after[pages[0]].location == "page 2" and after[pages[0]].event_at == WHEN
