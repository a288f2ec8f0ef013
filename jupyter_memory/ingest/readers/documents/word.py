"""Reads a Word document with python-docx, a part for each section under a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from docx.table import Table
from docx.text.paragraph import Paragraph

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.documents.properties import dated, limited, titled
from jupyter_memory.ingest.readers.office import archive
from jupyter_memory.text.markdown import Heading, descend

# Built-in styles have English names, whatever the language of the program. A title is above all headings.
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_TITLE = "title"


def read(path: Path, /) -> Document:
    """Return a part for each section that has text, with the headings that lead down to it.

    Raises:
        InputError: the file is no Word document, or it is damaged or encrypted.
    """
    with archive(path, "word/document.xml", "Word document"):
        document = docx.Document(str(path))
    stated = document.core_properties
    return Document(
        tuple(limited(_sections(document))),
        "docx",
        titled(stated.title, path),
        written=dated(stated.modified or stated.created),
    )


def _sections(document: WordDocument) -> Iterator[Part]:
    """Yield the text below each heading, together with it; what has no text but its heading joins what is below it."""
    above: tuple[Heading, ...] = ()
    lines: list[str] = []
    number, has_text = 1, False
    level_of = _Levels()
    for block in document.iter_inner_content():
        text = _text(block)
        if not text.strip():
            continue
        level = level_of(block)
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


class _Levels:
    """The levels of headings, by their styles: python-docx looks through all styles for each paragraph without one."""

    def __init__(self) -> None:
        self._of_style: dict[str | None, int | None] = {}

    def __call__(self, block: Paragraph | Table) -> int | None:
        """Return the level of a heading, None for what is none."""
        if not isinstance(block, Paragraph):
            return None
        # Not `block.style`, which looks it up.
        style = block._p.style
        if style not in self._of_style:
            self._of_style[style] = _level((block.style.name or "") if block.style is not None else "")
        return self._of_style[style]


def _level(style: str) -> int | None:
    if style.lower() == _TITLE:
        return 0
    found = _HEADING.fullmatch(style)
    return int(found[1]) if found else None


def _text(block: Paragraph | Table) -> str:
    if isinstance(block, Paragraph):
        return block.text
    return "\n".join(" | ".join(cell.text.strip() for cell in row.cells) for row in block.rows)
