"""Which stretches of a long text have most of some words: an answer is often in more than one place of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from math import log

from jupyter_memory.mcp.answers.budget import cut_end, text_tokens
from jupyter_memory.text.identifiers import bigrams
from jupyter_memory.text.languages import STOP_WORDS

Stretch = tuple[int, int]
# What stands between two stretches, and what it costs with its line breaks.
GAP = "\n[…]\n"
_GAP_COST = 6
# Tokens in which no block has room.
_LEAST = 20
# Characters of a block: about 100 tokens, unless its only line has more, up to three times as many.
_BLOCK, _LONG_LINES = 400, 3
_WORD = re.compile(r"\w{2,}")
# Words with equal beginnings are mostly forms of one.
_BEGINNING = 6
# Characters before words that stand in a text as they were asked for.
_LEAD = 400
# More of a text is not looked through, from the place on that has most of the words.
_SEARCHED = 400_000
_WINDOW, _MOST_PLACES = 400, 2_000


def stretches(text: str, words: str, tokens: int, shown: Callable[[str], str]) -> list[Stretch]:
    """Return the stretches of a text that have most of these words, in their order, with so many tokens at most.

    A text that has the words as they are written has one stretch, around them. Of any other, blocks of lines are
    taken: those with the most words, where rarer ones count more, and where words are near by as well.
    """
    if (at := _written(text, words)) >= 0:
        return _around(text, at, tokens, shown)
    asked = _asked(words)
    start = _searched_from(text, asked)
    for size in (_BLOCK, _BLOCK // 4):
        blocks = _blocks(text, start, size)
        worth = _worth([_beginnings(text[start:end].lower()) & asked for start, end in blocks])
        places = sorted(range(len(blocks)), key=lambda place: (-worth[place], place))
        best = [blocks[place] for place in places if worth[place]]
        if chosen := _chosen(text, best, tokens, shown):
            return _joined(sorted(chosen))
    return _cut(text, best[0][0], tokens, shown) if best else []


def _chosen(text: str, best: Sequence[Stretch], tokens: int, shown: Callable[[str], str]) -> list[Stretch]:
    """Return the blocks that have room, the best first; none if not even the best has."""
    chosen: list[Stretch] = []
    for start, end in best:
        cost = text_tokens(shown(text[start:end])) + _GAP_COST
        if cost <= tokens:
            chosen.append((start, end))
            tokens -= cost
        elif not chosen or tokens < _LEAST:
            break
    return chosen


def has_any(text: str, words: str) -> bool:
    """Return whether a text has any of these words.

    >>> has_any("first line\\nsecond line", "Seconds"), has_any("first line", "λλ")
    (True, False)
    """
    return not _asked(words).isdisjoint(_beginnings(text.lower())) or _written(text, words) >= 0


def _written(text: str, words: str) -> int:
    """Return where a text has words as they are written, -1 where it does not."""
    wanted, folded = words.strip().strip("…").lower(), text.lower()
    return folded.find(wanted) if wanted and len(folded) == len(text) else -1


def _asked(words: str) -> frozenset[str]:
    """Return the beginnings of the words that tell something; of all if none does."""
    beginnings = _beginnings(words.lower())
    return beginnings - _STOPPED or beginnings


def _beginnings(words: str) -> frozenset[str]:
    """Return the beginnings of words, and pairs of characters where a language writes no blanks between words."""
    return frozenset(word[:_BEGINNING] for word in _WORD.findall(words)).union(bigrams(words))


_STOPPED = frozenset(word[:_BEGINNING] for word in STOP_WORDS)


def _around(text: str, at: int, tokens: int, shown: Callable[[str], str]) -> list[Stretch]:
    """Return the stretch that begins some lines before a place."""
    start = text.rfind("\n", 0, max(0, at - _LEAD) if at > _LEAD else at) + 1
    return _cut(text, max(start, at - _LEAD), tokens, shown)


def _cut(text: str, start: int, tokens: int, shown: Callable[[str], str]) -> list[Stretch]:
    end = cut_end(text, start, tokens, shown)
    return [(start, end)] if end > start else []


def _searched_from(text: str, asked: frozenset[str]) -> int:
    """Return from where on a text is looked through: a very long one, from before the place with most of the words."""
    if len(text) <= _SEARCHED:
        return 0
    found = ((word.start(), word[0].lower()[:_BEGINNING]) for word in _WORD.finditer(text))
    places = list(islice((one for one in found if one[1] in asked), _MOST_PLACES))
    best, best_at, last = 0, 0, 0
    for first, (at, _) in enumerate(places):
        while last < len(places) and places[last][0] <= at + _WINDOW:
            last += 1
        held = len({word for _, word in places[first:last]})
        if held > best:
            best, best_at = held, at
    return max(0, best_at - _SEARCHED // 2)


def _blocks(text: str, start: int, size: int) -> list[Stretch]:
    """Return a text from ``start`` on in blocks of whole lines; only a line that is very long is cut, between words."""
    blocks: list[Stretch] = []
    at, stop = start, min(len(text), start + _SEARCHED)
    while at < stop:
        end = _line_end(text, at, stop, _LONG_LINES * size)
        if blocks and end - blocks[-1][0] <= size:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((at, end))
        at = end
    return blocks


def _line_end(text: str, at: int, stop: int, longest: int) -> int:
    end = text.find("\n", at, stop) + 1 or stop
    if end - at <= longest:
        return end
    return text.rfind(" ", at + 1, at + longest) + 1 or at + longest


def _worth(held: Sequence[frozenset[str]]) -> list[float]:
    """Return what each block is worth by its words, and half of what the better of its neighbours is."""
    blocks = len(held)
    counts = Counter(word for words in held for word in words)
    own = [sum(log(1 + blocks / counts[word]) for word in words) for words in held]
    beside = [max(own[max(0, place - 1) : place] + own[place + 1 : place + 2], default=0.0) for place in range(blocks)]
    return [mine + other / 2 for mine, other in zip(own, beside, strict=True)]


def _joined(chosen: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches in which those that touch are one."""
    found: list[Stretch] = []
    for start, end in chosen:
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
