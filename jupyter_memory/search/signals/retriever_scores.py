"""The scores of the two retrievers for every candidate, whichever of them found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class WordScore:
    """BM25 of the memory's best chunk; no opinion where it holds no word of the query.

    The keyword retriever finds the best by their words alone. Memories that only the vector retriever finds often
    contain some of the words too, but not enough to be among those.
    """

    label: ClassVar[str] = "the words of the query in it"
    description: ClassVar[str] = "BM25 of the query's words in the memory's best chunk."

    # It gives the score of that retriever to more memories, and is shown under the retriever's name, with its rank.
    completes: ClassVar[str] = "keyword"

    name: str = "words"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        words = context.keyword_scores
        return {one.key: words[one.key] for one in context if one.key in words}


@dataclass(frozen=True, slots=True)
class Cosine:
    """The cosine of the query and the memory's best chunk, a negative one as 0; NaN without a vector."""

    label: ClassVar[str] = "how close its meaning is to that of the query"
    description: ClassVar[str] = "The cosine of the query and the memory's best chunk; 0 if it is negative."

    name: str = "similarity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {one.key: nan if one.cosine is None else max(0.0, one.cosine) for one in context}
