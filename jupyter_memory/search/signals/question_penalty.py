"""Scores memories that are questions below the others if the query is a question: a question seldom answers one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query

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
