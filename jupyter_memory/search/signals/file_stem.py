"""A file whose name says what the query asks for is probably the one that was meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.name_words import names_in
from jupyter_memory.types import Query

_FOLDER = 0.5


@dataclass(frozen=True, slots=True)
class FileStem:
    """How well the name of a file answers the query, and half of how well that of its folder does; 1 at most.

    A cell has no value: its notebook has many others.
    """

    label: ClassVar[str] = "the name of its file"
    description: ClassVar[str] = "How well the names of the file and of its folder answer the query, from 0 to 1."

    name: str = "file_stem"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {one.key: _value(one.memory.source, context) for one in context if one.memory.kind == "file"}


def _value(source: str, context: SearchContext) -> float:
    _, folder, stem = names_in(source)
    return min(1.0, context.name_words.cover(stem) + _FOLDER * context.name_words.cover(folder))
