"""A profile: which evidence counts, and how much; and its constants, each number with a name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.search.context import Signal
from jupyter_memory.search.fusion import Weighted
from jupyter_memory.search.postprocessing import PostProcessor
from jupyter_memory.search.profiles.toml_writer import to_toml
from jupyter_memory.search.retrieval import RETRIEVERS
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types.protocols import Term

# What names a part or describes the whole is no constant of the sum.
_NAMES = ("name", "summary")


@dataclass(frozen=True, slots=True)
class OverFetch:
    """How many memories each retriever finds for ``limit`` hits: ``max(factor * limit, minimum)``."""

    factor: int = 4
    minimum: int = 20

    def __call__(self, limit: int, /) -> int:
        return max(self.factor * limit, self.minimum)


@dataclass(frozen=True, slots=True)
class Profile:
    """A ranking: what the retrievers fetch, which signals judge, and the terms whose sum is the score.

    ``columns`` are the BM25 weights of the keyword index; a column that is not among them is not searched.
    ``threshold`` says whether matches below the embedder's (or the user's) cosine threshold are dropped. ``steps`` are
    the post-processors. ``keyword_only`` are the terms for a search without a model, if they are others. Fewer keyword
    matches than ``small_corpus`` are all shown where ``limit`` would cut off half of them. ``timed`` says whether a
    time that the query names changes what the retrievers find. ``adaptive`` names the term whose weight follows
    feedback; see `search.profiles.adaptive`. ``apart`` names a kind that is searched by itself, so that its memories
    and the others do not take each other's places among the candidates.

    Raises:
        InputError: two terms or two signals share a name, a term reads what nobody gives, or a column does not exist.
    """

    name: str
    summary: str
    terms: tuple[Term, ...]
    columns: Mapping[str, float]
    signals: tuple[Signal, ...] = ()
    fetch: OverFetch = OverFetch()
    threshold: bool = False
    steps: tuple[PostProcessor, ...] = ()
    keyword_only: tuple[Term, ...] = ()
    small_corpus: int = 0
    timed: bool = False
    adaptive: str = ""
    apart: str = ""

    def __post_init__(self) -> None:
        signals, terms = [signal.name for signal in self.signals], [term.name for term in self.terms]
        for what, names in (("signals", [*RETRIEVERS, *signals]), ("terms", terms)):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise InputError(f"The profile {self.name} has two {what} called {twice[0]!r}. Rename one of them.")
        for term in (*self.terms, *self.keyword_only):
            if (reads := term.reads or term.name) not in (*RETRIEVERS, *signals):
                raise InputError(
                    f"The profile {self.name} has no signal {reads!r}, which its term {term.name!r} reads. "
                    "Add it to signals=, or use with_signal()."
                )
        if not self.columns or set(self.columns) - set(COLUMNS):
            raise InputError(f"columns= maps one or more of {', '.join(COLUMNS)} to weights.")

    @property
    def formula(self) -> str:
        """Return the score as a sum that a person can check."""
        return " + ".join(map(str, self.terms))

    def fetches(self, limit: int) -> int:
        """Return how many memories each retriever is asked for: more than ``fetch`` only to measure a small corpus."""
        return max(self.fetch(limit), self.small_corpus)

    def terms_for(self, hybrid: bool) -> tuple[Term, ...]:
        """Return the terms that count where the vector retriever takes part, or where it does not."""
        return self.terms if hybrid or not self.keyword_only else self.keyword_only

    def without(self, term: str) -> Profile:
        """Return a copy, called ``name-term``, in which one term does not count: what the others do without it.

        Raises:
            InputError: the profile has no such term.
        """
        if term not in {one.name for one in self.terms}:
            raise InputError(f"{self.name} has no term {term!r}. Its terms: {', '.join(t.name for t in self.terms)}.")
        return dataclasses.replace(
            self,
            name=f"{self.name}-{term}",
            terms=tuple(one for one in self.terms if one.name != term),
            keyword_only=tuple(one for one in self.keyword_only if one.name != term),
        )

    def to_toml(self) -> str:
        """Return the profile as the text of a TOML file, which ``profile_named("./mine.toml")`` reads.

        Raises:
            InputError: a signal or a term is of a class of one's own, which a file cannot hold.
        """
        return to_toml(self)

    def replace(self, **changes: Any) -> Profile:
        """Return a copy with other values, such as ``columns={"title": 3, "text": 1}``."""
        return dataclasses.replace(self, **changes)

    def with_signal(self, signal: Signal, weight: float) -> Profile:
        """Return a copy, called ``name+signal``, in which ``weight * value`` of one more signal counts."""
        return dataclasses.replace(
            self,
            name=f"{self.name}+{signal.name}",
            signals=(*self.signals, signal),
            terms=(*self.terms, Weighted(signal.name, weight)),
        )


@dataclass(frozen=True, slots=True)
class Constant:
    """One value of a profile: ``part`` is term, signal, column …, ``form`` the class of the part, such as Weighted."""

    part: str
    name: str
    form: str
    constant: str
    value: Any


def constants(profile: Profile) -> list[Constant]:
    """Return every constant of a profile: of its terms and signals, the columns, the fetch, the steps and the rest.

    >>> from jupyter_memory.search.profiles.builtin import trovella
    >>> [(one.name, one.constant, one.value) for one in constants(trovella)][:2]
    [('keyword', 'weight', 1.0), ('keyword', 'k', 60.0)]
    """
    found: list[Constant] = []
    for field in fields(profile):
        value = getattr(profile, field.name)
        if field.name == "columns":
            found += [Constant("column", name, "", "weight", weight) for name, weight in value.items()]
        elif field.name == "keyword_only":
            found += [one for part in value for one in _of_part("term, words alone", part)]
        elif isinstance(value, tuple):
            found += [one for part in value for one in _of_part(field.name.removesuffix("s"), part)]
        elif is_dataclass(value):
            found += _of_part(field.name, value)
        elif field.name not in _NAMES:
            found.append(Constant("rule", "", "", field.name, value))
    return found


def _of_part(part: str, value: Any) -> Iterator[Constant]:
    """Yield the constants of a term, a signal or a step; one that has none is named all the same."""
    form = type(value).__name__
    name = getattr(value, "name", "")
    held = [one.name for one in fields(value)] if is_dataclass(value) else []
    told = [one for one in held if one != "name" and getattr(value, one) not in ("", ())]
    if not told:
        yield Constant(part, name, form, "", "")
    for constant in told:
        yield Constant(part, name, form, constant, getattr(value, constant))
