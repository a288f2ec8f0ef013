"""Whole texts of memories, or the part around some words, within a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from jupyter_memory.mcp.answers.budget import cost, pieces, stated, text_cost
from jupyter_memory.mcp.answers.hits import place_of
from jupyter_memory.mcp.answers.results import GetResult, ReadMemory
from jupyter_memory.mcp.errors import ToolError
from jupyter_memory.search.presentation.prompts.quoting import (
    CAUTION,
    Quotes,
    quotes_for,
    reads_like_instructions,
    seen,
)
from jupyter_memory.types import Memory

_WORD = re.compile(r"\w{2,}")
# Characters before the words that are looked for, and tokens that the part around them has.
_LEAD, _AROUND = 400, 600
_WINDOW = 400
_MOST_PLACES = 2_000
_NOTHING_AROUND = "Some texts do not have the words of around: they are shown from their beginning."


@dataclass(frozen=True, slots=True)
class Part:
    """A memory, and from where its text is asked for; ``tokens`` bounds what is shown of it, if it is bounded."""

    memory: Memory
    start: int = 0
    tokens: int | None = None


def parts_of(memories: Sequence[Memory], around: str | None, offset: int) -> tuple[list[Part], str | None]:
    """Return what is asked for of each memory, and a note if the words of ``around`` are nowhere in one.

    Raises:
        ToolError: the offset is beyond the end of a text.
    """
    if offset and (around is not None or len(memories) != 1):
        raise ToolError("offset: it goes with one id, and without around.")
    if around is None:
        if offset > len(memories[0].text):
            raise ToolError("offset: the text ends before it. Use the next_offset of an answer.")
        return [Part(memory, offset) for memory in memories], None
    # What is short enough is whole: its beginning says as much as the words.
    starts = [0 if text_cost(memory.text) <= _AROUND else place_around(memory.text, around) for memory in memories]
    found = [Part(memory, start or 0, _AROUND) for memory, start in zip(memories, starts, strict=True)]
    return found, _NOTHING_AROUND if None in starts else None


def place_around(text: str, words: str) -> int | None:
    """Return where the part of a text begins that has most of these words, None where it has none.

    >>> place_around("first line\\nsecond line", "second"), place_around("first line", "λλ")
    (11, None)
    """
    folded, wanted = text.lower(), words.strip().strip("…").lower()
    at = folded.find(wanted) if wanted and len(folded) == len(text) else -1
    if at < 0:
        at = _densest(text, frozenset(_WORD.findall(wanted)))
    if at < 0:
        return None
    lead = text.rfind("\n", 0, max(0, at - _LEAD)) + 1 if at > _LEAD else 0
    return max(lead, at - _LEAD) if at > _LEAD else _line_start(text, at)


def get_result(parts: Sequence[Part], missing: Sequence[str], note: str | None, max_tokens: int) -> GetResult:
    """Return the texts that are asked for, in their order; the last that has room is cut, and the rest named.

    Raises:
        ToolError: nothing of the first text has room.
    """
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
        room = max_tokens - cost(answer([*read, _largest(part, quotes)]))
        end = _end(part, room if part.tokens is None else min(room, part.tokens), quotes)
        if (end == part.start and part.start < len(part.memory.text)) or room < 0:
            break
        read.append(_read(part, end, quotes))
        if end < len(part.memory.text) and part.tokens is None:
            break
    whole = answer(read)
    needed = cost(whole)
    if not read or needed > max_tokens:
        raise ToolError("max_tokens: it is too little for any of the text. Ask for more tokens, or for fewer ids.")
    return stated(whole, needed)


def _end(part: Part, room: int, quotes: Quotes) -> int:
    """Return where a text is cut that has so many tokens of room."""
    found = pieces(part.memory.text, part.start, max(room, 0), seen)
    return found.end(max(room, 0))


def _read(part: Part, end: int, quotes: Quotes) -> ReadMemory:
    memory = part.memory
    text = memory.text[part.start : end]
    named = place_of(memory, memory.location, quotes)
    if reads_like_instructions(text):
        named["caution"] = CAUTION
    return ReadMemory.model_validate(
        {
            **named,
            "text": quotes.text(text),
            "start": part.start,
            "end": end,
            "length": len(memory.text),
            "next_offset": end if end < len(memory.text) else None,
        }
    )


def _largest(part: Part, quotes: Quotes) -> ReadMemory:
    """Return what is told of a memory beside its text, at its longest: its room is reserved before the text is cut."""
    length = len(part.memory.text)
    longest = {"end": length, "next_offset": length, "caution": CAUTION}
    return _read(part, part.start, quotes).model_copy(update=longest)


def _densest(text: str, wanted: frozenset[str]) -> int:
    """Return where a stretch with the most different words begins, the first of the best; -1 where there is none."""
    found = ((word.start(), word[0].lower()) for word in _WORD.finditer(text))
    places = list(islice((one for one in found if one[1] in wanted), _MOST_PLACES))
    best, best_at, last = 0, -1, 0
    for first, (at, _) in enumerate(places):
        while last < len(places) and places[last][0] <= at + _WINDOW:
            last += 1
        held = len({word for _, word in places[first:last]})
        if held > best:
            best, best_at = held, at
    return best_at


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1
