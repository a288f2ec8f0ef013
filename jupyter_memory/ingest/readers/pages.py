"""The text of pages and drawings: what their reader sees, without programs and styles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from jupyter_memory.text.markdown import Heading, descend

# What is not read: programs, styles, drawings, and what only guides through a site.
_SILENT = frozenset({"script", "style", "svg", "template", "noscript", "nav", "head", "iframe", "object", "canvas"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Tags within a line; any other begins a new one.
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tspan", "tt", "u", "var",
    "wbr",
})  # fmt: skip
_CELLS = frozenset({"td", "th"})
# What begins a line and does not end one.
_ROWS = frozenset({"tr", "li", "dt", "dd", "thead", "tbody", "br", "hr", "option"})
_DECLARATION = re.compile(r"<!--|<[!?]")
_BLANK = re.compile(r"[ \t\r\f\v\n]+")
_GAP = re.compile(r"\n{3,}")
# Sections of one page that become memories; the rest stays with the last one.
_MOST_SECTIONS = 2_000


# Of a drawing: what is no text of it, and what its program wrote as paths, with the words in a comment.
_UNDRAWN = frozenset({"script", "style", "metadata", "defs"})
_DRAWN = re.compile(r"<!--([^<>]{1,400})-->")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(slots=True)
class Section:
    """The headings that lead to a stretch of a page, where it begins, and the pieces of its text."""

    line: int
    path: tuple[Heading, ...] = ()
    anchor: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text of the section, with one blank line between paragraphs at most."""
        lines = [line.rstrip() for line in "".join(self.pieces).split("\n")]
        return _GAP.sub("\n\n", "\n".join(lines)).strip()


def read_page(markup: str) -> tuple[str, list[Section]]:
    """Return the title of a page and its sections: one before the first heading, and one for each heading."""
    page = _Page(_SILENT)
    page.feed(_closed(markup))
    page.close()
    return page.title, page.sections


def page_text(markup: str) -> str:
    """Return the text of a page or a piece of one, its title first."""
    title, sections = read_page(markup)
    return "\n".join(text for text in (title, *(section.text for section in sections)) if text)


def drawing_text(markup: str) -> str:
    """Return the title of an SVG and its labels, one a line, without those that are numbers alone."""
    drawing = _Page(_UNDRAWN)
    drawing.feed(_closed(_DRAWN.sub(r"<text>\1</text>", markup)))
    drawing.close()
    lines = "\n".join((drawing.title, *(section.text for section in drawing.sections))).split("\n")
    return "\n".join(dict.fromkeys(said for line in lines if _LETTER.search(said := line.strip())))


def _closed(text: str) -> str:
    # The parser takes the square of the time for many of them that do not end. The lines of a comment stay.
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


class _Page(HTMLParser):
    def __init__(self, unread: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.sections = [Section(1)]
        self._unread = unread
        self._silent = ""
        self._depth = 0
        self._in_title = False
        self._pre = 0
        self._heading: list[str] | None = None
        self._anchor = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        elif self._silent:
            self._depth += tag == self._silent
        elif tag in self._unread:
            self._silent, self._depth = tag, 1
        elif tag == "body":
            self._silent, self._depth = "", 0
        elif tag in _HEADINGS and len(self.sections) < _MOST_SECTIONS:
            self._heading = []
            self.sections.append(Section(self.getpos()[0], anchor=dict(attrs).get("id") or self._anchor))
            self._anchor = ""
        else:
            self._anchor = dict(attrs).get("id") or ("" if tag not in _INLINE else self._anchor)
            self._pre += tag == "pre"
            if tag not in _INLINE and tag not in _CELLS:
                self.sections[-1].pieces.append("\n")
            if tag == "img" and (alt := dict(attrs).get("alt")):
                self.handle_data(alt)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._silent:
            self._depth -= tag == self._silent
            if not self._depth:
                self._silent = ""
        elif tag in _HEADINGS and self._heading is not None:
            level = _HEADINGS[tag]
            text = _BLANK.sub(" ", "".join(self._heading or ())).strip(" ¶#")
            self._heading = None
            section, before = self.sections[-1], self.sections[-2].path
            section.path = descend(before, Heading(0, 0, level, text)) if text else before
            section.pieces.append("\n\n")
        else:
            self._pre = max(0, self._pre - (tag == "pre"))
            if tag not in _INLINE and tag not in _ROWS:
                self.sections[-1].pieces.append("\t" if tag in _CELLS else "\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = _BLANK.sub(" ", self.title + data).strip()[:1_000]
        elif not self._silent:
            if self._heading is not None:
                self._heading.append(data)
            self.sections[-1].pieces.append(data if self._pre else _BLANK.sub(" ", data))
