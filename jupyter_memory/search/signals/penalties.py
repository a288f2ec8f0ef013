"""Penalties for form: for questions, if a question is asked, and for very short and very long texts.

A question seldom answers another one. A few words seldom answer one either, and a long text contains many words of any
query by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Memory, Query

_FIRST_WORDS = """
am are can could did do does has have how is should was were what when where which who whom whose why will would
"""
_ASKING = frozenset(_FIRST_WORDS.split())


@dataclass(frozen=True, slots=True)
class QuestionPenalty:
    """-1 for a memory that ends in a question mark, 0 for the others; no opinion where the query is no question.

    A query is a question if it ends in a question mark or begins as an English one does.
    """

    label: ClassVar[str] = "being a question, where the query needs an answer"
    description: ClassVar[str] = "-1 for a memory that is a question, if the query is a question too."

    name: str = "question_penalty"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        if not is_question(query.text):
            return {}
        return {one.key: -1.0 if one.memory.text.rstrip().endswith(("?", "？")) else 0.0 for one in context}


def is_question(text: str) -> bool:
    """Return whether a text asks something.

    >>> is_question("how did I scale λ"), is_question("λ?"), is_question("scaling of λ")
    (True, True, False)
    """
    words = text.split(maxsplit=1)
    return bool(words) and (text.rstrip().endswith(("?", "？")) or words[0].casefold() in _ASKING)


# Sixteen words; below four it is all the same. Bytes, as a character of Chinese says about what three letters do.
SHORT, SHORTEST = 88, 22
# Different tokens of a chunk.
LONG = 128
# A text of fewer characters has no such chunk.
_CANNOT_BE_LONG = 300


@dataclass(frozen=True, slots=True)
class LengthPenalty:
    """0 for a memory of a usual size, and less for each e-fold that it is shorter, or its best chunk is longer.

    A single note may be of any length below that: somebody wrote it down to find it again. A cell, a paragraph or a
    turn of a conversation is short because the text around it says the rest.
    """

    label: ClassVar[str] = "its unusual length"
    description: ClassVar[str] = (
        "0 for a usual length; negative for a memory that is short, or whose best chunk is long."
    )

    name: str = "length_penalty"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        tokens = context.tokens
        found = {}
        for one in context:
            characters = len(one.memory.text)
            size = SHORT if _is_meant(one.memory) else characters
            if size < SHORT:
                size = len(one.memory.text.encode())
            found[one.key] = size_evidence(
                size, len(tokens[one.chunk].different) if characters >= _CANNOT_BE_LONG else 0
            )
        return found


def _is_meant(memory: Memory) -> bool:
    return memory.kind == "note" and memory.session is None


def size_evidence(size: int, tokens: int) -> float:
    """Return what the size of a memory, in bytes, and the number of different tokens of its chunk say of it.

    >>> size_evidence(500, 90), round(size_evidence(44, 8), 2), round(size_evidence(2000, 256), 2)
    (0.0, -0.69, -0.69)
    """
    short = log(max(size, SHORTEST) / SHORT) if size < SHORT else 0.0
    return short + (log(LONG / tokens) if tokens > LONG else 0.0)
