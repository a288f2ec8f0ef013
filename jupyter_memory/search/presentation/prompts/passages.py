"""The part of a long text that is around a hit, cut at lines to a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_memory.text.languages import LONGEST_TOKEN, estimated_tokens

# What the mark for lines that are left out costs at most, with its line break.
_MARK = 16


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a text, numbered from 1; ``last`` is among them. Marks stand for the lines that are left out."""

    text: str
    first: int
    last: int
    whole: bool


def passage(text: str, most: int, span: tuple[int, int] = (0, 0)) -> Passage:
    """Return a text whole if it has at most ``most`` tokens by the estimate, else the lines around a span of it.

    The passage and its marks never have more tokens than ``most``. Where the span itself has more, the passage begins
    with it; of a single line with more, it shows a part.

    >>> print(passage("load\\n" * 30 + "mean\\n" + "plot\\n" * 30, 40, (150, 154)).text)
    [… 28 lines left out …]
    load
    load
    mean
    plot
    [… 30 lines left out …]
    """
    lines = text.split("\n")
    if len(text) <= LONGEST_TOKEN * most and estimated_tokens(text) <= most:
        return Passage(text, 1, len(lines), True)
    start, stop = span if span[1] <= len(text) else (0, 0)
    begin, end = text.count("\n", 0, start), text.count("\n", 0, max(start, stop - 1))
    first, last = _around(lines, begin, end, most - 2 * _MARK)
    if first > last:
        column = start - (text.rfind("\n", 0, start) + 1)
        shown = part_of(lines[begin], column, most - 2 * _MARK)
        first = last = begin
    else:
        shown = "\n".join(lines[first : last + 1])
    marked = (_left_out(first), shown, _left_out(len(lines) - 1 - last))
    return Passage("\n".join(part for part in marked if part), first + 1, last + 1, False)


def _around(lines: Sequence[str], begin: int, end: int, room: int) -> tuple[int, int]:
    """Return the first and the last of the lines from ``begin`` to ``end`` that have room, and of those around them.

    If not even the first of them has room, the last comes before the first.
    """
    first, last = begin, begin - 1
    while last < end and (cost := _cost(lines[last + 1])) <= room:
        last, room = last + 1, room - cost
    grows = [last >= end, last >= end]
    while any(grows):
        for side, line in enumerate((first - 1, last + 1)):
            if not grows[side]:
                continue
            grows[side] = 0 <= line < len(lines) and (cost := _cost(lines[line])) <= room
            if grows[side]:
                first, last, room = min(first, line), max(last, line), room - cost
    return first, last


def _cost(line: str) -> int:
    """Return the tokens of a line with its break; of one that is far too long, as many as it has at least."""
    return 1 + (estimated_tokens(line) if len(line) < 100_000 else len(line) // LONGEST_TOKEN)


def part_of(line: str, column: int, room: int) -> str:
    """Return as much of a line from a column on as has room, ``…`` where something is left out."""
    low, high = 0, min(len(line) - column, LONGEST_TOKEN * max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if estimated_tokens(f"…{line[column : column + middle]}…") <= room:
            low = middle
        else:
            high = middle - 1
    return f"{'…' * (column > 0)}{line[column : column + low]}{'…' * (column + low < len(line))}"


def _left_out(count: int) -> str:
    if not count:
        return ""
    return f"[… {count} {'line' if count == 1 else 'lines'} left out …]"
