"""Texts read in pieces that fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log

from jupyter_memory.mcp.bound import ToolError
from jupyter_memory.mcp.results import GetResult, ReadMemory, cost, cut_end, place_of, stated, text_cost, text_tokens
from jupyter_memory.search.prompt import CAUTION, Quotes, quotes_for, reads_like_instructions, seen
from jupyter_memory.text.identifiers import bigrams
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.types import Memory

_Stretch = tuple[int, int]
# What stands between two stretches, and what it costs with its line breaks.
GAP = "\n[…]\n"
_GAP_COST = 6
# Characters of a block: about 100 tokens, unless its only line has more, up to three times as many.
_BLOCK = 400
_WORD = re.compile(r"\w{2,}")
# Words with equal beginnings are mostly forms of one.
_BEGINNING = 6
# Characters before words that stand in a text as they were asked for.
_LEAD = 400
# More of a text is not looked through, from the place on that has most of the words.
_SEARCHED = 400_000
_WINDOW, _MOST_PLACES = 400, 2_000


def stretches(text: str, words: str, tokens: int, shown: Callable[[str], str]) -> list[_Stretch]:
    """Return the stretches of a text that have most of these words, in their order, with so many tokens at most.

    A text that has the words as they are written has one stretch, around them. Of any other, the blocks of lines with
    the most words are taken, where rarer ones count more, and those near by count as well.
    """
    if (at := _written(text, words)) >= 0:
        start = text.rfind("\n", 0, max(0, at - _LEAD) if at > _LEAD else at) + 1
        return _cut(text, max(start, at - _LEAD), tokens, shown)
    asked = _asked(words)
    start = _searched_from(text, asked)
    for size in (_BLOCK, _BLOCK // 4):
        blocks = _blocks(text, start, size)
        held = [_beginnings(text[at:end].lower()) & asked for at, end in blocks]
        counts = Counter(word for words in held for word in words)
        own = [sum(log(1 + len(blocks) / counts[word]) for word in words) for words in held]
        beside = [max(own[max(0, at - 1) : at] + own[at + 1 : at + 2], default=0.0) for at in range(len(blocks))]
        worth = [mine + other / 2 for mine, other in zip(own, beside, strict=True)]
        places = sorted(range(len(blocks)), key=lambda place: (-worth[place], place))
        best = [blocks[place] for place in places if worth[place]]

        chosen: list[_Stretch] = []
        left = tokens
        for at, end in best:
            cost = text_tokens(shown(text[at:end])) + _GAP_COST
            if cost <= left:
                chosen.append((at, end))
                left -= cost
            elif not chosen or left < 20:
                break
        if chosen:
            joined: list[_Stretch] = []
            for at, end in sorted(chosen):
                if joined and joined[-1][1] == at:
                    at = joined.pop()[0]
                joined.append((at, end))
            return joined
    return _cut(text, best[0][0], tokens, shown) if best else []


def _written(text: str, words: str) -> int:
    wanted, folded = words.strip().strip("…").lower(), text.lower()
    return folded.find(wanted) if wanted and len(folded) == len(text) else -1


def _asked(words: str) -> frozenset[str]:
    beginnings = _beginnings(words.lower())
    return beginnings - _STOPPED or beginnings


def _beginnings(words: str) -> frozenset[str]:
    return frozenset(word[:_BEGINNING] for word in _WORD.findall(words)).union(bigrams(words))


_STOPPED = frozenset(word[:_BEGINNING] for word in STOP_WORDS)


def _cut(text: str, start: int, tokens: int, shown: Callable[[str], str]) -> list[_Stretch]:
    end = cut_end(text, start, tokens, shown)
    return [(start, end)] if end > start else []


def _searched_from(text: str, asked: frozenset[str]) -> int:
    # A very long one, from before the place with most of the words.
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


def _blocks(text: str, start: int, size: int) -> list[_Stretch]:
    # Only a line that is very long is cut, between words.
    blocks: list[_Stretch] = []
    at, stop = start, min(len(text), start + _SEARCHED)
    while at < stop:
        end, longest = text.find("\n", at, stop) + 1 or stop, at + 3 * size
        if end > longest:
            end = text.rfind(" ", at + 1, longest) + 1 or longest
        if blocks and end - blocks[-1][0] <= size:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((at, end))
        at = end
    return blocks


# Tokens of the parts that have the words which are looked for. What is not longer is shown whole.
_AROUND = 900
# What is shown beside a text: all that names it, a short form of that, or its id alone.
_NAMED, _SHORT, _BARE = range(3)


@dataclass(frozen=True, slots=True)
class Part:
    """A memory, and what is asked for of its text: what follows ``start``, or the parts with the words ``around``."""

    memory: Memory
    start: int = 0
    around: str | None = None
    most: int | None = None  # tokens

    def shown(self, room: int) -> list[_Stretch]:
        """Return the stretches that are shown where there is room for so many tokens; none if nothing fits."""
        text, room = self.memory.text, max(0, room if self.most is None else min(room, self.most))
        if self.around is not None:
            return stretches(text, self.around, room, seen)
        end = cut_end(text, self.start, room, seen)
        return [(self.start, end)] if end > self.start or self.start == len(text) else []


def parts_of(memories: Sequence[Memory], around: str | None, offset: int) -> tuple[list[Part], str | None]:
    """Return what is asked for of each memory, and a note if the words of ``around`` are nowhere in one."""
    if offset and (around is not None or len(memories) != 1):
        raise ToolError("offset: it goes with one id, and without around.")
    if around is None:
        if offset > len(memories[0].text):
            raise ToolError("offset: the text ends before it. Use the next_offset of an answer.")
        return [Part(memory, offset) for memory in memories], None
    # What is short enough is whole: its beginning says as much as the words.
    long = [memory for memory in memories if text_cost(memory.text) > _AROUND]
    without = [
        memory
        for memory in long
        if _asked(around).isdisjoint(_beginnings(memory.text.lower())) and _written(memory.text, around) < 0
    ]
    parts = [
        Part(memory, around=None if memory in without else around, most=_AROUND) if memory in long else Part(memory)
        for memory in memories
    ]
    note = "Some texts do not have the words of around: they are shown from their beginning." if without else None
    return parts, note


def get_result(parts: Sequence[Part], missing: Sequence[str], note: str | None, max_tokens: int) -> GetResult:
    """Return the texts that are asked for, in their order; the last that has room is cut, and the rest named."""
    quotes = quotes_for(part for one in parts for part in (one.memory.text, one.memory.title, one.memory.source))
    ids = [one.memory.id for one in parts]
    read: list[ReadMemory] = []

    def answer(memories: Sequence[ReadMemory]) -> GetResult:
        left = ids[len(memories) :]
        made = GetResult(
            memories=list(memories), left=left or None, missing=list(missing) or None, note=note, rule=quotes.rule,
            tokens=0,
        )  # fmt: skip
        return stated(made, max_tokens)

    for part in parts:
        # The first text is shown with less beside it, before little or nothing of it is shown.
        for level in (_NAMED,) if read else (_NAMED, _SHORT, _BARE):
            length = len(part.memory.text)
            longest = {"start": length, "end": length, "length": length, "next_offset": length, "caution": CAUTION}
            largest = _read(part, [(length, length)], quotes, level).model_copy(update=longest)
            room = max_tokens - cost(answer([*read, largest]))
            shown = part.shown(room) if room >= 0 else []
            if room >= 60 or (shown and shown[-1][1] == length):
                break
        if not shown:
            break
        read.append(_read(part, shown, quotes, level))
        if part.most is None and shown[-1][1] < length:
            break
    whole = answer(read)
    needed = cost(whole)
    if not read or needed > max_tokens:
        raise ToolError("max_tokens: it is too little for any of the text. Ask for more tokens, or for fewer ids.")
    return stated(whole, needed)


def _read(part: Part, shown: Sequence[_Stretch], quotes: Quotes, level: int) -> ReadMemory:
    memory = part.memory
    said = GAP.join(memory.text[start:end].rstrip("\n") for start, end in shown[:-1])
    start, end = shown[-1]
    text = f"{said}{GAP if said else ''}{memory.text[start:end]}"
    named = place_of(memory, memory.location, quotes, short=level > _NAMED)
    if level == _BARE:
        named = {name: value for name, value in named.items() if name in ("id", "caution")}
    if reads_like_instructions(text):
        named["caution"] = CAUTION
    extent: dict[str, object] = {}
    if len(text) < (length := len(memory.text)):
        following = end if part.around is None and end < length else None
        extent = {"start": shown[0][0], "end": end, "length": length, "next_offset": following}
    return ReadMemory.model_validate({**named, "text": quotes.text(text), **extent})
