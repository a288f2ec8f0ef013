"""A query, and what answers it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from jupyter_memory.text.display import count_of, preview
from jupyter_memory.text.languages import Prose
from jupyter_memory.text.markdown import is_markdown, plain
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.memory import Memory, RunError

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
        return self != Filters()

    def with_defaults(self, **defaults: Any) -> Filters:
        """Return these filters with ``defaults`` where a facet is empty."""
        return replace(self, **{name: value for name, value in defaults.items() if not self.names(name)})

    def names(self, facet: str) -> bool:
        """Return whether a facet is filtered, here or in ``also``."""
        return getattr(self, facet) not in ((), None) or (self.also is not None and self.also.names(facet))

    def __and__(self, other: Filters) -> Filters:
        # What both match: neither widens the other.
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
        return bool(self.words or self.phrases or self.ident or self.prefix or self.respelled)


@dataclass(frozen=True, slots=True)
class Query:
    """A query with everything that its answer depends on; the same query always has the same answer.

    ``text`` is what is searched for; ``written`` is everything that was typed, with the filters. ``temporal`` is the
    time that the text names, and ``time_filters`` are the filters that it means in this store. ``language`` is the one
    whose function words say nothing, English where it is None. ``notices`` say how its filters were read.
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
    notices: tuple[str, ...] = ()


def as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one string or several as a tuple, so that ``tags="a"`` means what it says."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Ranking(Generic[Key]):
    """Scores by key, higher is better, and the ranks that follow; equal scores share a rank.

    >>> Ranking({"b": 0.5, "a": 0.9, "c": 0.5, "d": 0.1}).ranks
    {'b': 2, 'a': 1, 'c': 2, 'd': 4}
    """

    scores: Mapping[Key, float]

    @cached_property
    def ranks(self) -> dict[Key, int]:
        """Return 1-based competition ranks (1, 2, 2, 4), in the order of the scores."""
        # Of equal scores the last one written stays, which is the best rank.
        places = dict(zip(self._worst_first, range(len(self), 0, -1), strict=True))
        return {key: places[score] for key, score in self.scores.items()}

    def rank(self, key: Key) -> int | None:
        """Return the rank of one key, None if it has no score; faster than ranking all keys."""
        score = self.scores.get(key)
        return None if score is None else len(self._worst_first) - bisect_right(self._worst_first, score) + 1

    @cached_property
    def _worst_first(self) -> list[float]:
        return sorted(self.scores.values())

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.scores)


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A memory that a retriever found by its best chunk; keys are the store's integers, ``score`` higher is better."""

    memory: int
    chunk: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory of the pool with its best chunk, as signals and the answer see it."""

    key: int
    memory: Memory
    chunk: int
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one signal or retriever says of a hit: its raw value, its rank, and what it adds to the score."""

    value: float
    rank: int | None
    contribution: float


# What a search returns: hits, the answer, why a memory ranks where it does, and the lists behind the answer.

# What an answer says whose verdict is "none", and one whose verdict is "weak"; the panel says the same (`verdict.tsx`).
UNANSWERED = "Nothing here seems to answer this. These are the closest results."
UNSURE = "It is uncertain whether any of these results answers this."
# What one says without hits: that nothing is stored yet, and that nothing stored matches the query.
EMPTY = "This store is empty. Add files with `index`, or a note with `add`."
NO_MATCH = "No memory contains these words or comes close to their meaning. Try other words, or index more files."
NO_MATCH_FILTERED = "No memory that matches the filters contains these words or comes close to their meaning."


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory in an answer, with the reason for every point of its score.

    ``score`` is the sum of the contributions of ``signals``. ``highlights`` are ``[start, end)`` ranges in code
    points of ``snippet``. ``bm25`` and ``cosine`` are raw, higher is better, NaN where there is none. The rank of a
    retriever that did not find the memory is None. ``strength`` is in 0..1, NaN until it is calibrated. ``context`` has
    the headings that lead down to it, outermost first, ``Prices > Cleaning``, without what the title says already.
    ``named`` is the title of a cell by its own heading, the nearest one that says something, or what it defines.
    ``span`` is where the words of the query are thickest in the memory's text, ``[start, end)``, or its best chunk
    where they are not found; ``(0, 0)`` where nothing was compared.
    ``freshness`` says whether its file is still as it was indexed: ``current``, ``changed`` or ``gone``; it is
    ``unknown`` for what comes from no file or from a drive that is not connected.
    """

    rank: int
    memory: Memory
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    location: str
    score: float
    strength: float
    kw_rank: int | None
    sem_rank: int | None
    bm25: float
    cosine: float
    signals: Mapping[str, Evidence]
    context: str = ""
    span: tuple[int, int] = (0, 0)
    freshness: str = "unknown"
    named: str = ""

    def __repr__(self) -> str:
        named = preview(self.memory.title or self.snippet)
        return f"<Hit {self.rank}: {self.memory.id} “{named}” {self.badges} {self.score:.4f}>"

    @property
    def badges(self) -> str:
        """Return which retrievers found it: ``KW``, ``SEM`` or ``KW+SEM``."""
        found = ("" if self.kw_rank is None else "KW", "" if self.sem_rank is None else "SEM")
        return "+".join(filter(None, found))

    @property
    def title(self) -> str:
        """Return the title of the memory, or its first words; of what was run, also the error that it ended with."""
        error, headline = self.memory.error, self.named or self.memory.headline
        if not error:
            return headline
        return f"{headline} – {'interrupted' if RunError(error, '').is_interruption else 'failed'}: {error}"

    def plain_snippet(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the snippet and its highlights as a reader sees them: Markdown without its marks."""
        if is_markdown(self.memory.kind, self.memory.lang):
            return plain(self.snippet, self.highlights)
        return self.snippet, self.highlights

    def to_json(self) -> dict[str, Any]:
        """Return the hit as JSON values, which the command line, REST and the panel share."""
        memory = self.memory
        ended = {"outcome": memory.outcome, "error": memory.error} if memory.outcome else {}
        return {
            "rank": self.rank,
            "memory_id": memory.id,
            "title": self.named or memory.title,
            "snippet": self.snippet,
            "highlights": [list(span) for span in self.highlights],
            "badges": self.badges,
            "score": _number(self.score),
            "strength": _number(self.strength),
            "kind": memory.kind,
            "tier": memory.tier,
            "source": memory.source,
            "location": self.location,
            "tags": list(memory.tags),
            "event_at": memory.event_at.isoformat(),
            "freshness": self.freshness,
            "thumbnails": memory.thumbnails,
            "kw_rank": self.kw_rank,
            "sem_rank": self.sem_rank,
            "bm25": _number(self.bm25),
            "cosine": _number(self.cosine),
            "signals": {
                name: {"value": _number(seen.value), "rank": seen.rank, "contribution": seen.contribution}
                for name, seen in self.signals.items()
            },
            **ended,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits for a query and how they were found; ``counts`` are memories by retriever before fusion.

    ``timings`` are milliseconds by stage. ``terms`` are the contributions that the profile adds up, in its order, and
    ``judges`` the signals that gave raw values. ``facets`` count every candidate, shown or not, by the values of kind,
    lang, tier and tag, the most frequent first.
    """

    query: Query
    hits: tuple[Hit, ...]
    profile: str
    terms: tuple[str, ...]
    judges: tuple[str, ...]
    counts: Mapping[str, int]
    timings: Mapping[str, float]
    notices: tuple[str, ...]
    query_id: str
    store: str
    strength: float = float("nan")
    verdict: str | None = None
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Answer to “{preview(self.query.text)}”: {count_of(len(self.hits), 'hit')} by {self.profile}>"

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON values, in the shape of ``jupyter-memory search --json``."""
        return {
            "query": self.query.written or self.query.text,
            "verdict": self.verdict,
            "query_class": self.query.query_class,
            "time_range": self.time_range,
            "counts": dict(self.counts),
            "notices": list(self.notices),
            "hits": [hit.to_json() for hit in self.hits],
        }

    @property
    def time_range(self) -> list[str | None] | None:
        """Return ``[since, until]`` as ISO text, or None if the search was not limited in time."""
        bounds = self.query.filters if self.query.time_filters is None else self.query.filters & self.query.time_filters
        if (since := bounds.since) is None and bounds.until is None:
            return None
        return [since.isoformat() if since else None, bounds.until.isoformat() if bounds.until else None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory ranks where it does for a query, or why it is not in the answer at all.

    ``rank`` counts every candidate, not only the answer; it is None if no retriever found the memory. ``reasons`` are
    the main ones, in sentences, and ``details`` are all of them; ``without`` has, by term, the rank that the memory
    would have without the points of the term.
    """

    memory: Memory
    query: str
    profile: str
    rank: int | None
    hit: Hit | None
    reasons: tuple[str, ...]
    without: Mapping[str, int] = field(default_factory=dict)
    details: tuple[str, ...] = ()

    def whole(self) -> Explanation:
        """Return the same with all reasons in place of the main ones."""
        return replace(self, reasons=self.details or self.reasons)

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values, which the command line, REST and the panel share."""
        return {
            "memory_id": self.memory.id,
            "rank": self.rank,
            "hit": None if self.hit is None else self.hit.to_json(),
            "reasons": list(self.reasons),
            "details": list(self.details or self.reasons),
            "without": dict(self.without),
        }

    def __str__(self) -> str:
        return marked("\n".join(self.reasons))

    def __repr__(self) -> str:
        place = "not found" if self.rank is None else f"rank {self.rank}"
        return f"<Explanation of {self.memory.id} for “{preview(self.query)}”: {place} by {self.profile}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def doubt(verdict: str | None) -> str:
    """Return what is said above the hits of an answer with this verdict, nothing where it is sure.

    >>> doubt("strong"), doubt("weak")
    ('', 'It is uncertain whether any of these results answers this.')
    """
    return {"none": UNANSWERED, "weak": UNSURE}.get(verdict or "", "")


def surest(verdicts: Iterable[str | None]) -> str | None:
    """Return the surest of the verdicts of several answers, None where one was not judged.

    >>> surest(["weak", "none"]), surest(["strong", None])
    ('weak', None)
    """
    told = set(verdicts)
    return None if None in told else next((one for one in ("strong", "weak") if one in told), "none")


def _number(value: float) -> float | None:
    return None if value != value else float(value)


@dataclass(frozen=True, slots=True)
class Listed:
    """A memory's place in one list; ``score`` is the list's own: BM25, cosine or the sum of the contributions.

    ``begins`` is the beginning of its text: cells under one heading differ by it.
    """

    memory_id: str
    title: str
    rank: int
    score: float
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """An answer with the lists that it was made from, best first, and what each term of the profile did to its hits.

    ``keyword`` and ``vector`` are the results of the two retrievers, ``fused`` has every candidate in its order.
    ``without`` has, by memory id and term, the rank that a hit of the answer would have without the points of the term.
    """

    answer: Answer
    keyword: tuple[Listed, ...]
    vector: tuple[Listed, ...]
    fused: tuple[Listed, ...]
    without: Mapping[str, Mapping[str, int]]
