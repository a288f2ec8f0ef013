"""Reads a script: cell by cell where ``# %%`` divides it, else whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.cells import Cell, document
from jupyter_memory.ingest.readers.text import read_text

# `[markdown]` and `[md]` after the mark of a cell make it prose, and so does `[raw]`.
_KIND = re.compile(r"\[(markdown|md|raw)\]")
# Options of Jupytext after the title: a mapping, or `tags=["a"]`.
_OPTIONS = re.compile(r"[ \t]\w+=|\{")
# The header that Jupytext writes, and the interpreter's line before it.
_HEADER_LINES = 200
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
        if "%%" in text and _mark(self.comment).search(text):
            found = document(percent_cells(text, self.comment), self.language, path.name, self.hide)
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


def percent_cells(text: str, comment: str) -> Iterator[Cell]:
    """Yield the cells of a script that lines such as ``# %% Title`` divide.

    >>> [(cell.is_code, cell.source, cell.line) for cell in percent_cells("# %% [md]\\n# Tariffs\\n# %%\\n2", "#")]
    [(False, 'Tariffs\\n', 2), (True, '2', 4)]
    """
    marks = list(_mark(comment).finditer(text))
    index, line, counted = 0, 1, 0
    before = _without_header(text[: marks[0].start()] if marks else text, comment)
    if before.strip():
        yield Cell(0, True, before, line=1)
        index = 1
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        rest = mark["rest"]
        prose = _KIND.search(rest)
        title = _OPTIONS.split(_KIND.sub("", rest), maxsplit=1)[0].strip(" \t#*-")
        begin = min(mark.end() + 1, end)
        line, counted = line + text.count("\n", counted, begin), begin
        source = text[begin:end]
        yield Cell(
            index,
            prose is None,
            _uncommented(source, comment) if prose else source,
            line=line,
            title=title,
        )
        index += 1


@lru_cache
def _mark(comment: str) -> re.Pattern[str]:
    """Return the pattern of a line that begins a cell; Matlab's own has no comment before it."""
    begin = "" if comment == "%" else re.escape(comment) + "[ \\t]?"
    return re.compile(rf"^{begin}%%(?P<rest>(?:[ \t][^\n]*)?)$", re.MULTILINE)


def _without_header(text: str, comment: str) -> str:
    """Return the beginning of a script with blank lines for the YAML block that Jupytext writes in comments."""
    lines = text.split("\n")
    fence = f"{comment} ---"
    fences = [number for number, line in enumerate(lines[:_HEADER_LINES]) if line.rstrip() == fence]
    if len(fences) < 2 or any(line.strip() and not line.startswith(comment) for line in lines[: fences[0]]):
        return text
    return "\n".join(["" if fences[0] <= number <= fences[1] else line for number, line in enumerate(lines)])


def _uncommented(source: str, comment: str) -> str:
    """Return prose without the marks of comment, or the quotes, that hide it from the language."""
    bare = source.strip()
    for quotes in ('"""', "'''"):
        if bare.startswith(quotes) and bare.endswith(quotes) and len(bare) >= 2 * len(quotes):
            return source.replace(quotes, "")
    lines = (line.removeprefix(comment).removeprefix(" ") for line in source.split("\n"))
    return "\n".join(lines)
