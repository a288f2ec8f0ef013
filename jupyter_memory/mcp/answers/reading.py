"""Whole texts of memories, or the parts that have some words, within a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_memory.mcp.answers.budget import cost, cut_end, stated, text_cost
from jupyter_memory.mcp.answers.hits import place_of
from jupyter_memory.mcp.answers.results import GetResult, ReadMemory
from jupyter_memory.mcp.answers.stretches import GAP, Stretch, has_any, stretches
from jupyter_memory.mcp.errors import ToolError
from jupyter_memory.search.prompt import CAUTION, Quotes, quotes_for, reads_like_instructions, seen
from jupyter_memory.types import Memory

# Tokens of the parts that have the words which are looked for. What is not longer is told whole.
_AROUND = 900
# What is told beside a text: all that names it, a short form of that, or its id alone.
_NAMED, _SHORT, _BARE = range(3)
# Tokens of a text in which too little is said for so much beside it.
_LITTLE = 60
_NOTHING_AROUND = "Some texts do not have the words of around: they are shown from their beginning."


@dataclass(frozen=True, slots=True)
class Part:
    """A memory, and what is asked for of its text: what follows ``start``, or the parts that have the words ``around``.

    ``most`` bounds the tokens of the text, if they are bounded.
    """

    memory: Memory
    start: int = 0
    around: str | None = None
    most: int | None = None

    def shown(self, room: int) -> list[Stretch]:
        """Return the stretches that are told where there is room for so many tokens; none if nothing fits."""
        text, room = self.memory.text, max(0, room if self.most is None else min(room, self.most))
        if self.around is not None:
            return stretches(text, self.around, room, seen)
        end = cut_end(text, self.start, room, seen)
        return [(self.start, end)] if end > self.start or self.start == len(text) else []


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
    long = [memory for memory in memories if text_cost(memory.text) > _AROUND]
    without = [memory for memory in long if not has_any(memory.text, around)]
    parts = [
        Part(memory, around=None if memory in without else around, most=_AROUND) if memory in long else Part(memory)
        for memory in memories
    ]
    return parts, _NOTHING_AROUND if without else None


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
        # The first text is told with less beside it, before little or nothing of it is told.
        for level in (_NAMED,) if read else (_NAMED, _SHORT, _BARE):
            room = max_tokens - cost(answer([*read, _largest(part, quotes, level)]))
            shown = part.shown(room) if room >= 0 else []
            if room >= _LITTLE or (shown and shown[-1][1] == len(part.memory.text)):
                break
        if not shown:
            break
        read.append(_read(part, shown, quotes, level))
        if part.most is None and shown[-1][1] < len(part.memory.text):
            break
    whole = answer(read)
    needed = cost(whole)
    if not read or needed > max_tokens:
        raise ToolError("max_tokens: it is too little for any of the text. Ask for more tokens, or for fewer ids.")
    return stated(whole, needed)


def _read(part: Part, shown: Sequence[Stretch], quotes: Quotes, level: int) -> ReadMemory:
    memory = part.memory
    said = GAP.join(memory.text[start:end].rstrip("\n") for start, end in shown[:-1])
    start, end = shown[-1]
    text = f"{said}{GAP if said else ''}{memory.text[start:end]}"
    named = place_of(memory, memory.location, quotes, short=level > _NAMED)
    if level == _BARE:
        named = {name: value for name, value in named.items() if name in ("id", "caution")}
    if reads_like_instructions(text):
        named["caution"] = CAUTION
    extent = _extent(shown[0][0], shown[-1][1], part) if len(text) < len(memory.text) else {}
    return ReadMemory.model_validate({**named, "text": quotes.text(text), **extent})


def _extent(start: int, end: int, part: Part) -> dict[str, object]:
    """Return which characters of a text are told that is not told whole."""
    length = len(part.memory.text)
    goes_on = part.around is None and end < length
    return {"start": start, "end": end, "length": length, "next_offset": end if goes_on else None}


def _largest(part: Part, quotes: Quotes, level: int) -> ReadMemory:
    """Return what is told of a memory beside its text, at its longest: its room is reserved before the text is cut."""
    length = len(part.memory.text)
    longest = {"start": length, "end": length, "length": length, "next_offset": length, "caution": CAUTION}
    return _read(part, [(length, length)], quotes, level).model_copy(update=longest)
