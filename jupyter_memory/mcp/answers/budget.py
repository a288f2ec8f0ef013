"""Answers within a number of tokens: what is cut first, and what the answer says that it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from typing import Protocol, TypeVar

from jupyter_memory.mcp.answers.results import Result
from jupyter_memory.mcp.errors import ToolError
from jupyter_memory.text.languages import estimated_tokens
from jupyter_memory.text.unicode import json_text


class Counted(Protocol):
    """An answer that states its tokens."""

    tokens: int


_R = TypeVar("_R", bound=Result)
# A text is cut at the ends of such pieces: of a line, or of a word in a long line.
_LONGEST_PIECE = 120
_PIECE = re.compile(r"[^\n]{0,119}(?:\n|\s)|[^\n]{1,120}")
# Only the beginning of a longer text is counted, and the rest in proportion.
_COUNTED = 20_000


def serialized(answer: Result) -> str:
    """Return an answer as a program gets it."""
    return json_text(answer.values(), compact=True)


def cost(answer: Result) -> int:
    """Return the estimate of an answer's tokens."""
    return estimated_tokens(serialized(answer))


def stated(answer: _R, tokens: int) -> _R:
    """Return an answer that states its tokens: at least what it costs with the number in it."""
    return answer.model_copy(update={"tokens": tokens})


def fitted(make: Callable[[int], _R], cuts: int, max_tokens: int) -> _R:
    """Return the answer with the fewest cuts that costs ``max_tokens`` at most; ``make(cuts)`` has no hits left.

    Raises:
        ToolError: not even the smallest answer fits; it says how many tokens are needed.
    """

    # The number that is stated at the end has no more digits.
    @cache
    def cost_of(count: int) -> int:
        return cost(stated(make(count), max_tokens))

    few, many = 0, cuts
    if cost_of(few) > max_tokens:
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (middle, many) if cost_of(middle) > max_tokens else (few, middle)
    else:
        many = few
    needed = cost_of(many)
    if needed > max_tokens:
        raise ToolError(f"max_tokens: the smallest answer needs {needed}. Ask for more tokens, or for fewer ids.")
    return stated(make(many), needed)


def text_cost(text: str) -> int:
    """Return about how many tokens a memory's whole text costs."""
    if len(text) <= _COUNTED:
        return estimated_tokens(text)
    return round(estimated_tokens(text[:_COUNTED]) * len(text) / _COUNTED)


def text_tokens(text: str) -> int:
    """Return the estimate of a text's tokens within an answer, where it is JSON."""
    return estimated_tokens(json_text(text)[1:-1])


def cut_end(text: str, start: int, tokens: int, shown: Callable[[str], str]) -> int:
    """Return where a text is cut that is told from ``start`` on in so many tokens: at a line's end, or a word's.

    Where not even the first of them has room, it is cut within a word.
    """
    end, spent = start, 0
    for found in _PIECE.finditer(text, start):
        # Pieces cost apart at least what they cost together: words, rules and blanks are counted twice at the cut.
        spent += text_tokens(shown(found[0]))
        if spent > tokens:
            break
        end = found.end()
    if end > start:
        return end
    longest = min(_LONGEST_PIECE, len(text) - start)
    costs = (text_tokens(shown(text[start : start + length])) for length in range(1, longest + 1))
    return start + sum(1 for _ in takewhile(lambda cost: cost <= tokens, costs))
