"""Text as people see it: its layout and densest stretch; in a terminal, colours, a hit, a whole text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan
from typing import IO, Any, Self
from unicodedata import combining, east_asian_width

from jupyter_memory.text.code import is_code
from jupyter_memory.text.markdown import is_markdown, outputs_of, plain, source_of
from jupyter_memory.text.unicode import marked

_BREAKS = dict.fromkeys(map(ord, "\t\n\r\x85\u2028\u2029"), " ")


def visible(text: str) -> str:
    """Return a text on one line, with marks for the characters that control a terminal or turn the text around."""
    return text if text.isprintable() else marked(text.translate(_BREAKS))


def html(text: str) -> str:
    """Return a text as HTML, with marks as in ``visible``; its lines stay."""
    return escape(marked(text))


def width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, cells: int) -> str:
    """Return a text on one line, cut to so many cells with an ellipsis."""
    # The text may be a book: its beginning is enough to fill a line, even if it has many blanks.
    line = " ".join(visible(text[: 20 * cells]).split())
    if len(text) <= 20 * cells and width(line) <= cells:
        return line
    return _beginning(line, cells - 1).rstrip() + "…"


def percent(share: float) -> str:
    """Return a share in per cent, empty where it is NaN.

    >>> percent(0.974), percent(float("nan"))
    ('97%', '')
    """
    return "" if isnan(share) else f"{share:.0%}"


def fit_end(text: str, cells: int) -> str:
    """Return a text cut at its beginning, for paths, whose end says more."""
    text = visible(text)
    return text if width(text) <= cells else "…" + _beginning(text[::-1], cells - 1)[::-1]


def _beginning(line: str, cells: int) -> str:
    used = 0
    for at, character in enumerate(line):
        used += width(character)
        if used > cells:
            return line[:at]
    return line


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Return rows of text as aligned columns; the last column is not padded."""
    if not rows:
        return ""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    widths.append(0)
    padded = [[cell + " " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)] for row in rows]
    return "\n".join((indent + "  ".join(row)).rstrip() for row in padded)


def size(count: int) -> str:
    """Return a number of bytes as people say it."""
    # A megabyte has a million bytes, as in the settings, in the panel and in file managers.
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{count} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


def preview(text: str) -> str:
    """Return the beginning of a text on one line, at most 60 characters."""
    line = " ".join(visible(text[:300]).split())
    return line if len(line) <= 60 and len(text) <= 300 else line[:59].rstrip() + "…"


def count_of(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun in the right form: ``1 file``, ``2 files``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def densest(words: Sequence[tuple[int, int, str]], width: int, lead: int = 0) -> int:
    """Return where a stretch of so many characters begins that has the most different words, given where each is."""
    best, best_start, last = 0, 0, 0
    for first, (start, _, _) in enumerate(words):
        begin = max(0, start - lead)
        while last < len(words) and words[last][1] <= begin + width:
            last += 1
        # No more words differ than there are.
        if last - first > best and (held := len({word for _, _, word in words[first:last]})) > best:
            best, best_start = held, begin
    return best_start


Paint = Callable[[str, str], str]

BOLD, FAINT = "1", "2"
# As grep marks what it found.
FOUND = "1;31"
BY_WORDS, BY_MEANING = "32", "36"


def placed(path: str, location: str, kind: str = "", cell: int | None = None) -> str:
    """Return a path and where in it, with cells by their position, from 1, if that is known.

    >>> placed("a.ipynb", "#0", "cell"), placed("a.ipynb", "89ce8ae6", "cell", 4), placed("a.ipynb", "89ce8ae6", "cell")
    ('a.ipynb, cell 1', 'a.ipynb, cell 4', 'a.ipynb')
    >>> placed("a.py", "12"), placed("a.pdf", "page 2")
    ('a.py:12', 'a.pdf, page 2')
    """
    if location.isdecimal() and not path.lower().endswith(".ipynb"):
        return f"{path}:{location}"
    if kind in ("cell", "history"):
        cell = int(location[1:]) + 1 if location.startswith("#") and location[1:].isdecimal() else cell
        location = "" if cell is None else f"cell {cell}"
    return f"{path}, {location}" if location else path


def has_colours(stream: IO[str] | None, environment: Mapping[str, str]) -> bool:
    """Return whether colours are shown on a stream: on a terminal that can, unless NO_COLOR is set (no-color.org)."""
    is_wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return stream is not None and stream.isatty() and is_wanted


def coloured(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if text and colour else text


def unpainted(text: str, colour: str) -> str:
    """Return a text unchanged, in place of ``coloured``."""
    return text


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
    rank: str
    title: str
    snippet: str
    marks: tuple[Span, ...] = ()  # the places in the snippet to mark
    badges: str = ""  # how it was found
    facts: tuple[str, ...] = ()  # behind them: how sure the answer is, and how old
    about: str = ""  # the line below it


def listing(entries: Sequence[Entry], cells: int, paint: Paint = unpainted) -> str:
    """Return hits in lines of at most so many cells, a blank line between them; ``paint`` colours a text."""
    facts = zip(*(entry.facts for entry in entries), strict=True)
    widths = [max(map(width, column)) for column in facts]
    badges = max((width(entry.badges) for entry in entries), default=0)
    room = cells - len(_INDENT) - sum(2 + most for most in widths if most) - (2 + badges if badges else 0)
    listed = []
    for entry in entries:
        found = "+".join(paint(badge, _COLOURS.get(badge, "")) for badge in entry.badges.split("+"))
        beside = [" " * (badges - width(entry.badges)) + found] if badges else []
        for fact, most in zip(entry.facts, widths, strict=True):
            beside += [" " * (most - width(fact)) + paint(fact, FAINT)] if most else []
        title = _fit_title(entry.title, room)
        told = _told(entry, title)
        whole = title.rstrip("…")
        marks = entry.marks if told else ()
        shown = _painted(title, 0, len(whole), marks, paint, BOLD) + paint(title[len(whole) :], BOLD)
        behind = "".join(f"  {part}" for part in beside)
        lines = [f"{entry.rank:>2}  {shown}{' ' * (room - width(title))}{behind}".rstrip()]
        if "\n" in entry.snippet:
            # The sign for omitted text goes to the left of the first line, so that code keeps its shape.
            at = 1 if entry.snippet.startswith("…") else 0
            margin = _INDENT[:-1] + "…" if at else _INDENT
            for line in entry.snippet[at:].split("\n"):
                indent = len(line) - len(line.lstrip(" \t"))
                before = margin + line[:indent].expandtabs(4)[: cells // 2]
                begin, end = at + indent, at + len(line)
                marks = tuple((max(0, a - begin), b - begin) for a, b in entry.marks if b > begin and a < end)
                lines += (before + part for part in _wrapped(line[indent:], marks, cells - len(before), 1, paint))
                at, margin = end + 1, _INDENT
        else:
            rest = entry.snippet[told:].lstrip()
            shift = len(entry.snippet) - len(rest)
            marks = tuple((max(0, a - shift), b - shift) for a, b in entry.marks if b > shift)
            lines += (_INDENT + line for line in _wrapped(rest, marks, cells - len(_INDENT), _LINES, paint))
        lines += [_INDENT + paint(fit(entry.about, cells - len(_INDENT)), FAINT)] if entry.about else []
        listed.append("\n".join(lines))
    return "\n\n".join(listed)


def _fit_title(title: str, cells: int) -> str:
    notebook, sign, heading = title.partition(" – ")
    if len(title) >= _LONG or "\n" in title or width(title) <= cells:
        return fit(title, cells)
    if sign:
        room = cells - width(sign + heading)
        return fit(notebook, room) + sign + visible(heading) if room > _FEW else fit(heading, cells)
    return fit_end(title, cells) if "/" in title and not any(map(str.isspace, title)) else fit(title, cells)


def _wrapped(text: str, spans: Sequence[Span], cells: int, most: int, paint: Paint = unpainted) -> Iterator[str]:
    shown, moved, at = "", [], 0
    for start, end in spans:
        shown += visible(text[at:start])
        begin = len(shown)
        shown += visible(text[start:end])
        moved.append((begin, len(shown)))
        at = end
    text = shown + visible(text[at:])

    lines = list(_folded(text, cells))
    for number, (start, end) in enumerate(lines[:most]):
        if number == most - 1 and len(lines) > most:
            while width(text[start:end]) > cells - 1:
                end -= 1
            yield _painted(text, start, end, moved, paint).rstrip() + "…"
        else:
            yield _painted(text, start, end, moved, paint)


def _told(entry: Entry, title: str) -> int:
    # The title prices has told nothing of prices = 3.
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


def _folded(text: str, cells: int) -> Iterator[Span]:
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
    parts, at = [], start
    for first, last in spans:
        a, b = max(first, start), min(last, end)
        if a < b and a >= at:
            parts += [paint(text[at:a], colour), paint(text[a:b], FOUND)]
            at = b
    return "".join((*parts, paint(text[at:end], colour)))


_FENCE = re.compile(r"`{3,}")


class WholeText(str):
    """A text as it is stored; ``markdown`` is what a notebook shows of it, and ``shown`` is for a terminal."""

    # JupyterLab's own renderer removes what would run, and shows formulas and tables.

    markdown: str
    shown: str

    @classmethod
    def of(cls, text: str, kind: str, lang: str) -> Self:
        whole = cls(text)
        if is_markdown(kind, lang):
            whole.markdown, whole.shown = marked(text), marked(plain(text)[0])
        else:
            code = _fenced(source_of(text), lang if is_code(kind, lang) else "")
            whole.markdown = "\n\n".join((code, *map(_fenced, filter(None, [outputs_of(text)]))))
            whole.shown = marked(text)
        return whole

    @classmethod
    def joined(cls, texts: Sequence[tuple[str, WholeText]]) -> Self:
        whole = cls("\n\n".join(f"{heading}\n{text}" for heading, text in texts))
        whole.markdown = "\n\n".join(f"{_fenced(heading)}\n\n{text.markdown}" for heading, text in texts)
        whole.shown = "\n\n".join(f"{marked(heading)}\n{text.shown}" for heading, text in texts)
        return whole

    def __repr__(self) -> str:
        return self.shown

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.shown)


def _fenced(text: str, lang: str = "") -> str:
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(text)), default=0))
    return f"{fence}{lang}\n{marked(text)}\n{fence}"
