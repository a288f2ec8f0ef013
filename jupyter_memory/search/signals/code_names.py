"""Names in code: what a memory defines, what its file is called, and names in its path such as those of tests.

What is in a test, or was put aside, seldom answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.name_words import names_in, words_of
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.types import Candidate, Query

# By where a name is defined: at the top level, as a variable, within a class or a function.
_LEVELS = (1.0, 0.8, 0.6)
# In a sentence a word may look like a name by chance.
_IN_A_SENTENCE = 0.5


@dataclass(frozen=True, slots=True)
class Defines:
    """1 if the query is the name of a class or function that the memory defines, else less or 0.

    A variable counts 0.8, a method 0.6. Of a query of several words only those that look like names are looked up, and
    count half. Of a name with dots, the last part is.
    """

    label: ClassVar[str] = "the names that it defines"
    description: ClassVar[str] = (
        "1 if it defines the class or function that the query names, 0.8 for a variable, 0.6 for a method; "
        "half in a sentence."
    )

    name: str = "defines"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        found = dict.fromkeys((one.key for one in context), 0.0)
        if named := _named(query.text):
            for key, definitions in context.candidates.definitions.items():
                found[key] = max((value for value, _ in _matches(named, definitions)), default=0.0)
        return found

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        """Return which definition a candidate was judged by."""
        definitions = context.candidates.definitions.get(candidate.key, Definitions())
        matches = _matches(_named(query.text), definitions)
        return max(((value, f"its definition of `{name}`") for value, name in matches), default=(0.0, self.label))[1]


def _named(text: str) -> Mapping[str, float]:
    """Return the names in a query and how certain it is that they are meant."""
    words = words_of(text)
    if len(words) == 1:
        return {_last(words[0]): 1.0}
    return {_last(word): _IN_A_SENTENCE for word in words if _is_name(word)}


def _is_name(word: str) -> bool:
    """Return whether a word looks like a name, or is written like the name of a class."""
    if word.lower() in STOP_WORDS:
        return False
    return "." in word or "_" in word.strip("_") or word != word.lower()


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _matches(named: Mapping[str, float], definitions: Definitions) -> Iterator[tuple[float, str]]:
    for level, names in zip(_LEVELS, definitions, strict=True):
        for name, certainty in named.items():
            if name in names and f" {name} " in f" {names} ":
                yield level * certainty, name


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
