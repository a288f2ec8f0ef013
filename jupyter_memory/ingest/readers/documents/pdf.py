"""Reads the text of a PDF with PDFium, page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.documents.properties import dated, limited, titled

_MAGIC_WITHIN = 1024
_LOCKED = "The PDF is protected by a password. Save it without one to have it read."
_LOCKS = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
# A word that goes on in the next line: PDFium has a mark in place of its hyphen.
_HYPHENATED = re.compile("[\x02\ufffe](?:\r\n|\n|\r)?")
# D:20260302101500+01'00', of which only the year must be there.
_DATE = re.compile(r"(?:D:)?(?P<numbers>[0-9]{4,14})(?:Z|(?P<zone>[+-][0-9]{2})'?(?P<minutes>[0-9]{2})?'?)?")
_FIRST = "00000101000000"


def read(path: Path, /) -> Document:
    """Return a part for each page that has text; a figure that was saved without any has none.

    Raises:
        InputError: the file is no PDF, or encrypted, or its pages are pictures of text.
    """
    with path.open("rb") as opened:
        if b"%PDF-" not in opened.read(_MAGIC_WITHIN):
            raise InputError("The file is no PDF: its first bytes are of another format.")
    try:
        document = PdfDocument(path)
    except PdfiumError as error:
        if error.err_code in _LOCKS:
            raise InputError(_LOCKED) from None
        raise
    with closing(document):
        parts = tuple(limited(_pages(document)))
        if not parts and any(_has_pictures(document, number) for number in range(len(document))):
            raise InputError("The PDF has no text, only pictures. A program for text recognition (OCR) can add it.")
        stated = document.get_metadata_dict()
    written = dated(_moment(stated.get("ModDate", "")) or _moment(stated.get("CreationDate", "")))
    return Document(parts, "pdf", titled(stated.get("Title", ""), path), written=written)


def _pages(document: PdfDocument) -> Iterator[Part]:
    for number in range(len(document)):
        with closing(document[number]) as page, closing(page.get_textpage()) as words:
            text = _HYPHENATED.sub("", words.get_text_range()).replace("\r\n", "\n")
        if text.strip():
            yield Part(text, location=f"page {number + 1}", metadata={"page": number + 1})


def _has_pictures(document: PdfDocument, number: int) -> bool:
    with closing(document[number]) as page:
        return any(True for _ in page.get_objects([pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _moment(stated: str) -> datetime | None:
    """Return a date of the properties, None where it is none.

    >>> _moment("D:20260302101500+01'00'")
    datetime.datetime(2026, 3, 2, 9, 15, tzinfo=datetime.timezone.utc)
    """
    found = _DATE.fullmatch(stated.strip())
    if found is None:
        return None
    numbers = found["numbers"] + _FIRST[len(found["numbers"]) :]
    zone = f"{found['zone'] or '+00'}{found['minutes'] or '00'}"
    try:
        return datetime.strptime(f"{numbers}{zone}", "%Y%m%d%H%M%S%z").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
