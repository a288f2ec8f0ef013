"""Reads the text of a PDF with pypdf, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.documents.properties import dated, limited, titled

_MAGIC_WITHIN = 1024
_LOCKED = "The PDF is protected by a password. Save it without one to have it read."


def read(path: Path, /) -> Document:
    """Return a part for each page that has text; a figure that was saved without any has none.

    Raises:
        InputError: the file is no PDF, or encrypted, or its pages are pictures of text.
    """
    with path.open("rb") as opened:
        if b"%PDF-" not in opened.read(_MAGIC_WITHIN):
            raise InputError("The file is no PDF: its first bytes are of another format.")
        opened.seek(0)
        pdf = PdfReader(opened)
        if pdf.is_encrypted:
            _unlock(pdf)
        parts = tuple(limited(_pages(pdf)))
        if not parts and any(len(page.images) for page in pdf.pages):
            raise InputError("The PDF has no text, only pictures. A program for text recognition (OCR) can add it.")
        title, written = _stated(pdf)
    return Document(parts, "pdf", titled(title, path), written=written)


def _unlock(pdf: PdfReader) -> None:
    """Open a PDF that only forbids changes: anybody may read it, its password is empty."""
    try:
        if not pdf.decrypt(""):
            raise InputError(_LOCKED)
    except (DependencyError, NotImplementedError):
        raise InputError(f"{_LOCKED} If it opens without: pip install cryptography") from None


def _pages(pdf: PdfReader) -> Iterator[Part]:
    for number, page in enumerate(pdf.pages, start=1):
        text = page.extract_text()
        if text.strip():
            yield Part(text, location=f"page {number}", metadata={"page": number})


def _stated(pdf: PdfReader) -> tuple[str, datetime | None]:
    """Return the title and the date among the properties, as far as they can be read."""
    # A page has text whatever is wrong with these.
    with suppress(PyPdfError, ValueError, TypeError, AttributeError, KeyError):
        if stated := pdf.metadata:
            return str(stated.title or ""), dated(stated.modification_date or stated.creation_date)
    return "", None
