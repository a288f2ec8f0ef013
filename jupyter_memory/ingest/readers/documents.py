"""PDF, Word and PowerPoint."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.isolated import IsolatedReader
from jupyter_memory.text.markdown import Heading, descend

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from pypdfium2 import PdfDocument


DOCUMENTS = (
    IsolatedReader((".pdf",), "PDF", f"{__name__}:read_pdf", needs=("pypdfium2",), extra="documents"),
    IsolatedReader((".docx",), "Word document", f"{__name__}:read_word", needs=("docx",), extra="documents"),
    IsolatedReader(
        (".pptx",), "PowerPoint presentation", f"{__name__}:read_slides", needs=("pptx",), extra="documents"
    ),
)

# Characters of all parts together.
_MOST = 20_000_000
# What programs write as a title when nobody gave one.
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


# Groups within groups that are looked into.
_DEPTH = 10


def read_slides(path: Path, /) -> Document:
    """Return a part for each slide that has text."""
    import pptx

    with archive(path, "ppt/presentation.xml", "PowerPoint presentation"):
        presentation = pptx.Presentation(str(path))
    stated = presentation.core_properties
    return _document(_slides(presentation), "pptx", path, stated.title, stated.modified or stated.created)


def _slides(presentation: Any) -> Iterator[Part]:
    for number, slide in enumerate(presentation.slides, start=1):
        heading = slide.shapes.title.text_frame.text.strip() if slide.shapes.title is not None else ""
        texts = [text for text in _texts(slide.shapes) if text.strip()]
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            texts.append(f"Notes: {notes.text}")
        text = "\n\n".join(texts)
        if text:
            headings = (" ".join(heading.split()),) if heading else ()
            yield Part(text, location=f"slide {number}", headings=headings, metadata={"slide": number})


def _rows(table: Any) -> str:
    return "\n".join(" | ".join(cell.text.strip() for cell in row.cells) for row in table.rows)


def _texts(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    from pptx.shapes.graphfrm import GraphicFrame
    from pptx.shapes.group import GroupShape

    for shape in shapes:
        if shape.has_text_frame:
            yield shape.text_frame.text
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield _rows(shape.table)
        elif isinstance(shape, GroupShape) and depth < _DEPTH:
            yield from _texts(shape.shapes, depth + 1)


# Built-in styles have English names, whatever the language of the program. A title is above all headings.
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)


def read_word(path: Path, /) -> Document:
    """Return a part for each section that has text, with the headings that lead down to it."""
    import docx

    with archive(path, "word/document.xml", "Word document"):
        document = docx.Document(str(path))
    stated = document.core_properties
    return _document(_sections(document), "docx", path, stated.title, stated.modified or stated.created)


def _sections(document: WordDocument) -> Iterator[Part]:
    # What has no text but its heading joins what is below it.
    from docx.text.paragraph import Paragraph

    above: tuple[Heading, ...] = ()
    lines: list[str] = []
    number, has_text = 1, False
    # python-docx looks through all styles for each paragraph without one.
    levels: dict[str | None, int | None] = {}
    for block in document.iter_inner_content():
        level = None
        text = block.text if isinstance(block, Paragraph) else _rows(block)
        if not text.strip():
            continue
        if isinstance(block, Paragraph):
            style = block._p.style  # not `block.style`, which looks it up
            if style not in levels:
                name = (block.style.name or "") if block.style is not None else ""
                found = _HEADING.fullmatch(name)
                levels[style] = int(found[1]) if found else 0 if name.lower() == "title" else None
            level = levels[style]
        if level is not None and has_text:
            yield _section(lines, above, number)
            lines, has_text, number = [], False, number + 1
        if level is not None:
            above = descend(above, Heading(0, 0, level, text.strip()))
        has_text |= level is None
        lines.append(text)
    if lines:
        yield _section(lines, above, number)


def _section(lines: list[str], above: tuple[Heading, ...], number: int) -> Part:
    return Part("\n\n".join(lines), location=f"#{number}", headings=tuple(one.text for one in above))
