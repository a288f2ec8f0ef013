"""Reads documents of prose and code: Quarto, R Markdown, MyST and Jupytext's Markdown, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.cells import Cell, document
from jupyter_memory.ingest.readers.front_matter import described
from jupyter_memory.ingest.readers.text import read_text
from jupyter_memory.text.code import PYTHON, known_language
from jupyter_memory.text.markdown import front_matter, headings

# ```{r tariffs, echo=FALSE}, ```{code-cell} ipython3, ```python.
_OPEN = re.compile(r"(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)")
_BRACED = re.compile(r"\{(?P<inside>[^{}\n]*)\}[ \t]*+(?P<after>[\w+.-]*)")
_NAME = re.compile(r"[A-Za-z][\w+#.-]*")
_OPTION = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]*+)[ \t]*+=[ \t]*+(\"[^\"\n]*\"|'[^'\n]*'|[^,\s]+)")
# `#| label: fig-prices` in Quarto, `:label: fig-prices` in MyST.
_INNER = re.compile(r"(?:(?:#|//|--|%)\||:(?=[a-z]))[ \t]*+([\w.-]++):[ \t]*+(.*+)")
_KERNEL = re.compile(r"^(?:kernelspec|jupytext):", re.MULTILINE)
_LANGUAGE = re.compile(r"^[ \t]+language:[ \t]*(\S+)", re.MULTILINE)
_KERNEL_NAME = re.compile(r"^[ \t]+name:[ \t]*(\S+)", re.MULTILINE)
# Fences of Markdown that are shown and not run.
_SHOWN = frozenset({"", "text", "txt", "output", "console", "mermaid", "math", "none"})
_LONGEST_OPTION = 200
_FENCES = frozenset("`~")
_FIRST = re.compile(r"^[`~]{3,}+[ \t]*+\{([A-Za-z]\w*+)", re.MULTILINE)
# What a front matter says to its readers, and not to a program.
_TOLD = re.compile(
    r"^(?:title|subtitle|author|date|abstract|description|categories|tags|keywords)[ \t]*+:[^\n]*+"
    r"(?:\n(?:[ \t]|-[ \t])[^\n]*+)*+",  # a line that goes on, or an item; not the fence that closes it
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LiterateReader:
    """Reads Quarto and R Markdown. ``hide`` replaces secrets in texts that are going to be shortened."""

    suffixes: tuple[str, ...] = (".qmd", ".rmd")
    hide: Callable[[str], str] | None = field(default=None, repr=False)

    def hiding(self, hide: Callable[[str], str], /) -> LiterateReader:
        """Return a reader that hides secrets before it shortens a text."""
        return replace(self, hide=hide)

    def read(self, path: Path, /) -> Document:
        """Return a part for each chunk of code, and for the prose under each heading."""
        usual = "r" if path.suffix.lower() == ".rmd" else PYTHON
        text = read_text(path)
        return described(literate_document(text, path.name, usual, self.hide, bare=False), text)


def is_notebook(text: str) -> bool:
    """Return whether the front matter of a Markdown file says that a kernel runs its code."""
    return bool(_KERNEL.search(front_matter(text)))


def literate_document(
    text: str, title: str, usual: str, hide: Callable[[str], str] | None, *, bare: bool = True
) -> Document:
    """Return the chunks of a document, or all of it where they are too many.

    With ``bare``, a fence that names a language without braces is code too.
    """
    front = front_matter(text)
    named = _LANGUAGE.search(front) or _KERNEL_NAME.search(front)
    language = known_language(named[1].strip("\"'")) if named else ""
    language = language or _first_language(text) or usual
    found = document(_cells(text, front, bare), language, title, hide)
    return Document((Part(text),), "markdown") if found is None else found


def _cells(text: str, front: str, bare: bool) -> Iterator[Cell]:
    """Yield chunks of code and stretches of prose in their order."""
    lines = text.split("\n")
    first = front.count("\n")
    index, begin, number = 0, first, first
    if told := "\n".join(_TOLD.findall(front)):
        yield Cell(0, False, told, line=1)
        index = 1
    while number < len(lines):
        found = _chunk_at(lines[number], bare)
        if found is None:
            number = _after_fence(lines, number)
            continue
        for prose in _prose(lines, begin, number):
            yield replace(prose, index=index)
            index += 1
        fence, language, label, options = found
        end = _closing(lines, number, fence)
        source, inner, skipped = _without_options(lines[number + 1 : end])
        options = {**options, **inner}
        label = label or str(options.get("label", ""))
        yield Cell(
            index,
            True,
            source,
            language,
            label,
            line=number + 2 + skipped,
            metadata={"options": options} if options else {},
        )
        index += 1
        begin = number = end + 1
    for prose in _prose(lines, begin, len(lines)):
        yield replace(prose, index=index)
        index += 1


def _prose(lines: list[str], begin: int, end: int) -> Iterator[Cell]:
    """Yield the prose of some lines, cut before each heading."""
    text = "\n".join(lines[begin:end])
    cuts = sorted({0, len(text), *(heading.start for heading in headings(text))})
    line, counted = begin + 1, 0
    for start, stop in pairwise(cuts):
        line, counted = line + text.count("\n", counted, start), start
        if text[start:stop].strip():
            yield Cell(0, False, text[start:stop], line=line)


def _chunk_at(line: str, bare: bool) -> tuple[str, str, str, dict[str, str]] | None:
    """Return fence, language, label and options of the chunk of code that a line opens, None where it opens none."""
    opened = _OPEN.fullmatch(line.strip()) if line[:1] in _FENCES else None
    if opened is None:
        return None
    info = opened["info"].strip()
    braced = _BRACED.match(info)
    if braced is None:
        name = _NAME.match(info)
        language = name[0].lower() if name else ""
        return (opened["fence"], known_language(language), "", {}) if bare and language not in _SHOWN else None
    inside = braced["inside"].strip()
    name = _NAME.match(inside)
    if name is None or inside.startswith((".", "=", "#")):
        return None
    if name[0] in ("code-cell", "code-block", "code"):
        # The language of a code-cell is the kernel's: what follows it is the name of a lexer.
        return (opened["fence"], "", "", {}) if name[0] == "code-cell" else None
    if not bare or name[0].lower() in ("python", "r", "julia", "sql", "bash"):
        head, _, _ = inside[name.end() :].partition(",")
        label = "" if "=" in head else head.strip()
        options = {key: value.strip("\"'")[:_LONGEST_OPTION] for key, value in _OPTION.findall(inside)}
        return opened["fence"], known_language(name[0]), label, options
    return None  # a directive of MyST, such as {note}, is prose


def _closing(lines: list[str], opening: int, fence: str) -> int:
    """Return the line that closes a fence, or the one after the last."""
    for number in range(opening + 1, len(lines)):
        bare = lines[number].strip()
        if bare.startswith(fence) and not bare.strip(fence[0]):
            return number
    return len(lines)


def _after_fence(lines: list[str], number: int) -> int:
    """Return the line after this one, or after the block of prose that it opens with a fence."""
    opened = _OPEN.fullmatch(lines[number].strip()) if lines[number][:1] in _FENCES else None
    return number + 1 if opened is None else _closing(lines, number, opened["fence"]) + 1


def _without_options(lines: list[str]) -> tuple[str, Mapping[str, Any], int]:
    """Return a chunk's source, the options on its first lines, and how many lines those are."""
    options: dict[str, str] = {}
    count = 0
    for line in lines:
        found = _INNER.fullmatch(line.strip())
        if found is None:
            break
        options[found[1]] = found[2].strip().strip("\"'")[:_LONGEST_OPTION]
        count += 1
    return "\n".join(lines[count:]), options, count


def _first_language(text: str) -> str:
    """Return the language of the first chunk that names one."""
    found = _FIRST.search(text)
    name = known_language(found[1]) if found else ""
    return name if name in ("python", "r", "julia", "sql", "bash", "javascript") else ""
