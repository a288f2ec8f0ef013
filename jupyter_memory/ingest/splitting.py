"""Cuts a long text at its natural places, into overlapping stretches counted in tokens."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from jupyter_memory.embedders.tokenizer.pieces import starts
from jupyter_memory.utf8 import encodable

# The first word of a stretch is tokenised a little differently when it stands alone: these tokens are kept for it.
_SLACK = 12

_PARAGRAPH, _LINE, _SENTENCE, _WORD = r"\n[ \t]*\n", r"\n", r"[.!?;:]\s|[。！？]", r"\s"
_PLACES = {
    "markdown": r"\n(?=#{1,6}[ \t])",
    "python": r"\n(?=(?:async def|class|def)\b|@)",
}
_ANYWHERE = tuple(re.compile(place) for place in (_PARAGRAPH, _LINE, _SENTENCE, _WORD))
_BLANK = re.compile(r"\s*")


def split(text: str, capacity: int, overlap: int, lang: str = "") -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` code-point offsets of stretches of at most ``capacity`` tokens, in order.

    Together they hold every character that is not blank. Each ends at the strongest place in its second half
    (section, paragraph, line, sentence, word) and the next begins at such a place among its last ``overlap`` tokens.
    """
    done = 0
    for begin, end in _cut(text, capacity - _SLACK, overlap, _places(lang)):
        start, end = _trimmed(text, begin, end)
        # Two may end at the same strong place, or one with blank lines behind it: the second adds nothing.
        if start < end and end > done:
            done = end
            yield start, end


def _cut(text: str, size: int, overlap: int, places: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, int]]:
    # The tokenizer refuses half a surrogate pair.
    begins = starts(encodable(text)).tolist()
    begin = first = 0
    while len(begins) - first > size:
        end = _last_place(text, begins[first + size // 2], begins[first + size], places)
        yield begin, end
        # A quarter of the way is the least a stretch goes on, whatever the overlap.
        earliest = max(bisect_left(begins, end) - overlap, first + size // 4)
        begin = _first_place(text, begins[earliest], end, places)
        first = bisect_right(begins, begin) - 1
    yield begin, len(text)


def _places(lang: str) -> tuple[re.Pattern[str], ...]:
    """Return what a stretch may end with, strongest first."""
    return (re.compile(_PLACES[lang]), *_ANYWHERE) if lang in _PLACES else _ANYWHERE


def _last_place(text: str, low: int, high: int, places: tuple[re.Pattern[str], ...]) -> int:
    """Return the last of the strongest places in ``text[low:high]``, or ``high`` where there is none."""
    for place in places:
        ends = [match.end() for match in place.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


def _first_place(text: str, low: int, high: int, places: tuple[re.Pattern[str], ...]) -> int:
    """Return the first of the strongest places in ``text[low:high]``, short of ``high``, or ``low``."""
    for place in places:
        match = place.search(text, low, high - 1)
        if match:
            return match.end()
    return low


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch without the blank lines around it, its first indentation kept."""
    match = _BLANK.match(text, start, end)
    word = match.end() if match else start
    return max(start, text.rfind("\n", start, word) + 1), start + len(text[start:end].rstrip())
