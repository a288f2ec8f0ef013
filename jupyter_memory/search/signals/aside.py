"""Tests, earlier versions and files that only gather others seldom answer a question that does not ask for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.name_words import names_in
from jupyter_memory.types import Candidate, Query

_ASIDE = re.compile(r"__init__|__main__|tests?|test_.*|.*_test|conftest|v\d+|deprecated|_?compat|legacy", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Aside:
    """-1 for a file whose name, or that of a folder, says that it is beside the point, unless the query has that name.

    Such names are ``__init__``, ``tests``, ``v1``, ``compat``, ``deprecated``.
    """

    label: ClassVar[str] = "what its path says"
    description: ClassVar[str] = "-1 for tests, earlier versions and the like, unless the query asks for them; else 0."

    name: str = "aside"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {
            one.key: -1.0 if _beside(one.memory.source, context) else 0.0
            for one in context
            if one.memory.kind == "file"
        }

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        """Return which name in its path a candidate was judged by."""
        name = _beside(candidate.memory.source, context)
        return f"`{name}` in its path" if name else self.label


def _beside(source: str, context: SearchContext) -> str:
    """Return the name that puts a file aside, empty where there is none."""
    return next((name for name in _aside_in(source) if not context.name_words.asks_for(name)), "")


@lru_cache(4_096)
def _aside_in(source: str) -> tuple[str, ...]:
    return tuple(name for name in names_in(source) if _ASIDE.fullmatch(name))
