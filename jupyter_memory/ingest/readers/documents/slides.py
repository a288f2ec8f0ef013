"""Reads a PowerPoint presentation with python-pptx, slide by slide, with its notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pptx
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.documents.properties import dated, limited, titled
from jupyter_memory.ingest.readers.office import archive

# Groups within groups that are looked into.
_DEPTH = 10


def read(path: Path, /) -> Document:
    """Return a part for each slide that has text.

    Raises:
        InputError: the file is no PowerPoint presentation, or it is damaged or encrypted.
    """
    with archive(path, "ppt/presentation.xml", "PowerPoint presentation"):
        presentation = pptx.Presentation(str(path))
    stated = presentation.core_properties
    return Document(
        tuple(limited(_slides(presentation))),
        "pptx",
        titled(stated.title, path),
        written=dated(stated.modified or stated.created),
    )


def _slides(presentation: Any) -> Iterator[Part]:
    for number, slide in enumerate(presentation.slides, start=1):
        heading = slide.shapes.title.text_frame.text.strip() if slide.shapes.title is not None else ""
        texts = [*_texts(slide.shapes), _notes(slide)]
        text = "\n\n".join(text for text in texts if text.strip())
        if text:
            headings = (" ".join(heading.split()),) if heading else ()
            yield Part(text, location=f"slide {number}", headings=headings, metadata={"slide": number})


def _texts(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    """Yield the texts of shapes and of those grouped within them."""
    for shape in shapes:
        if shape.has_text_frame:
            yield shape.text_frame.text
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield "\n".join(" | ".join(cell.text.strip() for cell in row.cells) for row in shape.table.rows)
        elif isinstance(shape, GroupShape) and depth < _DEPTH:
            yield from _texts(shape.shapes, depth + 1)


def _notes(slide: Any) -> str:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    return f"Notes: {frame.text}" if frame is not None and frame.text.strip() else ""
