"""Hits in the lines of a terminal: within its width, the words that matched in colour, code line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_memory.text.layout import fit, fit_end, visible, width
from jupyter_memory.text.rendering.colours import BOLD, BY_MEANING, BY_WORDS, FAINT, FOUND, Paint, uncoloured

Span = tuple[int, int]

_INDENT = "    "
# Fewer cells of a notebook's name are not worth showing, and of a longer title the beginning is.
_FEW, _LONG = 3, 200
# Lines of prose that are shown of a hit.
_LINES = 3
_PIECE = re.compile(r"\S+|\s+")
# What may follow a name in code.
_OPERATORS = "=([{.,:;+*/%<>&|!@"
_COLOURS = {"KW": BY_WORDS, "SEM": BY_MEANING}


@dataclass(frozen=True, slots=True)
class Entry:
    """What is shown of a hit; ``marks`` are the places in the snippet to mark, ``about`` the line below it.

    ``badges`` say how it was found, ``facts`` stand behind them: how sure the answer is, and how old.
    """

    rank: str
    title: str
    snippet: str
    marks: tuple[Span, ...] = ()
    badges: str = ""
    facts: tuple[str, ...] = ()
    about: str = ""


def listing(entries: Sequence[Entry], cells: int, paint: Paint = uncoloured) -> str:
    """Return hits in lines of at most so many cells, a blank line between them; ``paint`` colours a text."""
    facts = zip(*(entry.facts for entry in entries), strict=True)
    widths = [max(map(width, column)) for column in facts]
    badges = max((width(entry.badges) for entry in entries), default=0)
    return "\n\n".join("\n".join(_lines(entry, cells, badges, widths, paint)) for entry in entries)


def fit_title(title: str, cells: int) -> str:
    """Return a title that fits; of ``notebook – heading`` the heading is kept, since many share the notebook.

    >>> fit_title("price_hourly.ipynb – What is a normal price?", 33), fit_title("jupyter/docs/user/rtc.md", 16)
    ('price_… – What is a normal price?', '…ocs/user/rtc.md')
    """
    notebook, sign, heading = title.partition(" – ")
    if len(title) >= _LONG or "\n" in title or width(title) <= cells:
        return fit(title, cells)
    if sign:
        room = cells - width(sign + heading)
        return fit(notebook, room) + sign + visible(heading) if room > _FEW else fit(heading, cells)
    # The end of a path says more than its beginning.
    return fit_end(title, cells) if "/" in title and not any(map(str.isspace, title)) else fit(title, cells)


def wrapped(text: str, spans: Sequence[Span], cells: int, most: int, paint: Paint = uncoloured) -> Iterator[str]:
    """Yield a text in at most so many lines of so many cells, the places ``spans`` in colour; ``…`` ends a cut one.

    >>> list(wrapped("the price of a spike in 東京都", [], 12, 3)), list(wrapped("net of tax", [], 6, 1))
    (['the price of', 'a spike in', '東京都'], ['net o…'])
    """
    text, spans = _shown(text, spans)
    lines = list(_folded(text, cells))
    for number, (start, end) in enumerate(lines[:most]):
        if number == most - 1 and len(lines) > most:
            while width(text[start:end]) > cells - 1:
                end -= 1
            yield _painted(text, start, end, spans, paint).rstrip() + "…"
        else:
            yield _painted(text, start, end, spans, paint)


def _lines(entry: Entry, cells: int, badges: int, widths: Sequence[int], paint: Paint) -> Iterator[str]:
    found = "+".join(paint(badge, _COLOURS.get(badge, "")) for badge in entry.badges.split("+"))
    facts = [
        " " * (most - width(fact)) + paint(fact, FAINT) for fact, most in zip(entry.facts, widths, strict=True) if most
    ]
    behind = "".join(f"  {part}" for part in [" " * (badges - width(entry.badges)) + found] * bool(badges) + facts)
    taken = sum(2 + most for most in widths if most) + (2 + badges if badges else 0)
    room = cells - len(_INDENT) - taken
    title = fit_title(entry.title, room)
    told = _told(entry, title)
    whole = title.rstrip("…")
    shown = _painted(title, 0, len(whole), entry.marks if told else (), paint, BOLD) + paint(title[len(whole) :], BOLD)
    yield f"{entry.rank:>2}  {shown}{' ' * (room - width(title))}{behind}".rstrip()
    yield from _code(entry, cells, paint) if "\n" in entry.snippet else _prose(entry, told, cells, paint)
    if entry.about:
        yield _INDENT + paint(fit(entry.about, cells - len(_INDENT)), FAINT)


def _told(entry: Entry, title: str) -> int:
    """Return how much of a snippet its title has told, where it is a heading or the first words of it.

    The title prices has told nothing of prices = 3.
    """
    begins = title.rstrip("… ")
    if not begins or "\n" in entry.snippet or not entry.snippet.startswith(begins):
        return 0
    rest = entry.snippet[len(begins) :]
    if not rest.strip():
        return len(entry.snippet)
    if not rest[0].isspace():
        # Cut within a word, which is told anew.
        return begins.rfind(" ") + 1 if title.endswith("…") else 0
    return 0 if rest.lstrip()[0] in _OPERATORS else len(begins)


def _prose(entry: Entry, told: int, cells: int, paint: Paint) -> Iterator[str]:
    rest = entry.snippet[told:].lstrip()
    shift = len(entry.snippet) - len(rest)
    marks = [(max(0, a - shift), b - shift) for a, b in entry.marks if b > shift]
    yield from (_INDENT + line for line in wrapped(rest, marks, cells - len(_INDENT), _LINES, paint))


def _code(entry: Entry, cells: int, paint: Paint) -> Iterator[str]:
    # The sign for omitted text goes to the left of the first line, so that code keeps its shape.
    at = 1 if entry.snippet.startswith("…") else 0
    margin = _INDENT[:-1] + "…" if at else _INDENT
    for line in entry.snippet[at:].split("\n"):
        indent = len(line) - len(line.lstrip(" \t"))
        before = margin + line[:indent].expandtabs(4)[: cells // 2]
        begin = at + indent
        marks = [(max(0, a - begin), b - begin) for a, b in entry.marks if b > begin and a < at + len(line)]
        yield from (before + part for part in wrapped(line[indent:], marks, cells - len(before), 1, paint))
        at, margin = at + len(line) + 1, _INDENT


def _shown(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return a text with marks for what nobody sees, and its places moved accordingly."""
    shown, moved, at = "", [], 0
    for start, end in spans:
        shown += visible(text[at:start])
        begin = len(shown)
        shown += visible(text[start:end])
        moved.append((begin, len(shown)))
        at = end
    return shown + visible(text[at:]), moved


def _folded(text: str, cells: int) -> Iterator[Span]:
    """Yield the places of the lines of a text, parted between words; a word that is too long is parted anywhere."""
    start = end = 0
    for piece in _PIECE.finditer(text):
        if piece[0].isspace():
            continue
        if width(text[start : piece.end()]) > cells and end > start:
            yield start, end
            start = piece.start()
        elif end == start:
            start = piece.start()
        end = piece.end()
        while width(text[start:end]) > cells:
            stop = start + 1
            while width(text[start : stop + 1]) <= cells:
                stop += 1
            yield start, stop
            start = stop
    if end > start:
        yield start, end


def _painted(text: str, start: int, end: int, spans: Sequence[Span], paint: Paint, colour: str = "") -> str:
    """Return a stretch of a text with what is marked in it in colour, and the rest of it in another or none."""
    parts, at = [], start
    for first, last in spans:
        a, b = max(first, start), min(last, end)
        if a < b and a >= at:
            parts += [paint(text[at:a], colour), paint(text[a:b], FOUND)]
            at = b
    return "".join((*parts, paint(text[at:end], colour)))
