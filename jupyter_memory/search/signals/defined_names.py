"""A file with a class or function of such a name is probably about what the query asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jupyter_memory.search.context import SearchContext
from jupyter_memory.text.code.definitions import Definitions
from jupyter_memory.types import Candidate, Query

# Where few files were found, the usual file is not known well.
_USUAL_AT_MOST = 0.5


@dataclass(frozen=True, slots=True)
class DefinedNames:
    """How well the best name of a class or function in a file answers the query, above what is usual.

    Among the hundred names of a file, one is like the query by chance. So what is usual for the files that were found,
    their mean and a standard deviation, is subtracted: otherwise files would come before the cells of notebooks. A cell
    has no value, since it is so short that its words say as much. Nor has a file that is not in Python.
    """

    label: ClassVar[str] = "the best name that it defines"
    description: ClassVar[str] = (
        "How much better the best name of a class or function in the file answers the query than that of other files."
    )

    name: str = "defined_names"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        if not any(one.memory.kind == "file" for one in context):
            return {}
        words, definitions = context.name_words, context.candidates.definitions
        found = {
            one.key: words.best(_names(definitions[one.key]))[0]
            for one in context
            if one.memory.kind == "file" and one.key in definitions
        }
        usual = _usual(list(found.values()))
        return {key: value - usual for key, value in found.items()}

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        """Return which name a candidate was judged by."""
        definitions = context.candidates.definitions.get(candidate.key, Definitions())
        _, name = context.name_words.best(_names(definitions))
        return f"its definition of `{name}`" if name else self.label


def _names(definitions: Definitions) -> str:
    return f"{definitions.defined} {definitions.nested}"


def _usual(values: list[float]) -> float:
    return min(_USUAL_AT_MOST, float(np.mean(values) + np.std(values))) if values else 0.0
