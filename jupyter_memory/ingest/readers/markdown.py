"""Reads a Markdown file whole, with the tags and the date of its front matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory.ingest.dates.written import in_front_matter
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.text import read_text
from jupyter_memory.text.headings import front_matter

# `tags: [a, b]` and `tags: a, b` on a line, or one tag a line below it.
_TAGS = re.compile(r"^(?:tags|keywords)[ \t]*:[ \t]*(?P<line>[^\n]*)(?P<list>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.M | re.I)


@dataclass(frozen=True, slots=True)
class MarkdownReader:
    """Reads Markdown; chunking gives each chunk the headings above it."""

    suffixes: tuple[str, ...] = (".md", ".markdown")

    def read(self, path: Path, /) -> Document:
        """Return the whole text as one part, or none if it is blank."""
        text = read_text(path)
        if not text.strip():
            return Document((), "markdown")
        block = front_matter(text)
        written = in_front_matter(block, datetime.now(UTC))
        return Document((Part(text),), "markdown", tags=_tags(block), written=written)


def _tags(block: str) -> tuple[str, ...]:
    """Return the tags that a front matter names, each once."""
    match = _TAGS.search(block)
    if match is None:
        return ()
    words = match["line"].strip().strip("[]").split(",") + [line.strip()[1:] for line in match["list"].split("\n")]
    return tuple(dict.fromkeys(tag for word in words if (tag := word.strip().strip("\"'#").strip())))
