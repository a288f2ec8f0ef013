"""Scripts with cells, in the formats of Jupytext."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part, Shortening
from jupyter_memory.ingest.readers.notebook import Cell, document
from jupyter_memory.ingest.readers.text import read_text

# `[markdown]` and `[md]` after the mark of a cell make it prose, and so does `[raw]`, in the light format `active=""`.
_KIND = re.compile(r"\[(?:markdown|md|raw)\]|\bactive=\"\"")
# Options of Jupytext after the title: a mapping, or `tags=["a"]`.
_OPTIONS = re.compile(r"[ \t]\w+=|\{")
_HEADER_LINES = 200
# Where a header says that paragraphs are cells.
_LIGHT = re.compile(r"format_name:[ \t]*['\"]?(?:light|nomarker|bare)\b")


def _percent_cells(text: str, comment: str) -> Iterator[Cell]:
    marks = list(_mark(comment).finditer(text))
    line, counted = 1, 0
    before = _without_header(text[: marks[0].start()], comment)
    if before.strip():
        yield Cell(True, before, line=1)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        rest = mark["rest"]
        prose = _KIND.search(rest)
        begin = min(mark.end() + 1, end)
        line, counted = line + text.count("\n", counted, begin), begin
        source = _uncommented(text[begin:end], comment) if prose else text[begin:end]
        yield Cell(prose is None, source, line=line, title=_title(rest))


def _light_cells(text: str, comment: str) -> Iterator[Cell]:
    # A paragraph of comments is prose, any other one code, with the indented lines that follow it. A line such as
    # ``# + Title`` begins a cell that goes on to ``# -``, blank lines included.
    lines = _without_header(text, comment).split("\n")
    begins = re.compile(rf"^{re.escape(comment)} ?(?:\+|region\b)(?P<rest>|[ \t\[{{][^\n]*+)$")
    ends = re.compile(rf"^{re.escape(comment)} ?(?:-|endregion)[ \t]*+$")
    at = 0
    while at < len(lines):
        mark = begins.match(lines[at])
        if not mark and (not lines[at].strip() or ends.match(lines[at])):
            at += 1
            continue
        begin = at + 1 if mark else at
        if mark:
            at = begin
            while at < len(lines) and not (begins.match(lines[at]) or ends.match(lines[at])):
                at += 1
            is_prose, title = bool(_KIND.search(mark["rest"])), _title(mark["rest"])
        else:
            at = _end_of_paragraph(lines, begin, begins, comment)
            is_prose = all(line.startswith(comment) for line in lines[begin:at])
            is_prose = is_prose and not lines[begin].startswith((f"{comment} %", f"{comment} !"))
            title = ""
        source = "\n".join(lines[begin:at])
        yield Cell(not is_prose, _uncommented(source, comment) if is_prose else source, line=begin + 1, title=title)


def _end_of_paragraph(lines: Sequence[str], at: int, begins: re.Pattern[str], comment: str) -> int:
    # A blank line within quotes, or before an indented line, does not end it.
    quotes = 0
    while at < len(lines) and not begins.match(lines[at]):
        line = lines[at]
        if not line.strip() and not quotes % 2:
            after = next((one for one in lines[at : at + 3] if one.strip()), "")
            if not after[:1].isspace():
                break
        if not line.startswith(comment):
            quotes += line.count('"""') + line.count("'''")
        at += 1
    return at


def _title(rest: str) -> str:
    return _OPTIONS.split(_KIND.sub("", rest), maxsplit=1)[0].strip(" \t#*-")


def _mark(comment: str) -> re.Pattern[str]:
    begin = "" if comment == "%" else re.escape(comment) + "[ \\t]?"
    return re.compile(rf"^{begin}%%(?P<rest>(?:[ \t][^\n]*)?)$", re.MULTILINE)


def _without_header(text: str, comment: str) -> str:
    lines = text.split("\n")
    header = _header(lines, comment)
    return "\n".join(["" if number in header else line for number, line in enumerate(lines)]) if header else text


def _header(lines: Sequence[str], comment: str) -> range:
    fence = f"{comment} ---"
    fences = [number for number, line in enumerate(lines[:_HEADER_LINES]) if line.rstrip() == fence]
    if len(fences) < 2 or any(line.strip() and not line.startswith(comment) for line in lines[: fences[0]]):
        return range(0)
    return range(fences[0], fences[1] + 1)


def _uncommented(source: str, comment: str) -> str:
    bare = source.strip()
    for quotes in ('"""', "'''"):
        if bare.startswith(quotes) and bare.endswith(quotes) and len(bare) >= 2 * len(quotes):
            return source.replace(quotes, "")
    lines = (line.removeprefix(comment).removeprefix(" ") for line in source.split("\n"))
    return "\n".join(lines)


_MINIFIED_IN = frozenset({"javascript", "typescript"})
# Characters of a file from which on lines of such a mean length are no code that a person wrote.
_MINIFIED = 50_000
_LONG_LINES = 1_000


@dataclass(frozen=True, slots=True)
class ScriptReader(Shortening):
    """Reads files of one language of code, in which ``comment`` begins a line of comment."""

    language: str
    suffixes: tuple[str, ...]
    comment: str = "#"
    version: int = 0

    def read(self, path: Path, /) -> Document:
        text = read_text(path)
        is_long = len(text) > _MINIFIED and len(text) > _LONG_LINES * (text.count("\n") + 1)
        if self.language in _MINIFIED_IN and is_long:
            raise InputError(
                f"The code is minified ({len(text):,} characters on {text.count(chr(10)) + 1:,} lines). "
                "Index its source; leave this file out with a line in .jupytermemoryignore."
            )
        lines = text.split("\n") if "format_name:" in text else []
        divided = None
        if "%%" in text and _mark(self.comment).search(text):
            divided = _percent_cells(text, self.comment)
        elif any(_LIGHT.search(lines[number]) for number in _header(lines, self.comment)):
            divided = _light_cells(text, self.comment)
        if divided and (found := document(divided, self.language, path.name, self.hide)) is not None:
            return found
        return Document((Part(text, line=1),) if text.strip() else (), self.language)
