"""The title of a memory against the words of the query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from unicodedata import normalize

from jupyter_memory.search.context import SearchContext
from jupyter_memory.types import Query

_EDGES = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class Title:
    """1 if every word of the query occurs in the title as a substring, whatever its case, else 0.

    Substrings, because the keyword index splits "1.4" into "1" and "4": "roadmap 1.4" has to find v1.4-ROADMAP.md.
    """

    label: ClassVar[str] = "having every word of the query in its title"
    description: ClassVar[str] = "1 if the title contains every word of the query, else 0."

    name: str = "title"
    lower_is_better: bool = False

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        stripped = (_EDGES.sub("", word).casefold() for word in query.text.split())
        words = [word for word in stripped if word]
        # Composed, as queries are: macOS takes the umlauts of file names apart.
        together = normalize("NFC", "\n".join(one.memory.title.replace("\n", " ") for one in context)).casefold()
        if not words or any(word not in together for word in words):
            return dict.fromkeys((one.key for one in context), 0.0)
        titles = together.split("\n")
        return {
            one.key: float(all(word in title for word in words)) for one, title in zip(context, titles, strict=True)
        }


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
