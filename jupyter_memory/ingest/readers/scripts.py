"""Reads a script: cell by cell where it is a notebook, else whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.cells import document
from jupyter_memory.ingest.readers.jupytext import cells_of
from jupyter_memory.ingest.readers.text import read_text

_MINIFIED_IN = frozenset({"javascript", "typescript"})
# Characters of a file from which on lines of such a mean length are no code that a person wrote.
_MINIFIED = 50_000
_LONG_LINES = 1_000


@dataclass(frozen=True, slots=True)
class ScriptReader:
    """Reads files of one language of code, in which ``comment`` begins a line of comment.

    ``hide`` replaces secrets in texts that are going to be shortened.
    """

    language: str
    suffixes: tuple[str, ...]
    comment: str = "#"
    version: int = 0
    hide: Callable[[str], str] | None = field(default=None, repr=False)

    def hiding(self, hide: Callable[[str], str], /) -> ScriptReader:
        """Return a reader that hides secrets before it shortens a text."""
        return replace(self, hide=hide)

    def read(self, path: Path, /) -> Document:
        """Return a part for each cell, or the whole text as one part; none if it is blank.

        Raises:
            InputError: the file is binary, or minified code.
            OSError: the file cannot be read.
        """
        text = read_text(path)
        if self.language in _MINIFIED_IN:
            _refuse_minified(text)
        if (cells := cells_of(text, self.comment)) is not None:
            found = document(cells, self.language, path.name, self.hide)
            if found is not None:
                return found
        return Document((Part(text, line=1),) if text.strip() else (), self.language)


def _refuse_minified(text: str) -> None:
    """Refuse a program that was packed into a few endless lines: nobody wrote it, and nobody would find their way."""
    if len(text) > _MINIFIED and len(text) > _LONG_LINES * (text.count("\n") + 1):
        raise InputError(
            f"The code is minified ({len(text):,} characters on {text.count(chr(10)) + 1:,} lines). "
            "Index its source; leave this file out with a line in .jupytermemoryignore."
        )
