"""The lines of code that are shown, cut where the query's words are thickest."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jupyter_memory.search.presentation.snippets import LEAD, WIDTH, Span, cut

LINES = 4
_LINE = re.compile(r"^([^\S\n]*+)(\S(?:[^\n]*\S)?)", re.MULTILINE)
# What else ends a line to somebody or other; one for one, so that no place moves, and blank lines are left out.
_BREAK = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Less of a line than this says nothing.
_PIECE = 24


def code_snippet(text: str, spans: Sequence[Span], width: int = WIDTH) -> tuple[str, tuple[Span, ...]]:
    """Return up to four lines of a text, about ``width`` characters, and where its highlights are in them.

    ``spans`` are as for ``snippet``; one that goes over lines becomes one in each. Lines are whole where they fit.
    Blank ones are left out, and so is the indentation that those shown have in common; ``…`` tells that there is more
    before or after them.
    """
    text = _BREAK.sub("\n", text)
    lines = [_Line(found.start(), found.start(2), found.end()) for found in _LINE.finditer(text)]
    if not lines:
        return "", ()
    block = _Block(text, lines, width)
    marks = _by_line(lines, spans)
    first, last = _thickest(block, marks)
    if block.fits(first, last):
        return _joined(block, *_widened(block, first, last), marks)
    line = lines[first]
    inside = [(a - line.begin, b - line.begin) for _, a, b in marks if line.begin <= a < line.end]
    return cut(text[line.begin : line.end], inside, width, before=first > 0, after=last + 1 < len(lines))


class _Line(NamedTuple):
    """Where a line starts, where it begins to say something, and where it ends to."""

    start: int
    begin: int
    end: int


# The number of a line, and what is marked in it, in code points of the text.
_Mark = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of a text that are not blank, and how much of them may be shown."""

    text: str
    lines: list[_Line]
    width: int

    def indent(self, first: int, last: int) -> int:
        """Return how many characters of indentation these lines have in common."""
        indents = [self.text[line.start : line.begin] for line in self.lines[first : last + 1]]
        # In the order of their characters, what the first and the last have in common all have.
        least, most = min(indents), max(indents)
        return next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))

    def length(self, first: int, last: int, indent: int) -> int:
        """Return how long these lines are, joined, without so much of their indentation."""
        return sum(line.end - line.start - indent + 1 for line in self.lines[first : last + 1]) - 1

    def says(self, number: int) -> bool:
        """Return whether a line has words."""
        return any(map(str.isalnum, self.text[self.lines[number].begin : self.lines[number].end]))

    def fits(self, first: int, last: int) -> bool:
        """Return whether there are such lines, and whether they can be shown together."""
        if first < 0 or last >= len(self.lines) or last - first >= LINES:
            return False
        return self.length(first, last, self.indent(first, last)) <= self.width


def _by_line(lines: Sequence[_Line], spans: Sequence[Span]) -> list[_Mark]:
    """Return what is marked in each line, in order."""
    starts = [line.start for line in lines]
    marks = []
    for start, stop in spans:
        number = max(0, bisect_right(starts, start) - 1)
        while number < len(lines) and lines[number].start < stop:
            a, b = max(start, lines[number].begin), min(stop, lines[number].end)
            if a < b:
                marks.append((number, a, b))
            number += 1
    return marks


def _thickest(block: _Block, marks: Sequence[_Mark]) -> tuple[int, int]:
    """Return the first and the last line of those with the most different marked words, the earliest of the best."""
    words: dict[int, set[str]] = {}
    for number, a, b in marks:
        if b - a <= block.width - LEAD:  # what is longer may not be shown
            words.setdefault(number, set()).add(block.text[a:b].casefold())
    best, found = 0, (0, 0)
    for first in words:
        held: set[str] = set()
        for last in range(first, first + LINES):
            held = held | words.get(last, set())
            if len(held) > best and (last == first or block.fits(first, last)):
                best, found = len(held), (first, last)
    return found


def _widened(block: _Block, first: int, last: int) -> tuple[int, int]:
    """Return these lines with the one before them, those after them, and more before them, as far as they fit.

    A lone bracket is nothing to begin with.
    """
    if block.fits(first - 1, last) and block.says(first - 1):
        first -= 1
    while block.fits(first, last + 1):
        last += 1
    while block.fits(first - 1, last) and block.says(first - 1):
        first -= 1
    return first, last


def _joined(block: _Block, first: int, last: int, marks: Sequence[_Mark]) -> tuple[str, tuple[Span, ...]]:
    """Return these lines as they are shown, and what is marked in them."""
    indent = block.indent(first, last)
    ends = [line.end for line in block.lines[first : last + 1]]
    piece = _piece(block, first, last + 1)
    if piece:
        indent, last = block.indent(first, last + 1), last + 1
        ends.append(piece)
    shown = "…" if first else ""
    found: list[Span] = []
    for number, end in enumerate(ends, first):
        start = block.lines[number].start + indent
        shift = len(shown) - start
        found += [(a + shift, b + shift) for line, a, b in marks if line == number and b <= end]
        shown += block.text[start:end] + "\n"
    more = piece or last + 1 < len(block.lines)
    return shown[:-1] + ("…" if more else ""), tuple(found)


def _piece(block: _Block, first: int, last: int) -> int:
    """Return where to cut a last line that does not fit whole, 0 where too little of it does."""
    if last >= len(block.lines) or last - first >= LINES:
        return 0
    indent, line = block.indent(first, last), block.lines[last]
    stop = line.start + indent + block.width - block.length(first, last - 1, indent) - 1
    if stop - line.begin < _PIECE:
        return 0
    space = block.text.rfind(" ", line.begin + _PIECE // 2, stop + 1)
    return line.begin + len(block.text[line.begin : space if space > 0 else stop].rstrip())
