"""How near the meaning is, for every candidate that has a vector, whichever retriever found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query


@dataclass(frozen=True, slots=True)
class Cosine:
    """The cosine of the query and the memory's best chunk, a negative one as 0; NaN without a vector."""

    label: ClassVar[str] = "how close its meaning is to that of the query"
    description: ClassVar[str] = "The cosine of the query and the memory's best chunk; 0 if it is negative."

    name: str = "similarity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {one.key: nan if one.cosine is None else max(0.0, one.cosine) for one in context}
