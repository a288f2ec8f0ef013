"""A query: its filters, the time that it names, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal

from jupyter_memory.text.words.prose import Prose

# What memories are filtered by, apart from time.
FACETS = ("tag", "kind", "tier", "path", "lang", "space", "session")

# Characters of a query: whole documents arrive by copy and paste. The server's schemas have the same number.
LONGEST_QUERY = 20_000

QueryClass = Literal["keyword", "balanced", "semantic"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must match to be searched: any value of each facet, and every facet.

    ``path`` holds a file, a folder (everything below it) or the start of a source. ``since`` and ``until`` bound
    the event time: ``since <= event_at < until``. A memory that has a value of ``not_tag`` … ``not_session`` is left
    out, and so is one that has a word of ``not_word``. ``also`` are filters that must match as well.
    """

    tag: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    space: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    not_tag: tuple[str, ...] = ()
    not_kind: tuple[str, ...] = ()
    not_tier: tuple[str, ...] = ()
    not_path: tuple[str, ...] = ()
    not_lang: tuple[str, ...] = ()
    not_space: tuple[str, ...] = ()
    not_session: tuple[str, ...] = ()
    not_word: tuple[str, ...] = ()
    also: Filters | None = None

    def __bool__(self) -> bool:
        """Return whether anything is filtered."""
        return any(getattr(self, f.name) not in ((), None) for f in fields(self))

    def with_defaults(self, **defaults: Any) -> Filters:
        """Return these filters with ``defaults`` where a facet is empty."""
        empty = {name: value for name, value in defaults.items() if not self.names(name)}
        return replace(self, **empty)

    def names(self, facet: str) -> bool:
        """Return whether a facet is filtered, here or in ``also``."""
        return getattr(self, facet) not in ((), None) or (self.also is not None and self.also.names(facet))

    def __and__(self, other: Filters) -> Filters:
        """Return filters that match what both match: neither widens the other."""
        if not self or not other:
            return self or other
        if any(getattr(self, facet) and getattr(other, facet) for facet in FACETS) or (self.also and other.also):
            # If both name tags, each must match: they cannot be one set of values.
            return replace(other, also=self if other.also is None else self & other.also)
        merged = {f.name: getattr(self, f.name) or getattr(other, f.name) for f in fields(self)}
        for facet in (*FACETS, "word"):
            merged[f"not_{facet}"] = (*getattr(self, f"not_{facet}"), *getattr(other, f"not_{facet}"))
        for bound, narrower in (("since", max), ("until", min)):
            both = [value for value in (getattr(self, bound), getattr(other, bound)) if value is not None]
            merged[bound] = narrower(both) if both else None
        return Filters(**merged)


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions that a query names, both ends included; ``last`` None means all that follow.

    With ``from_newest`` they are counted backwards: 1 is the newest session, and ``first`` is the older end.
    """

    first: int
    last: int | None
    from_newest: bool = False

    def among(self, newest: int) -> tuple[int, int]:
        """Return the first and the last number, given the number of the newest session.

        >>> Sessions(20, 20, from_newest=True).among(20), Sessions(2, None).among(9)
        ((1, 1), (2, 9))
        """
        last = newest if self.last is None else self.last
        return (newest + 1 - self.first, newest + 1 - last) if self.from_newest else (self.first, last)


@dataclass(frozen=True, slots=True)
class TemporalExpression:
    """A time, or sessions, that a query names in plain English at ``text[start:end]``.

    A time is the range ``since <= t < until`` in UTC (None: open) around its ``target``; ``unit`` (day, week, month,
    year) says how exactly it is meant. ``sure`` in 0..1 is how certainly the words mean this. Either the
    range or ``sessions`` is given.
    """

    start: int
    end: int
    phrase: str
    sure: float
    since: datetime | None = None
    until: datetime | None = None
    target: datetime | None = None
    unit: str = ""
    sessions: Sessions | None = None


@dataclass(frozen=True, slots=True)
class WordForms:
    """What a store holds of a word in its other forms.

    ``inflected`` are forms of the word itself: they count as it does. ``compounds`` and ``parts`` are stems that count
    less: of longer words that contain it, and of the words that it is put together from.
    """

    word: str
    inflected: tuple[str, ...] = ()
    compounds: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What the keyword retriever looks for: words, quoted phrases and CJK bigrams; one match is enough.

    ``words`` and ``phrases`` are matched in the columns of the profile; ``ident`` (bigrams, parts of identifiers)
    only in the column of that name. ``prefix`` is the word that a person is still typing; it matches every word that
    begins with it. ``respelled`` are stems tried, at half the weight, for words that the store does not have;
    ``forms`` are those of its words that have other forms there.
    """

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    ident: tuple[str, ...] = ()
    prefix: str | None = None
    respelled: tuple[str, ...] = ()
    forms: tuple[WordForms, ...] = ()

    @property
    def compounded(self) -> tuple[str, ...]:
        """Return the stems of compounds with its words, and of the parts of compounds among them."""
        return tuple(dict.fromkeys(stem for one in self.forms for stem in (*one.compounds, *one.parts)))

    def __bool__(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self.words or self.phrases or self.ident or self.prefix or self.respelled)


@dataclass(frozen=True, slots=True)
class Query:
    """A query with everything that its answer depends on; the same query always has the same answer.

    ``text`` is what is searched for; ``written`` is everything that was typed, with the filters. ``temporal`` is the
    time that the text names, and ``time_filters`` are the filters that it means in this store. ``language`` is the one
    whose function words say nothing, English where it is None.
    """

    text: str
    now: datetime
    terms: Terms
    query_class: QueryClass
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    tags: tuple[str, ...] = ()
    domain: str | None = None
    temporal: TemporalExpression | None = None
    written: str = ""
    time_filters: Filters | None = None
    language: Prose | None = None


def as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one string or several as a tuple, so that ``tags="a"`` means what it says."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
