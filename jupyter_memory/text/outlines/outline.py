"""Which blocks a text has, by its language; those of LaTeX, Org and AsciiDoc are found here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from jupyter_memory.text.code.definitions import Place
from jupyter_memory.text.code.languages import PYTHON
from jupyter_memory.text.outlines.blocks import Block, nested
from jupyter_memory.text.outlines.patterns import code_blocks
from jupyter_memory.text.outlines.python import python_blocks

# Sections are cut at every level; the methods of a class belong together.
_ALL_LEVELS = 9


def outline(lang: str, text: str, places: Sequence[Place] = ()) -> list[Block]:
    """Return the blocks of a text in their order, none where its language has no outline.

    ``places`` are the definitions that Python found in a source of its own.
    """
    if lang == PYTHON:
        return python_blocks(text, places)
    return sections(lang, text) if lang in DOCUMENTS else code_blocks(lang, text)


def stretches(lang: str, blocks: Sequence[Block], length: int) -> list[tuple[int, int]]:
    """Return the stretches into which the blocks of a text cut it: functions and classes, or sections of any level."""
    deepest = _ALL_LEVELS if lang in DOCUMENTS else 1
    edges = {edge for one in blocks if one.level <= deepest for edge in (one.start, one.end)}
    cuts = sorted({0, length, *edges})
    return list(pairwise(cuts))


_MOST = 20_000
_LATEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_LATEX = re.compile(
    rf"^[ \t]{{0,8}}\\(?P<level>{'|'.join(_LATEX_LEVELS)})\*?(?:\[[^\]\n]{{0,200}}\])?"
    r"\{(?P<title>[^\n{}]*+(?:\{[^\n{}]*+\}[^\n{}]*+)*+)\}",
    re.MULTILINE,
)
_COMMAND = re.compile(r"\\[A-Za-z]+\*?|[{}~$]")
_ORG = re.compile(r"^(?P<level>\*{1,8})[ \t]++(?P<title>[^\n]+)$", re.MULTILINE)
_ORG_STATE = re.compile(r"(?:(?:TODO|DONE|NEXT|WAITING)[ \t]+)?(?:\[#[A-Z]\][ \t]*)?")
_ASCIIDOC = re.compile(r"^(?P<level>={1,6})[ \t]++(?P<title>[^\n]+)$", re.MULTILINE)

DOCUMENTS = frozenset({"latex", "org", "asciidoc"})


def sections(lang: str, text: str) -> list[Block]:
    """Return the sections of a document, none for another language.

    >>> [(one.level, one.name) for one in sections("org", "* Prices\\n** TODO Net of tax :work:\\n")]
    [(1, 'Prices'), (2, 'Net of tax')]
    """
    found = {"latex": _latex, "org": _org, "asciidoc": _asciidoc}.get(lang)
    return [] if found is None else nested(islice(found(text), _MOST), len(text))


def _latex(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _LATEX.finditer(text):
        title = " ".join(_COMMAND.sub(" ", match["title"]).split())
        yield match.start(), _LATEX_LEVELS.index(match["level"]) + 1, title


def _org(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _ORG.finditer(text):
        title = _ORG_STATE.sub("", match["title"], count=1).rstrip()
        if title.endswith(":"):
            title, _, tags = title.rpartition(" ")
            title = title if tags.startswith(":") else f"{title} {tags}"
        yield match.start(), len(match["level"]), title.strip()


def _asciidoc(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _ASCIIDOC.finditer(text):
        yield match.start(), len(match["level"]), match["title"].strip()
