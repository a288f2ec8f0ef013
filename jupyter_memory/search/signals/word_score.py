"""How well a memory meets the words of the query, also where it was its meaning that brought it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class WordScore:
    """BM25 of the memory's best chunk; no opinion where it holds no word of the query.

    The keyword leg brings the best by their words alone. What the other leg brings beside them often holds some of the
    words too, only not enough to be among those.
    """

    label: ClassVar[str] = "its words"
    description: ClassVar[str] = "BM25 of the query's words in the memory's best chunk."

    # Says what that leg says, of more memories: it is shown as the leg, with the rank there.
    completes: ClassVar[str] = "keyword"

    name: str = "words"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        words = context.keyword_scores
        return {one.key: words[one.key] for one in context if one.key in words}
