"""Reads a Markdown file whole, with its tags and its date; one that a kernel runs, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.front_matter import described
from jupyter_memory.ingest.readers.literate import is_notebook, literate_document
from jupyter_memory.ingest.readers.text import read_text
from jupyter_memory.ingest.readers.wiki import inline_tags, read_as_text
from jupyter_memory.text.code import PYTHON
from jupyter_memory.text.markdown import front_matter


@dataclass(frozen=True, slots=True)
class MarkdownReader:
    """Reads Markdown; chunking gives each chunk the headings above it.

    ``hide`` replaces secrets in texts that are going to be shortened.
    """

    suffixes: tuple[str, ...] = (".md", ".markdown")
    version: int = 1
    hide: Callable[[str], str] | None = field(default=None, repr=False)

    def hiding(self, hide: Callable[[str], str], /) -> MarkdownReader:
        """Return a reader that hides secrets before it shortens a text."""
        return replace(self, hide=hide)

    def read(self, path: Path, /) -> Document:
        """Return the whole text as one part, or the chunks of what a kernel runs; none if it is blank."""
        text = read_text(path)
        if not text.strip():
            return Document((), "markdown")
        if is_notebook(text):
            return described(literate_document(text, path.name, PYTHON, self.hide), text)
        found = described(Document((Part(read_as_text(text)),), "markdown"), text)
        body = text[len(front_matter(text)) :]
        return replace(found, tags=tuple(dict.fromkeys((*found.tags, *inline_tags(body)))))
