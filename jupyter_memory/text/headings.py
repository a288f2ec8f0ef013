"""Finds the headings of Markdown and reStructuredText, and the headings above a place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
# A line that cannot be the text of a setext heading: blank, indented code, a quote, a list item, a table, a rule.
_NO_TITLE = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-*+][ \t]|\d+[.)][ \t]|\||(?:[-*_][ \t]*){3,}$)")
_ADORNED = re.compile(r"""([=\-`:.'"~^_*+#])\1*\s*$""")
# A rule at the top of a document is not front matter: a key must follow.
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=(?:#[^\n]*\n|\n)*[\w-]+[ \t]*:).*?\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
# What a link or markup begins with.
_MARK = re.compile(r"[\[<*`\\#]")
_MARKUP = re.compile(
    r"</?(?:a|b|br|center|code|div|em|font|h[1-6]|i|img|p|span|strong|su[bp]|t[dhr]|table|u)\b[^<>]{0,300}>"
    r"|[*`]+|\\(?=[^\w\s])|[ \t]#+[ \t]*$"
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its text, its level (1 is the highest), and where its lines begin and end."""

    start: int
    end: int
    level: int
    text: str


def front_matter(text: str) -> str:
    """Return the YAML block at the beginning of a Markdown document, with its fences, or an empty string."""
    match = _FRONT_MATTER.match(text)
    return match.group() if match else ""


def plain(markdown: str) -> str:
    """Return a piece of Markdown as its reader sees it: links by their text, no tags, no emphasis.

    >>> plain('## 2. **Clean** the `price_eur` [table](data.md) <a id="x"></a> ##')
    '## 2. Clean the price_eur table'
    """
    if _MARK.search(markdown):
        markdown = _MARKUP.sub("", _LINK.sub(r"\1", markdown))
    return " ".join(markdown.split())


def headings(text: str, lang: str = "markdown") -> list[Heading]:
    """Return the headings of a text in order; only ``markdown`` and ``rst`` have any."""
    if lang == "markdown":
        return list(_markdown(text))
    return list(_rst(text)) if lang == "rst" else []


def descend(path: tuple[Heading, ...], heading: Heading) -> tuple[Heading, ...]:
    """Return the path at a heading, given the one before it."""
    return (*(above for above in path if above.level < heading.level), heading)


def paths(found: Iterable[Heading], places: Iterable[int]) -> Iterator[tuple[str, ...]]:
    """Yield for each place, in ascending order, the texts of the headings above it or right there."""
    rest = iter(found)
    coming = next(rest, None)
    path: tuple[Heading, ...] = ()
    for place in places:
        while coming and coming.start <= place:
            path, coming = descend(path, coming), next(rest, None)
        yield tuple(heading.text for heading in path)


def _lines(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield each line with the offset where it begins."""
    for line in text[start:].split("\n"):
        yield start, line
        start += len(line) + 1


def _markdown(text: str) -> Iterator[Heading]:
    fence, above, above_start = "", "", 0
    for start, line in _lines(text, len(front_matter(text))):
        end = start + len(line)
        mark = _FENCE.match(line)
        if fence or mark:
            fence = _fence_after(fence, mark.group(1) if mark else "", line)
            above = ""
        elif atx := _ATX.match(line):
            if title := plain(atx.group(2) or ""):
                yield Heading(start, end, len(atx.group(1)), title)
            above = ""
        elif above and (under := _SETEXT.match(line)):
            yield Heading(above_start, end, 1 if under.group(1)[0] == "=" else 2, plain(above))
            above = ""
        else:
            above, above_start = ("" if _NO_TITLE.match(line) else line), start


def _fence_after(fence: str, mark: str, line: str) -> str:
    """Return the fence that is open after a line, given the one before it and the mark with which the line begins."""
    if not fence:
        return mark
    closes = mark[:1] == fence[0] and len(mark) >= len(fence) and line.strip() == mark
    return "" if closes else fence


def _rst(text: str) -> Iterator[Heading]:
    """Read titles above (and between) lines of punctuation; the order of first use gives the levels."""
    styles: list[tuple[str, bool]] = []
    lines = list(_lines(text))
    for (over_start, over), (start, title), (under_start, under) in zip(
        [(0, ""), *lines], lines, lines[1:], strict=False
    ):
        adorned = _ADORNED.match(under)
        if not adorned or not title.strip() or _ADORNED.match(title) or len(under.rstrip()) < len(title.strip()):
            continue
        overlined = bool(over.strip()) and over.rstrip() == under.rstrip()
        if title[0].isspace() and not overlined:
            continue
        style = (adorned.group(1), overlined)
        if style not in styles:
            styles.append(style)
        begin = over_start if overlined else start
        yield Heading(begin, under_start + len(under), styles.index(style) + 1, plain(title))
