"""PDF, Word and PowerPoint files: what is read of them, and how their parts are found again."""

import zipfile
from datetime import UTC, datetime
from io import BytesIO

import pytest
from pdfs import pdf_of, written
from pictures import plot

from jupyter_memory import InputError

docx = pytest.importorskip("docx", reason="needs the extra `documents`")
pptx = pytest.importorskip("pptx", reason="needs the extra `documents`")
from docx.opc.packuri import PackURI  # noqa: E402
from docx.opc.part import Part  # noqa: E402
from docx.oxml import parse_xml  # noqa: E402
from docx.oxml.ns import nsdecls  # noqa: E402
from pptx.chart.data import CategoryChartData  # noqa: E402
from pptx.enum.chart import XL_CHART_TYPE  # noqa: E402
from pptx.opc.package import Part as SlidePart  # noqa: E402
from pptx.opc.packuri import PackURI as SlideURI  # noqa: E402

pytest.importorskip("pypdfium2", reason="needs the extra `documents`")
pypdf = pytest.importorskip("pypdf", reason="needs the extra `test`")

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
STATED = "D:20260302101500+01'00'"


def test_a_pdf_is_read_by_page(read):
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
        (STATED, WHEN), ("D:20260302091500Z", WHEN), ("D:20260302091500", WHEN),
        ("D:2026", datetime(2026, 1, 1, tzinfo=UTC)), *((text, None) for text in ("D:20261399", "last spring", "")),
    ],
)  # fmt: skip
def test_a_pdf_has_the_date_that_it_states(read, stated, date):
    """In the ways in which PDF writes dates; anything else is none."""
    assert read("a.pdf", pdf_of(["Tariffs."], date=stated)).written == date


def test_a_word_document_is_read_by_section(tmp_path, read):
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


W = nsdecls("w")
BOX = f"""<w:r {W} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:v="urn:schemas-microsoft-com:vml"><mc:AlternateContent><mc:Choice Requires="wps"><w:txbxContent><w:p><w:r>
<w:t>In a box</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p><w:r>
<w:t>In a box</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>"""
BESIDE = [
    (f'<w:ins {W} w:id="1" w:author="A"><w:r><w:t>inserted</w:t></w:r></w:ins>', "They inserted"),
    (f'<w:moveTo {W} w:id="1" w:author="A"><w:r><w:t>moved here</w:t></w:r></w:moveTo>', "They moved here"),
    (f'<w:del {W} w:id="1" w:author="A"><w:r><w:delText>deleted</w:delText></w:r></w:del>', "They "),
    (f'<w:moveFrom {W} w:id="1" w:author="A"><w:r><w:t>moved away</w:t></w:r></w:moveFrom>', "They "),
    (f"<w:sdt {W}><w:sdtPr/><w:sdtContent><w:r><w:t>chosen</w:t></w:r></w:sdtContent></w:sdt>", "They chosen"),
    (f'<w:fldSimple {W} w:instr="PAGE"><w:r><w:t>page 3</w:t></w:r></w:fldSimple>', "They page 3"),
    (
        f"<w:r {W}><w:instrText>REF x</w:instrText><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>",
        "They a\tb\nc",
    ),
    (f'<w:r {W}><w:t>end</w:t><w:br w:type="page"/></w:r>', "They end"),
    (f"<w:smartTag {W}><w:r><w:t>Malmö</w:t></w:r></w:smartTag>", "They Malmö"),
    (BOX, "They \n\nIn a box"),
]


@pytest.mark.parametrize(("xml", "text"), BESIDE)
def test_a_paragraph_of_word_is_read_as_it_is_seen(tmp_path, read, xml, text):
    """With insertions, controls, fields and boxes, each once; what was deleted or moved away is not read."""
    document = docx.Document()
    document.add_paragraph("They ")._p.append(parse_xml(xml))
    document.save(str(tmp_path / "a.docx"))
    assert [part.text for part in read("a.docx").parts] == [text]


def test_notes_and_comments_of_word_follow_their_paragraph(tmp_path, read):
    """Also those of a table's cell; the lines that separate notes are none, and a block in a control is one."""
    document = docx.Document()
    document.add_heading("Prices", 1)
    paragraph = document.add_paragraph("They rose.")
    document.add_comment(paragraph.runs, text="Since λ?", author="A")
    cell = document.add_table(1, 2).rows[0].cells
    cell[0].text, cell[1].text = "day", "price"
    inner = cell[1].add_table(1, 2).rows[0].cells
    inner[0].text, inner[1].text = "net", "gross"
    for kind in ("footnote", "endnote"):
        paragraph._p.append(parse_xml(f'<w:r {W}><w:{kind}Reference w:id="2"/></w:r>'))
        notes = f"""<w:{kind}s {W}><w:{kind} w:id="0" w:type="separator"><w:p><w:r><w:separator/></w:r></w:p></w:{kind}>
<w:{kind} w:id="2"><w:p><w:r><w:t>By the {kind}.</w:t></w:r></w:p></w:{kind}></w:{kind}s>"""
        content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}s+xml"
        part = Part(PackURI(f"/word/{kind}s.xml"), content, notes.encode(), document.part.package)
        document.part.relate_to(part, f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}s")
    control = "<w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent>"
    document.element.body.insert(3, parse_xml(f"<w:sdt {W}><w:sdtPr/>{control}</w:sdt>"))
    document.save(str(tmp_path / "a.docx"))
    [part] = read("a.docx").parts
    assert part.text.split("\n\n") == [
        *("Prices", "They rose.", "Comment: Since λ?", "Footnote: By the footnote.", "Endnote: By the endnote."),
        *("day | price\nnet | gross", "In a control."),
    ]


def test_a_table_of_contents_is_passed_over(tmp_path, read):
    document = docx.Document()
    document.styles.add_style("toc 1", 1)
    document.add_paragraph("Prices\t1", style="toc 1")
    document.add_heading("Prices", 1)
    document.add_paragraph("They rose.")
    document.save(str(tmp_path / "a.docx"))
    assert [part.text for part in read("a.docx").parts] == ["Prices\n\nThey rose."]


def test_what_newer_programs_draw_on_a_slide_is_read_once(tmp_path, read):
    """Not also what older ones would show in its place; a comment belongs to its slide."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    drawn = "<a:p><a:r><a:t>λ over time</a:t></a:r></a:p>"
    slide.shapes._spTree.append(
        parse_xml(
            '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
            'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
            f"<mc:Choice>{drawn}</mc:Choice><mc:Fallback>{drawn}</mc:Fallback></mc:AlternateContent>"
        )
    )
    names = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    comments = f"<p:cmLst {names}><p:cm><p:text>Since when?</p:text></p:cm></p:cmLst>"
    made = SlidePart(
        SlideURI("/ppt/comments/comment1.xml"),
        "application/vnd.openxmlformats-officedocument.presentationml.comments+xml",
        slide.part.package,
        comments.encode(),
    )
    slide.part.relate_to(made, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments")
    presentation.save(str(tmp_path / "a.pptx"))
    assert [part.text for part in read("a.pptx").parts] == ["λ over time\n\nComment: Since when?"]


def test_charts_of_a_presentation_are_read(tmp_path, read):
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Tariffs"
    data = CategoryChartData()
    data.categories = ["Malmö", "Zürich"]
    data.add_series("net of tax", (4711, 2))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 9, 9, data).chart
    chart.has_title, chart.value_axis.has_title = True, True
    chart.chart_title.text_frame.text, chart.value_axis.axis_title.text_frame.text = "By town", "per kWh"
    picture = slide.shapes.add_picture(BytesIO(plot()), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "A ferry in fog")
    slide.shapes.add_picture(BytesIO(plot()), 0, 0)._element.nvPicPr.cNvPr.set("descr", "plot.png")
    presentation.save(str(tmp_path / "a.pptx"))
    [part] = read("a.pptx").parts
    assert part.text == "Tariffs\n\nBy town\nnet of tax\nMalmö\nZürich\nper kWh\n\nA ferry in fog"


NAMES = " ".join(
    f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"'
    for one in ("office", "text", "table", "draw", "presentation", "meta")
)
TEXT = """<text:tracked-changes><text:deletion><text:p>deleted</text:p></text:deletion></text:tracked-changes>
<text:p>Before.</text:p><text:h text:outline-level="1">Prices</text:h><text:h text:outline-level="2">Zürich</text:h>
<text:p>They<text:s text:c="2"/><text:span>rose</text:span>.<text:note><text:note-citation>1</text:note-citation>
<text:note-body><text:p>By a tenth.</text:p></text:note-body></text:note><office:annotation><dc:creator
 xmlns:dc="d">Zoë</dc:creator><text:p>Since λ?</text:p></office:annotation></text:p>
<text:list><text:list-item><text:p>day<text:tab/>night</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>day</text:p></table:table-cell><table:table-cell>
<text:p>price</text:p></table:table-cell></table:table-row></table:table>
<text:p><draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame></text:p>"""
SLIDE = """<draw:page><draw:frame><draw:text-box><text:p>Tariffs</text:p></draw:text-box></draw:frame>
<draw:g><draw:custom-shape><text:p>grouped λ</text:p></draw:custom-shape></draw:g>
<presentation:notes><draw:text-box><text:p>say it slowly</text:p></draw:text-box></presentation:notes></draw:page>"""


def opened(tmp_path, name, body):
    about = '<dc:title xmlns:dc="d">Tariffs</dc:title><dc:date xmlns:dc="d">2026-03-02T09:15:00</dc:date>'
    with zipfile.ZipFile(tmp_path / name, "w") as made:
        made.writestr("content.xml", f"<office:content {NAMES}><office:body>{body}</office:body></office:content>")
        made.writestr(
            "meta.xml", f"<office:document-meta {NAMES}><office:meta>{about}</office:meta></office:document-meta>"
        )


def test_a_text_of_opendocument_is_read_by_section(tmp_path, read):
    opened(tmp_path, "a.odt", f"<office:text>{TEXT}</office:text>")
    found = read("a.odt")
    assert [(part.location, part.headings, part.text.split("\n\n")) for part in found.parts] == [
        ("#1", (), ["Before."]),
        (
            "#2",
            ("Prices", "Zürich"),
            [
                *("Prices", "Zürich", "They  rose.", "Footnote: By a tenth.", "Comment: Since λ?", "day\tnight"),
                *("day | price", "In a box"),
            ],
        ),
    ]
    assert (found.title, found.language, found.written) == ("Tariffs (a.odt)", "odt", WHEN)


def test_a_presentation_of_opendocument_is_read_by_slide(tmp_path, read):
    opened(tmp_path, "a.odp", f"<office:presentation>{SLIDE}<draw:page/></office:presentation>")
    found = [(part.location, part.text) for part in read("a.odp").parts]
    assert found == [("slide 1", "Tariffs\n\ngrouped λ\n\nsay it slowly")]


def test_an_opendocument_with_entities_is_refused(tmp_path, read):
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as made:
        made.writestr("content.xml", '<!DOCTYPE a [<!ENTITY a "aaaa">]><a>&a;</a>')
    with pytest.raises(InputError, match="entities"):
        read("a.odt")


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
