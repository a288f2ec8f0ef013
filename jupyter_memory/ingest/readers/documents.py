"""PDF, Word, PowerPoint and OpenDocument."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.isolated import IsolatedReader
from jupyter_memory.text.markdown import Heading, descend

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument


DOCUMENTS = (
    IsolatedReader((".pdf",), "PDF", f"{__name__}:read_pdf", needs=("pypdfium2",), extra="documents"),
    IsolatedReader((".docx",), "Word document", f"{__name__}:read_word", needs=("docx",), extra="documents"),
    IsolatedReader(
        (".pptx",), "PowerPoint presentation", f"{__name__}:read_slides", needs=("pptx",), extra="documents"
    ),
    IsolatedReader((".odt", ".odp"), "OpenDocument file", f"{__name__}:read_open_document"),
)

# Characters of all parts together.
_MOST = 20_000_000
# What programs write as a title if none was given.
_NO_TITLE = re.compile(
    r"untitled.*|powerpoint.*|microsoft (?:word|powerpoint|excel)\b.*|(?:word )?document ?\d*"
    r"|presentation ?\d*|slide \d+|.*\.\w{2,5}",
    re.IGNORECASE,
)
# When the templates of python-docx and python-pptx were made: documents that programs write with them keep these dates.
_TEMPLATES = (datetime(2013, 12, 23, 23, 15, tzinfo=UTC), datetime(2013, 1, 27, 9, 15, 58, tzinfo=UTC))


def _document(parts: Iterable[Part], language: str, path: Path, title: str, stated: object) -> Document:
    kept, size = [], 0
    for part in parts:
        size += len(part.text)
        if size > _MOST:
            raise InputError(f"The document has more than {_MOST // 1_000_000} million characters, so it is left out.")
        kept.append(part)
    title = " ".join(title.split())
    written = None
    # In living memory.
    if isinstance(stated, datetime) and 1985 <= stated.year <= datetime.now(UTC).year + 1:
        # Office writes times in UTC without saying so.
        written = stated.astimezone(UTC) if stated.tzinfo is not None else stated.replace(tzinfo=UTC)
    return Document(
        tuple(kept),
        language,
        f"{title} ({path.name})" if title and not _NO_TITLE.fullmatch(title) else "",
        written=None if written in _TEMPLATES else written,
    )


_MAGIC_WITHIN = 1024
# A word that goes on in the next line: PDFium has a mark in place of its hyphen.
_HYPHENATED = re.compile("[\x02\ufffe](?:\r\n|\n|\r)?")
# D:20260302101500+01'00', of which only the year must be there.
_DATE = re.compile(r"(?:D:)?(?P<numbers>[0-9]{4,14})(?:Z|(?P<zone>[+-][0-9]{2})'?(?P<minutes>[0-9]{2})?'?)?")
_FIRST = "00000101000000"


def read_pdf(path: Path, /) -> Document:
    """Return a part for each page that has text; a figure that was saved without any has none."""
    from pypdfium2 import PdfDocument, PdfiumError, raw

    with path.open("rb") as opened:
        if b"%PDF-" not in opened.read(_MAGIC_WITHIN):
            raise InputError("The file is no PDF: its first bytes are of another format.")
    try:
        document = PdfDocument(path)
    except PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise InputError("The PDF is protected by a password. Save it without one to have it read.") from None
        raise
    with closing(document):
        stated = document.get_metadata_dict()
        when = _moment(stated.get("ModDate", "")) or _moment(stated.get("CreationDate", ""))
        found = _document(_pages(document), "pdf", path, stated.get("Title", ""), when)
        for number in range(len(document) if not found.parts else 0):
            with closing(document[number]) as page:
                if any(True for _ in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)):
                    raise InputError(
                        "The PDF has no text, only pictures. A program for text recognition (OCR) can add it."
                    )
    return found


def _pages(document: PdfDocument) -> Iterator[Part]:
    for number in range(len(document)):
        with closing(document[number]) as page, closing(page.get_textpage()) as words:
            text = _HYPHENATED.sub("", words.get_text_range()).replace("\r\n", "\n")
        if text.strip():
            yield Part(text, location=f"page {number + 1}", metadata={"page": number + 1})


def _moment(stated: str) -> datetime | None:
    found = _DATE.fullmatch(stated.strip())
    if found is None:
        return None
    numbers = found["numbers"] + _FIRST[len(found["numbers"]) :]
    zone = f"{found['zone'] or '+00'}{found['minutes'] or '00'}"
    try:
        return datetime.strptime(f"{numbers}{zone}", "%Y%m%d%H%M%S%z").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# The files of Microsoft Office as archives: which they are, and how much may come out of one.

# Bytes of all members together, and how many members there may be. A book with pictures has some hundred.
_MOST_BYTES, _MEMBERS = 1_000_000_000, 20_000
# How a file begins that is encrypted, and one in the formats before 2007: they are told apart by their streams' names.
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


@contextmanager
def archive(path: Path, main: str, what: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive with a member ``main``, or raise InputError: it is not ``what`` it ought to be, or too large."""
    with path.open("rb") as opened:
        first = opened.read(8)
        if first == _COMPOUND:
            if _ENCRYPTED in opened.read(1_000_000):
                raise InputError(f"The {what} is protected by a password. Save it without one to have it read.")
            raise InputError(
                f"The file is in the format of before 2007. Save the {what} in the newer format to have it read."
            )
        if not first.startswith(b"PK"):
            raise InputError(f"The file is no {what}: its first bytes are of another format.")
    try:
        with zipfile.ZipFile(path) as found:
            members = found.infolist()
            if main not in found.namelist():
                raise InputError(f"The file is an archive, but no {what}.")
            # What a member is said to hold is the most that zipfile takes out of it.
            if len(members) > _MEMBERS or sum(member.file_size for member in members) > _MOST_BYTES:
                raise InputError(
                    f"More than {_MOST_BYTES // 1_000_000:,} MB would come out of the file, so it is not unpacked."
                )
            yield found
    except zipfile.BadZipFile:
        raise InputError(f"The file is damaged, so it is no {what} that can be read.") from None


# What the XML of documents has in common, whatever its namespaces are called.


def _parsed(content: bytes) -> Any:
    if b"<!ENTITY" in content:
        raise InputError("The file declares entities in its XML, so it is not read.")
    return ElementTree.fromstring(content)  # noqa: S314  without entities, in a process with little memory


def _name(element: Any) -> str:
    # Comments and instructions of XML have a function for a name.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Any, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _within(element: Any, names: Iterable[str]) -> Iterator[Any]:
    # The outermost elements of these names, but for what was deleted and what no reader sees.
    for child in element:
        if _name(child) in names:
            yield child
        elif _name(child) not in _UNSEEN:
            yield from _within(child, names)


def _words(drawing: Any) -> list[str]:
    # The paragraphs, names and labels of a chart, a diagram or a comment, each once.
    found = []
    for element in drawing.iter():
        if _name(element) == "p":
            found.append("".join(one.text or "" for one in element.iter() if _name(one) == "t"))
        elif _name(element) in ("strCache", "multiLvlStrCache"):
            found += [one.text or "" for one in element.iter() if _name(one) == "v"]
        elif _name(element) == "text":
            found.append(element.text or "")
    return [word for word in dict.fromkeys(found) if word.strip()]


def _drawn(part: Any, reference: Any) -> list[str]:
    # The words of the chart or diagram that an element of a part refers to.
    id_ = _value(reference, "id" if _name(reference) == "chart" else "dm")
    related = part.rels.get(id_) if id_ else None
    return [] if related is None or related.is_external else ["\n".join(_words(_parsed(related.target_part.blob)))]


def _described(element: Any) -> list[str]:
    # What a picture is said to show; programs write the name of its file there.
    said = _value(element, "descr").strip()
    return [said] if said and not _NO_TITLE.fullmatch(said) else []


def _grid(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(" | ".join(cell.strip() for cell in row) for row in rows)


# Groups within groups that are looked into.
_DEPTH = 10


def read_slides(path: Path, /) -> Document:
    import pptx

    with archive(path, "ppt/presentation.xml", "PowerPoint presentation"):
        presentation = pptx.Presentation(str(path))
    parts = []
    for number, slide in enumerate(presentation.slides, start=1):
        heading = slide.shapes.title.text_frame.text.strip() if slide.shapes.title is not None else ""
        texts = [text for text in _texts(slide.shapes) if text.strip()]
        # What newer programs draw: python-pptx passes it over.
        texts += [word for newer in _within(slide.shapes._spTree, ("Choice",)) for word in _words(newer)]
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            texts.append(f"Notes: {notes.text}")
        comments = [one.target_part for one in slide.part.rels.values() if one.reltype.endswith("/comments")]
        texts += [f"Comment: {word}" for one in comments for word in _words(_parsed(one.blob))]
        if texts:
            parts.append(_slide(number, texts, (" ".join(heading.split()),) if heading else ()))
    stated = presentation.core_properties
    return _document(parts, "pptx", path, stated.title, stated.modified or stated.created)


def _slide(number: int, texts: Iterable[str], headings: tuple[str, ...] = ()) -> Part:
    return Part("\n\n".join(texts), location=f"slide {number}", headings=headings, metadata={"slide": number})


def _texts(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    from pptx.shapes.graphfrm import GraphicFrame
    from pptx.shapes.group import GroupShape

    for shape in shapes:
        if shape.has_text_frame:
            yield shape.text_frame.text
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield _grid([cell.text for cell in row.cells] for row in shape.table.rows)
        elif isinstance(shape, GraphicFrame):
            for reference in _within(shape._element, ("chart", "relIds")):
                yield from _drawn(shape.part, reference)
        elif isinstance(shape, GroupShape) and depth < _DEPTH:
            yield from _texts(shape.shapes, depth + 1)
        else:
            for properties in _within(shape._element, ("cNvPr",)):
                yield from _described(properties)


# Built-in styles have English names, whatever the language of the program. A title is above all headings.
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_CONTENTS = -1  # an entry in a table of contents, which says what a heading says
_STYLES = {"title": 0, "toc": _CONTENTS}
# What was deleted, what a field computes its text from, and what older programs show in place of newer drawings.
_UNSEEN = frozenset({
    "del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "tblPr", "sdtPr", "Fallback",
    "tracked-changes", "forms",
})  # fmt: skip
_SIGNS = {"tab": "\t", "ptab": "\t", "cr": "\n", "br": "\n", "noBreakHyphen": "-"}
_NOTES = {"footnote": "Footnote", "endnote": "Endnote", "comment": "Comment"}


def read_word(path: Path, /) -> Document:
    """Return a part for each section that has text, with the headings that lead down to it."""
    import docx
    from docx.text.paragraph import Paragraph

    with archive(path, "word/document.xml", "Word document"):
        document = docx.Document(str(path))
    notes: dict[tuple[str, str], str] = {}
    for related in document.part.rels.values():
        kind = related.reltype.rpartition("/")[2].removesuffix("s")
        if kind in _NOTES and not related.is_external:
            for note in _within(_parsed(related.target_part.blob), (kind,)):
                blocks = _within(note, ("p", "tbl"))
                said = "\n".join(text for block in blocks for text in _told(block, related.target_part, {})).strip()
                notes[kind, _value(note, "id")] = f"{_NOTES[kind]}: {said}" if said else ""
    # python-docx looks through all styles for each paragraph without one.
    levels: dict[str | None, int | None] = {}
    read: list[_Block] = []
    for block in _within(document.element.body, ("p", "tbl")):
        level = None
        if _name(block) == "p":
            if block.style not in levels:
                named = Paragraph(block, document._body).style
                name = (named.name or "") if named is not None else ""
                found = _HEADING.fullmatch(name)
                levels[block.style] = int(found[1]) if found else _STYLES.get(name.lower().rstrip("123456789 "))
            level = levels[block.style]
        if level != _CONTENTS:
            texts = _told(block, document.part, notes)
            read.append((level if texts[0].strip() else None, texts))
    stated = document.core_properties
    return _document(_sections(read), "docx", path, stated.title, stated.modified or stated.created)


# The level of a heading, 0 for a title, None for any other block; its text, and what stands beside it.
_Block = tuple[int | None, list[str]]


def _sections(blocks: Iterable[_Block]) -> Iterator[Part]:
    # What has no text but its heading joins what is below it.
    above: tuple[Heading, ...] = ()
    lines: list[str] = []
    number, has_text = 1, False
    for level, texts in blocks:
        told = [text for text in texts if text.strip()]
        if not told:
            continue
        if level is not None and has_text:
            yield _section(lines, above, number)
            lines, has_text, number = [], False, number + 1
        if level is not None:
            above = descend(above, Heading(0, 0, level, " ".join(told[0].split())))
        has_text |= level is None
        lines += told
    if lines:
        yield _section(lines, above, number)


def _section(lines: list[str], above: tuple[Heading, ...], number: int) -> Part:
    return Part("\n\n".join(lines), location=f"#{number}", headings=tuple(one.text for one in above))


def _told(block: Any, part: Any, notes: Mapping[tuple[str, str], str]) -> list[str]:
    # The text of a paragraph and what stands beside it, or that of a table.
    if _name(block) == "p":
        beside: list[str] = []
        return [_said(block, part, notes, beside), *beside]
    rows = (
        row
        for row in _within(block, ("tr",))
        if not any(_name(one) == "del" for properties in row if _name(properties) == "trPr" for one in properties)
    )
    return [
        _grid(
            [
                "\n".join(text for inner in _within(cell, ("p", "tbl")) for text in _told(inner, part, notes))
                for cell in _within(row, ("tc",))
            ]
            for row in rows
        )
    ]


def _said(element: Any, part: Any, notes: Mapping[tuple[str, str], str], beside: list[str]) -> str:
    pieces = []
    for child in element:
        name = _name(child)
        if name == "t":
            pieces.append(child.text or "")
        elif name in _SIGNS:
            pieces.append("" if _value(child, "type") in ("page", "column") else _SIGNS[name])
        elif name == "txbxContent":
            beside += [text for block in _within(child, ("p", "tbl")) for text in _told(block, part, notes)]
        elif name in ("footnoteReference", "endnoteReference", "commentReference"):
            beside.append(notes.get((name.removesuffix("Reference"), _value(child, "id")), ""))
        elif name in ("chart", "relIds"):
            beside += _drawn(part, child)
        elif name == "docPr":
            beside += _described(child)
        elif name not in _UNSEEN:
            pieces.append(_said(child, part, notes, beside))
    return "".join(pieces)


# OpenDocument: texts and presentations.

_OPEN_NOTES = {"note": "Footnote: ", "annotation": "Comment: ", "text-box": "", "title": "", "desc": "", "table": ""}
_OPEN_SIGNS = {"tab": "\t", "line-break": "\n"}
# Nobody has typed more blanks than that in a row.
_BLANKS = 1_000


def read_open_document(path: Path, /) -> Document:
    """Return a part for each section of a text or slide of a presentation that has text."""
    with archive(path, "content.xml", "OpenDocument file") as found:
        body = _parsed(found.read("content.xml"))
        about = _parsed(found.read("meta.xml")) if "meta.xml" in found.namelist() else ()
    stated = {_name(one): one.text or "" for inner in about for one in inner}
    pages = [list(_open_texts(page)) for page in _within(body, ("page",))]
    slides = (_slide(number, texts) for number, texts in enumerate(pages, start=1) if texts)
    parts = slides if pages else _sections(_open_blocks(body))
    when = None
    with suppress(ValueError):
        when = datetime.fromisoformat(stated.get("date") or stated.get("creation-date", ""))
    return _document(parts, path.suffix[1:].lower(), path, stated.get("title", ""), when)


def _open_blocks(element: Any) -> Iterator[_Block]:
    for block in _within(element, ("h", "p", "table", "title", "desc")):
        level = _value(block, "outline-level") if _name(block) == "h" else ""
        beside: list[str] = []
        text = _open_table(block) if _name(block) == "table" else _open_said(block, beside)
        yield (int(level) if level.isdecimal() and text.strip() else None), [text, *beside]


def _open_table(table: Any) -> str:
    rows = _within(table, ("table-row",))
    return _grid(["\n".join(_open_texts(cell)) for cell in _within(row, ("table-cell",))] for row in rows)


def _open_texts(element: Any) -> Iterator[str]:
    return (text for _, told in _open_blocks(element) for text in told if text.strip())


def _open_said(element: Any, beside: list[str]) -> str:
    pieces = [element.text or ""]
    for child in element:
        name = _name(child)
        if name in _OPEN_NOTES:
            said = _open_table(child) if name == "table" else "\n".join(_open_texts(child)) or (child.text or "")
            beside.append(f"{_OPEN_NOTES[name]}{said}" if said.strip() else "")
        elif name == "s":
            pieces.append(" " * min(int(_value(child, "c") or 1), _BLANKS))
        elif name in _OPEN_SIGNS:
            pieces.append(_OPEN_SIGNS[name])
        elif name not in _UNSEEN:
            pieces.append(_open_said(child, beside))
        pieces.append(child.tail or "")
    return "".join(pieces)
