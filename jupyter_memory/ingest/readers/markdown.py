"""Reads a Markdown file whole, with the tags of its front matter; one that a kernel runs, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.literate import is_notebook, literate_document
from jupyter_memory.ingest.readers.text import read_text
from jupyter_memory.text.headings import front_matter
from jupyter_memory.text.languages import PYTHON

# `tags: [a, b]` and `tags: a, b` on a line, or one tag a line below it.
_TAGS = re.compile(r"^(?:tags|keywords)[ \t]*:[ \t]*(?P<line>[^\n]*)(?P<list>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.M | re.I)


@dataclass(frozen=True, slots=True)
class MarkdownReader:
    """Reads Markdown; chunking gives each chunk the headings above it."""

    suffixes: tuple[str, ...] = (".md", ".markdown")
    version: int = 1
    hide: Callable[[str], str] | None = field(default=None, repr=False)

    def hiding(self, hide: Callable[[str], str], /) -> MarkdownReader:
        """Return a reader that hides secrets before it shortens a text."""
        return replace(self, hide=hide)

    def read(self, path: Path, /) -> Document:
        """Return the whole text as one part, or none if it is blank."""
        text = read_text(path)
        if not text.strip():
            return Document((), "markdown")
        tags = _tags(front_matter(text))
        if is_notebook(text):
            return replace(literate_document(text, path.name, PYTHON, self.hide), tags=tags)
        return Document((Part(text),), "markdown", tags=tags)


def _tags(block: str) -> tuple[str, ...]:
    """Return the tags that a front matter names, each once."""
    match = _TAGS.search(block)
    if match is None:
        return ()
    words = match["line"].strip().strip("[]").split(",") + [line.strip()[1:] for line in match["list"].split("\n")]
    return tuple(dict.fromkeys(tag for word in words if (tag := word.strip().strip("\"'#").strip())))
