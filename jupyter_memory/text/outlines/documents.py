"""The sections of LaTeX, Org and AsciiDoc."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from jupyter_memory.text.outlines.blocks import Block, nested

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
