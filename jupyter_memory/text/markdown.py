"""Markdown: headings, the structural prefix of a chunk, and its rendering as plain text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import unescape
from typing import Any

from jupyter_memory.text.dates import DAY_NAMES, MONTH_NAMES, UNKNOWN
from jupyter_memory.text.identifiers import heading_path, words_within

_FENCE_MARK = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
# A line that cannot be the text of a setext heading: blank, indented code, a quote, a list item, a table, a rule.
_NO_TITLE = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-*+][ \t]|\d+[.)][ \t]|\||(?:[-*_][ \t]*){3,}$)")
_ADORNED = re.compile(r"""([=\-`:.'"~^_*+#])\1*\s*$""")
# A rule at the top of a document is not front matter: a key must follow.
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=(?:#[^\n]*\n|\n)*[\w-]+[ \t]*:).*?\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_TOML_MATTER = re.compile(r"\+\+\+[ \t]*\n(?:(?!\+\+\+)[^\n]*\n)*+\+\+\+[ \t]*(?:\n|$)")
# A heading as HTML has it, after other tags or not.
_HTML_HEADING = re.compile(
    r"[ \t]*+(?:<(?!h[1-6]\b)[^<>\n]{1,300}>[ \t]{0,20}){0,5}"
    r"<h(?P<level>[1-6])\b[^<>]{0,300}>(?P<title>.{0,1000}?)</h(?P=level)[ \t]{0,9}>",
    re.IGNORECASE | re.DOTALL,
)
_ANY_TAG = re.compile(r"<[^<>]{1,300}>")
_HEADING_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
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
    """Return the block of YAML or TOML at the beginning of a Markdown document, with its fences, or an empty string."""
    match = _FRONT_MATTER.match(text) or _TOML_MATTER.match(text)
    return match.group() if match else ""


def _plain_heading(markdown: str) -> str:
    if _MARK.search(markdown):
        markdown = _MARKUP.sub("", _HEADING_LINK.sub(r"\1", markdown))
    return " ".join(markdown.split())


def headings(text: str, lang: str = "markdown") -> list[Heading]:
    """Return the headings of a text in order; only ``markdown`` and ``rst`` have any."""
    found = _markdown(text) if lang == "markdown" else _rst(text) if lang == "rst" else ()
    # What stands between the headings of a path stands in none of them.
    return [replace(one, text=one.text.replace(" > ", " >\u00a0")) if " > " in one.text else one for one in found]


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
    for line in text[start:].split("\n"):
        yield start, line
        start += len(line) + 1


def _markdown(text: str) -> Iterator[Heading]:
    fence, above, above_start = "", "", 0
    for start, line in _lines(text, len(front_matter(text))):
        end = start + len(line)
        mark = _FENCE_MARK.match(line)
        if fence or mark:
            run = mark.group(1) if mark else ""
            if not fence:
                fence = run
            elif run[:1] == fence[0] and len(run) >= len(fence) and line.strip() == run:
                fence = ""
            above = ""
        elif atx := _ATX.match(line):
            if title := _plain_heading(atx.group(2) or ""):
                yield Heading(start, end, len(atx.group(1)), title)
            above = ""
        elif "<" in line and (html := _HTML_HEADING.match(text, start)):
            if title := " ".join(unescape(_ANY_TAG.sub(" ", html["title"])).split()):
                yield Heading(start, html.end(), int(html["level"]), title)
            above = ""
        elif above and (under := _SETEXT.match(line)):
            yield Heading(above_start, end, 1 if under.group(1)[0] == "=" else 2, _plain_heading(above))
            above = ""
        else:
            above, above_start = ("" if _NO_TITLE.match(line) else line), start


def _rst(text: str) -> Iterator[Heading]:
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
        yield Heading(begin, under_start + len(under), styles.index(style) + 1, _plain_heading(title))


_WORDS_ABOVE = 60
# Sixty words are some 400 characters; what is longer has data among them.
_LONGEST_ABOVE = 1_000
# In the metadata of a memory: the line of its file with which it begins.
LINE = "line"
# Locations that only count: another part may be there after an edit.
_POSITION = re.compile(r"#.*|(?:page|slide) \d+", re.DOTALL)
# Between the source of a cell and its outputs.
_OUTPUTS = "\n\nOut:\n"


def context(name: str, headings: Sequence[str], above: str = "", when: datetime | str | None = None) -> str:
    """Return the prefix of a cell or chunk: one line for each thing that is known of it.

    Of the Markdown ``above``, 60 words are used; ``when`` is aware, and shown in local time, or what ``day`` returns.
    """
    words = _plain_heading(above).split(" ", _WORDS_ABOVE)[:_WORDS_ABOVE] if above else ()
    told = words_within(" ".join(words), _LONGEST_ABOVE)
    parts = (name, heading_path(headings), told, day(when) if isinstance(when, datetime) else when)
    return "\n".join(part for part in parts if part)


def headings_above(prefix: str, title: str, kind: str) -> str:
    """Return the headings of a chunk's prefix, without the last one if the memory's title ends with it."""
    name, *lines = prefix.split("\n")
    if kind == "file":
        return lines[0] if len(lines) > 1 else ""
    # Only the title tells whether the second line of a cell has headings or the words above it.
    last = title.removeprefix(f"{name} – ")
    if last == title or not lines or not lines[0].endswith(f" > {last}"):
        return ""
    return lines[0].removesuffix(f" > {last}")


def heading_of(prefix: str, title: str, kind: str) -> str:
    """Return the heading that a chunk is under, or the title of a note; nothing where there is none."""
    if kind == "note":
        return title
    name, *lines = prefix.split("\n")
    if kind == "file":
        return lines[0].rpartition(" > ")[2] if len(lines) > 1 else ""
    last = title.removeprefix(f"{name} – ")
    return "" if last == title else last


def words_above(prefix: str, title: str, kind: str) -> str:
    """Return the words of the Markdown just above a cell, as its prefix has them; nothing where there are none."""
    name, *lines = prefix.split("\n")
    # Only a title that the document gave tells whether the second line has headings; the day comes last.
    if kind != "cell" or not (title == name or heading_of(prefix, title, kind)):
        return ""
    told = lines[:-1] if title == name else lines[1:-1]
    return told[0] if told else ""


def is_position(location: str) -> bool:
    """Return whether a location is only a position in its document, not a name that stays with its part.

    >>> is_position("#7"), is_position("page 3"), is_position("89ce8ae6"), is_position("table prices")
    (True, True, False, False)
    """
    return _POSITION.fullmatch(location) is not None


def first_line(metadata: Mapping[str, Any]) -> int | None:
    """Return the line of its file with which a memory begins, None where that is not known."""
    line = metadata.get(LINE)
    return line if isinstance(line, int) and line > 0 else None


def day(when: datetime) -> str:
    """Return weekday and date in English: ``Saturday 21 November 2026``; nothing where it is unknown."""
    if when == UNKNOWN:
        return ""
    local = when.astimezone()
    return f"{DAY_NAMES[local.weekday()].title()} {local.day} {MONTH_NAMES[local.month - 1].title()} {local.year}"


def under(document: str, headings: Sequence[str], about: str = "") -> str:
    """Return a document's prefix with the heading path of one of its chunks, and more about it, after the name."""
    name, newline, rest = document.partition("\n")
    return "\n".join(part for part in (name, heading_path(headings), about, rest if newline else "") if part)


def embedding_text(kind: str, title: str, prefix: str, text: str) -> str:
    head = embedded_head(kind, title, prefix)
    return f"{head}\n{text}" if head else text


def embedded_head(kind: str, title: str, prefix: str) -> str:
    """Return what is put in front of a chunk's text when it is embedded: a note's title, or the structural prefix."""
    return title if kind == "note" else prefix


def with_outputs(source: str, outputs: str) -> str:
    """Return the text of a cell: its source, then its outputs where it has any."""
    return f"{source}{_OUTPUTS}{outputs}" if outputs else source


def source_of(text: str) -> str:
    return text.split(_OUTPUTS, 1)[0]


def outputs_of(text: str) -> str:
    """Return the outputs of a cell by its text; nothing where there are none."""
    return text.partition(_OUTPUTS)[2]


# A snippet is cut out of its text, so a link or an emphasis may have lost one of its ends: the other is removed too.

_Span = tuple[int, int]
_CUT = "…"
# What holds no Markdown: code and formulas. The groups are what is shown of code.
_VERBATIM = re.compile(
    r"(?<!`)(?:`([^`\n]{1,400})`|``([^\n]{1,400}?)``)(?!`)|\$\$[^$]{1,400}\$\$|\$[^\s$](?:[^$\n]{0,200}[^\s$])?\$"
)
_LINK = re.compile(
    r"(?:!|(?<!\w))\[([^\[\]]{0,400})\]"
    r"\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?: \"[^\"\n]{0,200}\")?\)"
)
_CUT_LINK = re.compile(r"(?:!|(?<!\w))\[([^\[\]]{0,400})\]\([^()\s]{0,2000}…$")
_CUT_LABEL = re.compile(r"(?:!|(?<!\w))\[(?=[^\[\]]{0,400}…$)")
_LINK_END = re.compile(r"^…[^\[\]]{0,400}(\]\([^()\s]{0,2000}\))")
_ADDRESS = re.compile(r"<(https?://[^\s<>]{1,2000})>")
_TAG = re.compile(
    r"</?(?:a|b|br|center|code|details|div|em|font|h[1-6]|hr|i|img|p|span|strong|su[bp]|summary|t[dhr]|table|tbody|thead|u)"
    r"\b[^<>]{0,300}>"
)
_HEADING = re.compile(r"(?:(?<=[\s…])|^)#{1,6}[ \t]++(?=\S)", re.MULTILINE)
_RULE = re.compile(r"(?:(?<=\s)|^)(?:-{3,}+|\*{3,}+|_{3,}+|={3,}+)[ \t]*+(?=\s|$)", re.MULTILINE)
_FENCE = re.compile(r"(?:`{3,}+|~{3,}+)[\w+-]*+[ \t]*+")
_TABLE_RULE = re.compile(r"\|(?:[ \t]*+:?-++:?[ \t]*+\|)++\n?")
_QUOTE = re.compile(r"^>[ \t]?", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?=[*_#`~])")
_EMPHASIS = re.compile(r"(?<![*\\])\*{1,3}(?!\*)|(?<![\w\\])_{1,2}(?=\w)|(?<=[\w.,;:!?)\"'])_{1,2}(?!\w)|(?<!~)~~(?!~)")
_FIRST_WORDS = 60


def plain(text: str, spans: Sequence[_Span] = ()) -> tuple[str, tuple[_Span, ...]]:
    """Return a piece of Markdown without its marks, and where ``spans`` of it are then.

    >>> plain("*k*-means in [the docs](a.md): `clip(*λ)`, **not** df_old * 2", [(0, 9)])
    ('k-means in the docs: clip(*λ), not df_old * 2', ((0, 7),))
    >>> plain("## Cleaning … as in [In…")[0], plain("…the table](a.md) of $x_i * y_i$")[0]
    ('Cleaning … as in In…', '…the table of $x_i * y_i$')
    """
    dropped = sorted(_marks(text))
    if not dropped:
        return text, tuple(spans)
    kept, at = [], 0
    for start, end in (*dropped, (len(text), len(text))):
        if start > at:
            kept.append((at, start))
        at = max(at, end)
    shown = "".join(text[start:end] for start, end in kept)
    moved = [(_moved(kept, start), _moved(kept, end)) for start, end in spans]
    return shown, tuple((start, end) for start, end in moved if start < end)


def first_words(text: str, *, markdown: bool = True) -> str:
    """Return the beginning of a text, as the title of one that has none."""
    lines = text[: 20 * _FIRST_WORDS].split("\n")
    said = (" ".join((plain(line)[0] if markdown else line).split()) for line in lines)
    return words_within(next(filter(None, said), ""), _FIRST_WORDS)


def is_markdown(kind: str, lang: str) -> bool:
    """Return whether a memory of this kind and language is written in Markdown; notes may be."""
    return lang.lower() in ("markdown", "md") or (kind == "note" and not lang)


def _marks(text: str) -> Iterator[_Span]:
    verbatim = list(_VERBATIM.finditer(text))
    for found in verbatim:
        if found.lastindex is not None:
            yield found.start(), found.start(found.lastindex)
            yield found.end(found.lastindex), found.end()
    spans = [found.span() for found in verbatim]

    def inside(place: int) -> bool:
        before = bisect_right(spans, (place, len(text) + 1))
        return before > 0 and place < spans[before - 1][1]

    for pattern in (_LINK, _CUT_LINK):
        for link in pattern.finditer(text):
            if not inside(link.start()):
                yield link.start(), link.start(1)
                yield link.end(1), link.end() - text.endswith(_CUT, link.start(), link.end())
    if beginning := _LINK_END.match(text):
        yield beginning.span(1)
    for address in _ADDRESS.finditer(text):
        yield address.start(), address.start() + 1
        yield address.end() - 1, address.end()
    for pattern in (_CUT_LABEL, _TAG, _HEADING, _RULE, _FENCE, _TABLE_RULE, _QUOTE, _ESCAPE):
        yield from (mark.span() for mark in pattern.finditer(text) if not inside(mark.start()))
    yield from _emphasis(text, inside)


def _emphasis(text: str, inside: Callable[[int], bool]) -> Iterator[_Span]:
    # Pairs, and those that lost the other one where the text was cut.
    opened: dict[str, list[_Span]] = {}
    for found in _EMPHASIS.finditer(text):
        if inside(found.start()):
            continue
        mark, span = found[0], found.span()
        before, after = text[span[0] - 1 : span[0]] if span[0] else "", text[span[1] : span[1] + 1]
        if _flanks(before, after) and opened.get(mark):
            pair = opened[mark].pop()
            # The name __init__ is no emphasis.
            if mark != "__" or not text[pair[1] : span[0]].isidentifier():
                yield from (pair, span)
        elif _flanks(after, before):
            opened.setdefault(mark, []).append(span)
        elif len(mark) > 1 and text.startswith(_CUT) and not before.isspace():
            yield span
    if text.endswith(_CUT):
        yield from (span for mark, spans in opened.items() if mark == "**" for span in spans)


def _flanks(near: str, far: str) -> bool:
    # A mark within a word, as in the product a*b, belongs to neither side.
    if not near or near.isspace() or (near.isalnum() and far.isalnum()):
        return False
    return near.isalnum() or not far.isalnum()


def _moved(kept: Sequence[_Span], place: int) -> int:
    return sum(max(0, min(end, place) - start) for start, end in kept)
