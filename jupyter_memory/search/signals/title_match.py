"""A note whose title says what the query asks for was probably written about just that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query

# What somebody stored by itself. A cell's title is that of its whole section, a file's its path (see `file_stem`).
_TITLED = frozenset({"note", "mcp"})


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """How well the title of a note answers the query, from 0 to 1.

    BM25 adds up the words that a title shares with the query, whatever else it says and the query asks for. This is how
    "Delta types" comes before "Streaming request with tool use" when the types of deltas in a stream are asked for.
    """

    label: ClassVar[str] = "how well its title answers the query"
    description: ClassVar[str] = "How well the title of a note answers the query, from 0 to 1."

    name: str = "title_match"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        notes = [one for one in context if one.memory.kind in _TITLED and one.memory.title]
        return {one.key: context.name_words.title(one.memory.title) for one in notes}
