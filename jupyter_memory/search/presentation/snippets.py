"""The stretch of a chunk that is shown, cut where the query's words are thickest."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 160
LEAD = 40  # what is shown before the first highlighted word

Span = tuple[int, int]


def snippet(text: str, spans: Sequence[Span], width: int = WIDTH) -> tuple[str, tuple[Span, ...]]:
    """Return at most about ``width`` characters of a text in one line, and where its highlights are in them.

    ``spans`` are ``[start, end)`` in code points of ``text``, in order; without any, the text is shown from its
    beginning.
    """
    return cut(*_flatten(text, spans), width)


def cut(
    text: str, spans: Sequence[Span], width: int, *, before: bool = False, after: bool = False
) -> tuple[str, tuple[Span, ...]]:
    """Return the best stretch of one line, ``…`` where something is left out, and where its highlights are in it.

    ``before`` and ``after`` tell that the line is not all there was.
    """
    start = _best_start(text, spans, width)
    stop = min(len(text), start + width)
    if start > 0:
        start = _word_start(text, start)
    if stop < len(text):
        stop = max(text.rfind(" ", start + width // 2, stop), start) if " " in text[start + width // 2 : stop] else stop
    lead, tail = "…" if before or start > 0 else "", "…" if after or stop < len(text) else ""
    shift = len(lead) - start
    inside = tuple((a + shift, b + shift) for a, b in spans if a >= start and b <= stop)
    return lead + text[start:stop] + tail, inside


def with_literal(text: str, spans: Sequence[Span], literals: Sequence[str]) -> list[Span]:
    """Return the spans with the places where any of ``literals`` stands: CJK pairs, which the text's index has not."""
    found = [*spans, *(match.span() for literal in literals for match in re.finditer(re.escape(literal), text))]
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _flatten(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """Fold white space, and move the spans with the words they mark."""
    place = {}
    length = at = 0
    blank = True  # white space follows white space, or nothing
    for mark in sorted({edge for span in spans for edge in span}):
        piece = text[at:mark]
        words = piece.split()
        if words:
            length += sum(map(len, words)) + len(words) - 1 + (piece[0].isspace() and not blank)
            blank = False
        if piece and not blank and piece[-1].isspace():
            length += 1
            blank = True
        place[mark] = length
        at = mark
    return " ".join(text.split()), [(place[a], place[b]) for a, b in spans if place[b] > place[a]]


def thickest(text: str, spans: Sequence[Span], width: int = WIDTH) -> Span:
    """Return the first and the last of the highlights in the stretch of a text that a snippet shows, all without any.

    >>> thickest("a λ b" + " ." * 99 + " mean λ", [(2, 3), (204, 208), (209, 210)])
    (204, 210)
    """
    start = _best_start(text, spans, width)
    inside = [(a, b) for a, b in spans if a >= start and b <= start + width]
    return (inside[0][0], inside[-1][1]) if inside else (0, len(text))


def _best_start(text: str, spans: Sequence[Span], width: int) -> int:
    """Return where a window holds the most different highlighted words, the earliest of the best."""
    if len(text) <= width:
        return 0
    words = [text[a:b].casefold() for a, b in spans]
    best, best_start, last = 0, 0, 0
    for first, (start, _) in enumerate(spans):
        begin = max(0, start - LEAD)
        while last < len(spans) and spans[last][1] <= begin + width:
            last += 1
        held = len(set(words[first:last]))
        if held > best:
            best, best_start = held, begin
    return min(best_start, max(0, len(text) - width))


def _word_start(text: str, start: int) -> int:
    """Return the first beginning of a word at or after a place, if one is near."""
    if text[start - 1] == " ":
        return start
    space = text.find(" ", start, start + LEAD // 2)
    return start if space < 0 else space + 1
