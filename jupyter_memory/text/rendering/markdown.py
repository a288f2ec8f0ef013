"""Markdown as its reader sees it: without the marks of emphasis, links, code and headings; formulas stay as they are.

A snippet is cut out of its text, so a link or an emphasis may have lost one of its ends: what is left of it is removed
as well.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from jupyter_memory.text.names import words_within

Span = tuple[int, int]

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


def plain(text: str, spans: Sequence[Span] = ()) -> tuple[str, tuple[Span, ...]]:
    """Return a piece of Markdown without its marks, and where ``spans`` of it are then.

    >>> plain("*k*-means in [the docs](a.md): `clip(*λ)`, **not** df_old * 2", [(0, 9)])
    ('k-means in the docs: clip(*λ), not df_old * 2', ((0, 7),))
    >>> plain("## Cleaning … as in [In…")[0], plain("…the table](a.md) of $x_i * y_i$")[0]
    ('Cleaning … as in In…', '…the table of $x_i * y_i$')
    """
    dropped = sorted(_marks(text))
    if not dropped:
        return text, tuple(spans)
    kept = _kept(dropped, len(text))
    shown = "".join(text[start:end] for start, end in kept)
    moved = [(_moved(kept, start), _moved(kept, end)) for start, end in spans]
    return shown, tuple((start, end) for start, end in moved if start < end)


def first_words(text: str, *, markdown: bool = True) -> str:
    """Return the beginning of a text, as the title of one that has none.

    >>> first_words("\\n# Rates\\nof *March*"), first_words("Prices are net of tax. " * 4)
    ('Rates', 'Prices are net of tax. Prices are net of tax. Prices are …')
    """
    lines = text[: 20 * _FIRST_WORDS].split("\n")
    said = (" ".join((plain(line)[0] if markdown else line).split()) for line in lines)
    return words_within(next(filter(None, said), ""), _FIRST_WORDS)


def is_markdown(kind: str, lang: str) -> bool:
    """Return whether a memory of this kind and language is written in Markdown; notes may be.

    >>> is_markdown("cell", "markdown"), is_markdown("note", ""), is_markdown("file", "text")
    (True, True, False)
    """
    return lang.lower() in ("markdown", "md") or (kind == "note" and not lang)


def _marks(text: str) -> Iterator[Span]:
    """Yield what a reader does not see; these places may overlap."""
    verbatim = list(_verbatim(text))
    for start, end, mark in verbatim:
        if mark:
            yield start, start + mark
            yield end - mark, end
    inside = _Inside([(start, end) for start, end, _ in verbatim])
    for pattern in (_LINK, _CUT_LINK):
        for link in pattern.finditer(text):
            if link.start() not in inside:
                yield link.start(), link.start(1)
                yield link.end(1), link.end() - text.endswith(_CUT, link.start(), link.end())
    if beginning := _LINK_END.match(text):
        yield beginning.span(1)
    for address in _ADDRESS.finditer(text):
        yield address.start(), address.start() + 1
        yield address.end() - 1, address.end()
    for pattern in (_CUT_LABEL, _TAG, _HEADING, _RULE, _FENCE, _TABLE_RULE, _QUOTE, _ESCAPE):
        yield from (mark.span() for mark in pattern.finditer(text) if mark.start() not in inside)
    yield from _emphasis(text, inside)


def _verbatim(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where code and formulas are, with how long the marks around code are; those of formulas stay."""
    for found in _VERBATIM.finditer(text):
        yield found.start(), found.end(), 1 if found[1] is not None else 2 if found[2] is not None else 0


class _Inside:
    """The places inside of these stretches, given in order."""

    def __init__(self, stretches: Sequence[Span]) -> None:
        self._starts = [start for start, _ in stretches]
        self._ends = [end for _, end in stretches]

    def __contains__(self, place: int) -> bool:
        before = bisect_right(self._starts, place)
        return before > 0 and place < self._ends[before - 1]


def _emphasis(text: str, inside: _Inside) -> Iterator[Span]:
    """Yield the marks of emphasis: pairs, and those that lost the other one where the text was cut."""
    opened: dict[str, list[Span]] = {}
    for found in _EMPHASIS.finditer(text):
        if found.start() in inside:
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
    """Return whether a mark belongs to the text on its near side, by the characters on both (CommonMark, 6.2).

    A mark within a word, as in the product a*b, belongs to neither side.
    """
    if not near or near.isspace() or (near.isalnum() and far.isalnum()):
        return False
    return near.isalnum() or not far.isalnum()


def _kept(dropped: Sequence[Span], length: int) -> list[Span]:
    """Return what lies between places to drop, given in order."""
    kept, at = [], 0
    for start, end in dropped:
        if start > at:
            kept.append((at, start))
        at = max(at, end)
    return [*kept, (at, length)] if at < length else kept


def _moved(kept: Sequence[Span], place: int) -> int:
    """Return where a place of the text is among what was kept of it."""
    return sum(max(0, min(end, place) - start) for start, end in kept)
