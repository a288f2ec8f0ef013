"""A memory that defines what the query names is probably the one that was meant: others just use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.query.name_words import words_of
from jupyter_memory.text.code.definitions import Definitions
from jupyter_memory.text.words.stopwords import STOP_WORDS
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
