"""The hits of an answer as one text for a language model: quoted, with their sources, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from jupyter_memory.search.presentation.prompts.budget import BUDGET, PromptText, checked_budget
from jupyter_memory.search.presentation.prompts.passages import part_of
from jupyter_memory.search.presentation.prompts.quoting import CAUTION, Quotes, quotes_for, reads_like_instructions
from jupyter_memory.search.presentation.prompts.sources import Source, joined, sources
from jupyter_memory.text.display import count_of
from jupyter_memory.text.languages import estimated_tokens
from jupyter_memory.types import Answer, Memory

# Tokens of a question that is repeated, and what a source may need beside its place and its text.
_QUESTION = 30
_REMARKS = 40


def prompt_text(answer: Answer, max_tokens: int = BUDGET) -> PromptText:
    """Return the hits of an answer as a text for a prompt, which never has more than ``max_tokens`` by the estimate.

    Every text stands within borders that it cannot forge, below a line with its path, cell, lines and date. Hits that
    say the same are one source, neighbouring cells of a notebook stand together in their order. The best hits come
    first; one that has no room left is left out whole, unless it alone is longer than the budget: then the part around
    the hit is quoted, with marks for the lines that are left out. The same answer always gives the same text.

    Where the answer's verdict is ``none``, the text says that nothing answers the question, and quotes nothing.

    Raises:
        InputError: ``max_tokens`` is not a whole number of at least 200.
    """
    most = checked_budget(max_tokens)
    found = () if answer.verdict == "none" else answer.hits
    if not found and answer.verdict in ("strong", "weak"):
        # Rows that somebody took out of a result were found all the same.
        return PromptText("No result is left to quote.")
    if not found:
        return PromptText(f"The memory holds nothing that answers {_asked(answer, Quotes('')) or 'this'}.")
    quotes = quotes_for(text for hit in found for text in (hit.memory.title, hit.memory.source, hit.memory.text))
    known = sources(found)
    # What is above the sources; how many of them there are is not known yet.
    head = estimated_tokens(_whole(answer, (), len(known), quotes, most)) + len(str(len(known)))
    whole = room = most - head
    chosen: list[Source] = []
    for source in known:
        cited = source.within(whole - estimated_tokens(_block([source], len(known), quotes)) - _REMARKS)
        cost = estimated_tokens(_block([cited], len(known), quotes)) + 1
        if cited.passage.text and cost <= room:
            chosen.append(cited)
            room -= cost
    groups = joined(chosen)
    # Each number has at most as many digits as the one before, so the text has at most the tokens that it states.
    tokens = most
    for _ in range(2):
        tokens = estimated_tokens(_whole(answer, groups, len(known), quotes, tokens))
    return PromptText(_whole(answer, groups, len(known), quotes, tokens))


def _whole(answer: Answer, groups: Sequence[Sequence[Source]], known: int, quotes: Quotes, tokens: int) -> str:
    """Return the whole text; its first line states how many results there are and the number of tokens."""
    blocks = [_block(group, number, quotes) for number, group in enumerate(groups, start=1)]
    count = f"{sum(map(len, groups))} of {count_of(known, 'result')}"
    weak = " None of them surely answers it." if answer.verdict == "weak" else ""
    asked = _asked(answer, quotes)
    # Not said once any is quoted; the room for it is kept all the same.
    short = "" if groups else " None fits into so few tokens."
    place = f"the user's notebooks, files and notes{asked and f' for {asked}'}"
    head = f"From {place}: {count}, about {tokens} tokens.{weak}{short}"
    return "\n\n".join([f"{head}\n{quotes.rule}", *blocks])


def _asked(answer: Answer, quotes: Quotes) -> str:
    """Return the question of an answer within quotation marks, cut to a few tokens; empty where nobody asked."""
    asked = " ".join((answer.query.written or answer.query.text).split())
    return f"“{part_of(quotes.line(asked), 0, _QUESTION)}”" if asked else ""


def _block(group: Sequence[Source], number: int, quotes: Quotes) -> str:
    """Return a line that says where texts come from, and the texts within borders."""
    first = group[0].hit.memory
    cells, fresh = _cells(group, quotes), _freshness(group)
    about = [_place(first, quotes), *_name(first, quotes), *cells, *_lines(group), _day(first), *fresh]
    lines = [f"[{number}] {', '.join(about)}"]
    for one in (memory for source in group for memory in source.also):
        lines.append(f"also in {', '.join([_place(one, quotes), *_cell(one, quotes), _day(one)])}")
    if any(reads_like_instructions(source.passage.text) for source in group):
        lines.append(f"({CAUTION})")
    return "\n".join([*lines, *(quotes.text(f"\n{source.passage.text}\n") for source in group)])


def _place(memory: Memory, quotes: Quotes) -> str:
    return quotes.line(memory.source) if memory.source else f"{memory.kind} {memory.id}"


def _name(memory: Memory, quotes: Quotes) -> list[str]:
    """Return the title within quotation marks, if it says more than the name of the file."""
    name = PurePath(memory.source).name
    title = memory.title.removeprefix(name).removeprefix(" – ") if name else memory.title
    return [f"“{quotes.line(title)}”"] if title else []


def _cells(group: Sequence[Source], quotes: Quotes) -> list[str]:
    if len(group) == 1:
        return _cell(group[0].hit.memory, quotes)
    return [f"cells {', '.join(quotes.line(source.hit.memory.location) for source in group)}"]


def _cell(memory: Memory, quotes: Quotes) -> list[str]:
    what = "cell" if memory.kind == "cell" else "at"
    return [f"{what} {quotes.line(memory.location)}"] if memory.location else []


def _lines(group: Sequence[Source]) -> list[str]:
    # Which cell of several is cut, its text shows.
    return [group[0].lines] if len(group) == 1 and group[0].lines else []


def _freshness(group: Sequence[Source]) -> list[str]:
    """Return what became of the file since it was indexed, nothing where it is as it was or is not known."""
    told = {"changed": "the file has changed since", "gone": "the file is gone"}.get(group[0].hit.freshness)
    return [told] if told else []


def _day(memory: Memory) -> str:
    return memory.event_at.astimezone().date().isoformat()
