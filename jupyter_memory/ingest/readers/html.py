"""Reads a page of HTML, section by section."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.text import decoded, tidied
from jupyter_memory.text.markdown import Heading, descend

# What is not read: programs, styles, drawings, and what only guides through a site.
_SILENT = frozenset({"script", "style", "svg", "template", "noscript", "nav", "head", "iframe", "object", "canvas"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Tags within a line; any other begins a new one.
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
_CELLS = frozenset({"td", "th"})
# What begins a line and does not end one.
_ROWS = frozenset({"tr", "li", "dt", "dd", "thead", "tbody", "br", "hr", "option"})
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset[ \t]{0,4}=[ \t]{0,4}[\"']?([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,100}?encoding=[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_CHARSET_WITHIN = 2_048
_DECLARATION = re.compile(r"<!--|<[!?]")
_BLANK = re.compile(r"[ \t\r\f\v\n]+")
_GAP = re.compile(r"\n{3,}")
_SLUG = re.compile(r"[^\w]+")
# Sections of one page that become memories; the rest stays with the last one.
_MOST_SECTIONS = 2_000


@dataclass(slots=True)
class _Section:
    """A heading with the text below it, as it is read; ``anchor`` is its id, or that of the element around it."""

    line: int
    path: tuple[Heading, ...] = ()
    anchor: str = ""
    pieces: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HtmlReader:
    """Reads the text of pages, in the charset that they name."""

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")

    def read(self, path: Path, /) -> Document:
        """Return a part for each heading with the text below it, and one for the text before the first heading.

        The location of a part is the id of its heading, or a name made of the heading.

        Raises:
            InputError: the file is binary.
            OSError: the file cannot be read.
        """
        data = path.read_bytes()
        named = _CHARSET.search(data, 0, _CHARSET_WITHIN)
        charset = (named[1] or named[2]).decode("ascii", "replace") if named else ""
        page = _Page()
        page.feed(_closed(tidied(decoded(data, charset))))
        page.close()
        parts, seen = [], set[str]()
        for section in page.sections:
            lines = [line.rstrip() for line in "".join(section.pieces).split("\n")]
            text = _GAP.sub("\n\n", "\n".join(lines)).strip()
            if text:
                location = _location(section, seen)
                names = tuple(heading.text for heading in section.path)
                parts.append(Part(text, location=location, line=section.line, headings=names))
        return Document(tuple(parts), "html", title=page.title)


def _closed(text: str) -> str:
    """Return a page without comments and declarations, and without a tag that is never closed.

    The parser takes the square of the time for many of them that do not end. The lines of a comment stay.
    """
    pieces, at = [], 0
    last = text.rfind(">")
    while (found := _DECLARATION.search(text, at, last)) is not None:
        mark = "-->" if found[0] == "<!--" else ">"
        end = text.find(mark, found.end(), last + 1)
        if end < 0:
            last = found.start() - 1
            break
        pieces.append(text[at : found.start()])
        pieces.append("\n" * text.count("\n", found.start(), end))
        at = end + len(mark)
    pieces.append(text[at : max(at, last + 1)])
    pieces.append(text[max(at, last + 1) :].replace("<", "&lt;"))
    return "".join(pieces)


def _location(section: _Section, seen: set[str]) -> str:
    """Return the name of a section within its page, different from those before it."""
    name = section.anchor or _SLUG.sub("-", section.path[-1].text if section.path else "").strip("-").lower()[:80]
    number, unique = 1, name
    while unique in seen:
        number += 1
        unique = f"{name}-{number}"
    seen.add(unique)
    return unique


class _Page(HTMLParser):
    """Collects the sections of a page while it is parsed; broken HTML is read as far as it goes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.sections = [_Section(1)]
        self._silent = ""
        self._depth = 0
        self._in_title = False
        self._pre = 0
        self._heading: list[str] | None = None
        self._anchor = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what begins with a tag."""
        if tag == "title" and not self.title:
            self._in_title = True
        elif self._silent:
            self._depth += tag == self._silent
        elif tag in _SILENT:
            self._silent, self._depth = tag, 1
        elif tag == "body":
            self._silent, self._depth = "", 0
        elif tag in _HEADINGS and len(self.sections) < _MOST_SECTIONS:
            self._heading = []
            self.sections.append(_Section(self.getpos()[0], anchor=dict(attrs).get("id") or self._anchor))
            self._anchor = ""
        else:
            self._anchor = dict(attrs).get("id") or ("" if tag not in _INLINE else self._anchor)
            self._pre += tag == "pre"
            if tag not in _INLINE and tag not in _CELLS:
                self.sections[-1].pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Note what ends with a tag."""
        if tag == "title":
            self._in_title = False
        elif self._silent:
            self._depth -= tag == self._silent
            if not self._depth:
                self._silent = ""
        elif tag in _HEADINGS and self._heading is not None:
            self._close_heading(_HEADINGS[tag])
        else:
            self._pre = max(0, self._pre - (tag == "pre"))
            if tag not in _INLINE and tag not in _ROWS:
                self.sections[-1].pieces.append("\t" if tag in _CELLS else "\n")

    def handle_data(self, data: str) -> None:
        """Take a piece of text."""
        if self._in_title:
            self.title = _BLANK.sub(" ", self.title + data).strip()[:1_000]
        elif not self._silent:
            if self._heading is not None:
                self._heading.append(data)
            self.sections[-1].pieces.append(data if self._pre else _BLANK.sub(" ", data))

    def _close_heading(self, level: int) -> None:
        text = _BLANK.sub(" ", "".join(self._heading or ())).strip(" ¶#")
        self._heading = None
        section, before = self.sections[-1], self.sections[-2].path
        section.path = descend(before, Heading(0, 0, level, text)) if text else before
        section.pieces.append("\n\n")
