"""A query, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from math import nan
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from jupyter_memory.text.display import count_of, preview
from jupyter_memory.text.languages import Prose
from jupyter_memory.text.markdown import is_markdown, plain
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.memory import Memory

FACETS = ("tag", "kind", "tier", "path", "lang", "space", "session")  # what memories are filtered by, apart from time
LONGEST_QUERY = 20_000  # characters: documents arrive by copy and paste; the server's schemas have the same
PARTS, OUTCOMES = ("code", "output", "text"), ("ok", "error")  # of a memory, and of a run or a cell
QueryClass = Literal["keyword", "balanced", "semantic"]
OWN = "own"  # the store of a person's settings, among others


@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must match to be searched: any value of each facet, and every facet."""

    tag: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    path: tuple[str, ...] = ()  # a file, a folder (everything below it) or the start of a source
    lang: tuple[str, ...] = ()
    space: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    since: datetime | None = None  # since <= event_at < until
    until: datetime | None = None
    as_of: datetime | None = None  # stored_at <= as_of
    not_tag: tuple[str, ...] = ()  # a memory with any of these is left out
    not_kind: tuple[str, ...] = ()
    not_tier: tuple[str, ...] = ()
    not_path: tuple[str, ...] = ()
    not_lang: tuple[str, ...] = ()
    not_space: tuple[str, ...] = ()
    not_session: tuple[str, ...] = ()
    not_word: tuple[str, ...] = ()
    source: tuple[str, ...] = ()  # what parts of paths mean, where that is too much for ``path``: exactly these
    not_source: tuple[str, ...] = ()
    # What no index answers; a search reads the texts that the rest leaves, and writes the keys into ``only``.
    part: tuple[str, ...] = ()
    not_part: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    not_outcome: tuple[str, ...] = ()
    regex: tuple[str, ...] = ()  # each must match
    only: tuple[int, ...] | None = None
    also: Filters | None = None  # which must match as well

    def __bool__(self) -> bool:
        return self != _NO_FILTERS

    def names(self, facet: str) -> bool:
        return getattr(self, facet) not in ((), None) or (self.also is not None and self.also.names(facet))

    def meaning(self, facets: Iterable[str], of: Callable[[str, str], Iterable[str]]) -> Filters:
        """Return these filters, and those in ``also``, with ``of(facet, value)`` for each value of some facets."""
        meant: dict[str, Any] = {
            facet: tuple(dict.fromkeys(one for value in getattr(self, facet) for one in of(facet, value)))
            for facet in facets
        }
        return replace(self, **meant, also=self.also and self.also.meaning(facets, of))

    def __and__(self, other: Filters) -> Filters:
        # What both match: neither widens the other.
        if not self or not other:
            return self or other
        facets = (*FACETS, "source", "part", "outcome")
        if any(getattr(self, facet) and getattr(other, facet) for facet in facets) or (
            (self.also and other.also) or None not in (self.only, other.only)
        ):
            # If both name tags, each must match: they cannot be one set of values.
            return replace(other, also=self if other.also is None else self & other.also)
        merged = {f.name: getattr(self, f.name) or getattr(other, f.name) for f in fields(self)}
        for name in ("regex", *(f.name for f in fields(self) if f.name.startswith("not_"))):
            merged[name] = (*getattr(self, name), *getattr(other, name))
        merged["only"] = other.only if self.only is None else self.only
        for bound, narrower in (("since", max), ("until", min), ("as_of", min)):
            both = [value for value in (getattr(self, bound), getattr(other, bound)) if value is not None]
            merged[bound] = narrower(both) if both else None
        return Filters(**merged)


_NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions that a query names, both ends included."""

    first: int
    last: int | None  # None: all that follow
    from_newest: bool = False  # counted backwards: 1 is the newest, and ``first`` the older end

    def among(self, newest: int) -> tuple[int, int]:
        """Return the first and the last number, given the number of the newest session.

        >>> Sessions(20, 20, from_newest=True).among(20), Sessions(2, None).among(9)
        ((1, 1), (2, 9))
        """
        last = newest if self.last is None else self.last
        return (newest + 1 - self.first, newest + 1 - last) if self.from_newest else (self.first, last)


@dataclass(frozen=True, slots=True)
class TemporalExpression:
    """A time, or sessions, that a query names in plain English at ``text[start:end]``."""

    start: int
    end: int
    phrase: str
    sure: float  # in 0..1: how certainly the words mean this
    since: datetime | None = None  # since <= t < until in UTC, None: open, around the target
    until: datetime | None = None
    target: datetime | None = None
    unit: str = ""  # day, week, month or year: how exactly it is meant
    sessions: Sessions | None = None  # in place of a time


@dataclass(frozen=True, slots=True)
class WordForms:
    """What a store holds of a word in its other forms."""

    word: str
    inflected: tuple[str, ...] = ()  # forms of the word itself, which count as it does
    compounds: tuple[str, ...] = ()  # stems of longer words that contain it, which count less
    parts: tuple[str, ...] = ()  # stems of the words that it is put together from, likewise


@dataclass(frozen=True, slots=True)
class Terms:
    """What the keyword retriever looks for; one match is enough."""

    words: tuple[str, ...] = ()  # these and the phrases are matched in the columns of the profile
    phrases: tuple[str, ...] = ()
    ident: tuple[str, ...] = ()  # CJK bigrams, parts of identifiers: matched in the column of that name
    prefix: str | None = None  # what a person is still typing matches every word that begins with it
    respelled: tuple[str, ...] = ()  # stems tried, at half the weight, for words that the store does not have
    forms: tuple[WordForms, ...] = ()  # of those words that have other forms in the store

    @property
    def compounded(self) -> tuple[str, ...]:
        """Return the stems of compounds with its words, and of the parts of compounds among them."""
        return tuple(dict.fromkeys(stem for one in self.forms for stem in (*one.compounds, *one.parts)))

    def __bool__(self) -> bool:
        return bool(self.words or self.phrases or self.ident or self.prefix or self.respelled)


@dataclass(frozen=True, slots=True)
class Query:
    """A query with everything that its answer depends on; the same query always has the same answer."""

    text: str  # what is searched for
    now: datetime
    terms: Terms
    query_class: QueryClass
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    tags: tuple[str, ...] = ()
    domain: str | None = None
    time: bool = True  # whether words such as "last week" are read as a time
    temporal: TemporalExpression | None = None
    written: str = ""  # all that was typed, with the filters
    time_filters: Filters | None = None  # what the time that it names means in this store
    language: Prose | None = None  # whose function words say nothing; None: English
    notices: tuple[str, ...] = ()  # how its filters were read
    described: Mapping[tuple[str, str], str] = field(default_factory=dict)  # folders, by their spaces and paths
    left_out: tuple[str, ...] = ()  # the hidden folders that its filters do not name

    @property
    def within(self) -> Filters:
        """Return the filters, without the folders that are left out."""
        return self.filters & Filters(not_path=self.left_out)


def address(store: str, memory_id: str) -> str:
    """Return how a memory of a store on the list is named: ``team:ID``, the id alone if the store is your own."""
    return memory_id if store in ("", OWN) else f"{store}:{memory_id}"


def parted(address: str) -> tuple[str, str]:
    """Return the store, empty for your own, and the id there that an address names."""
    store, _, memory_id = address.rpartition(":")
    return store, memory_id


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
        places = dict(zip(sorted(self.scores.values()), range(len(self), 0, -1), strict=True))
        return {key: places[score] for key, score in self.scores.items()}

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.scores)


class ScoredChunk(NamedTuple):
    """A memory that a retriever found by its best chunk, by their keys; a higher score is better."""

    memory: int
    chunk: int
    score: float


class Candidate(NamedTuple):
    """A memory of the pool with its best chunk, as signals and the answer see it."""

    key: int
    memory: Memory
    chunk: int
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one signal or retriever says of a hit, and what it adds to the score."""

    value: float
    rank: int | None
    contribution: float


# What an answer says whose verdict is "none", and one whose verdict is "weak"; the panel says the same (`labels.ts`).
UNANSWERED = "Nothing here seems to answer this. These are the closest results."
UNSURE = "The results may answer this."
# What one says without hits: that nothing is stored yet, and that nothing stored matches the query.
EMPTY = "This store is empty. Add files with `index`, or a note with `add`."
NO_MATCH = "No memory contains these words or comes close to their meaning. Try other words, or index more files."
NO_MATCH_FILTERED = "No memory that matches the filters contains these words or comes close to their meaning."
AS_OF = "This is what was stored by {:%Y-%m-%d %H:%M}, unless changed or forgotten since: only runs keep earlier texts."
NONE_ALIKE = "Nothing else here is like this memory."


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory in an answer, with the reason for every point of its score."""

    rank: int
    memory: Memory
    snippet: str
    highlights: tuple[tuple[int, int], ...]  # ``[start, end)`` in code points of the snippet
    location: str
    score: float = nan  # the sum of the contributions of its signals, NaN where nothing was ranked
    strength: float = nan  # in 0..1, NaN until it is calibrated
    kw_rank: int | None = None  # None where the retriever did not find it
    sem_rank: int | None = None
    bm25: float = nan  # raw, higher is better, NaN where there is none; so is the cosine
    cosine: float = nan
    signals: Mapping[str, Evidence] = field(default_factory=dict)
    context: str = ""  # the headings that lead down to it, without what the title says: ``Prices > Cleaning``
    # Where the words of the query are thickest in the text, else the best chunk; ``(0, 0)``: nothing was compared.
    span: tuple[int, int] = (0, 0)
    # Of its file: ``current``, ``changed`` or ``gone``; ``unknown`` without one, or where its drive is not connected.
    freshness: str = "unknown"
    named: str = ""  # the title of a cell by its own heading, the nearest one that says something, or what it defines
    validity: str = ""  # where it does not hold at the time of the search: ``not valid after 2026-03-31``
    store: str = ""  # the name of its store, where several were searched
    folder_description: str = ""  # of the nearest folder above it that has one

    def __repr__(self) -> str:
        named = preview(self.memory.title or self.snippet)
        return f"<Hit {self.rank}: {self.memory.id} “{named}” {self.badges} {self.score:.4f}>"

    @property
    def address(self) -> str:
        """Return the id of the memory, behind the name of its store if that is another than your own: ``team:ID``."""
        return address(self.store, self.memory.id)

    @property
    def badges(self) -> str:
        """Return which retrievers found it: ``KW``, ``SEM`` or ``KW+SEM``."""
        found = ("" if self.kw_rank is None else "KW", "" if self.sem_rank is None else "SEM")
        return "+".join(filter(None, found))

    @property
    def title(self) -> str:
        """Return the title of the memory, or its first words, and what speaks against it: its error, its validity."""
        return " – ".join(filter(None, (self.named or self.memory.headline, self.memory.failure, self.validity)))

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
            "event_at": memory.dated and memory.dated.isoformat(),
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
            **({"validity": self.validity} if self.validity else {}),
            **({"store": self.store} if self.store else {}),
            **({"folder_description": self.folder_description} if self.folder_description else {}),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits for a query and how they were found."""

    query: Query
    hits: tuple[Hit, ...]
    profile: str
    terms: tuple[str, ...]  # the contributions that the profile adds up, in its order
    judges: tuple[str, ...]  # the signals that gave raw values
    counts: Mapping[str, int]  # memories by retriever before fusion
    timings: Mapping[str, float]  # milliseconds by stage
    notices: tuple[str, ...]
    query_id: str
    store: str
    embedder: str = ""  # the fingerprint of the model that compared meaning; empty where words alone were
    strength: float = nan
    verdict: str | None = None
    # Every candidate, shown or not, by the values of kind, lang, tier and tag, the most frequent first.
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    stores: Mapping[str, str] = field(default_factory=dict)  # where each store is, if several were searched

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

    def of_store(self, name: str) -> Answer:
        """Return it as the answer of this store of the list."""
        hits = tuple(replace(hit, store=name) for hit in self.hits)
        return replace(self, hits=hits, stores={name: self.store}) if name else self

    def addressed(self) -> Answer:
        """Return it with ids that lead to their stores: ``team:ID``, for those who know a memory by one word."""
        hits = tuple(replace(hit, memory=replace(hit.memory, id=hit.address)) for hit in self.hits)
        return replace(self, hits=hits)

    @property
    def time_range(self) -> list[str | None] | None:
        """Return ``[since, until]`` as ISO text, of the filters or of the time that the query names, or None."""
        bounds = self.query.filters if self.query.time_filters is None else self.query.filters & self.query.time_filters
        if (since := bounds.since) is None and bounds.until is None:
            return None
        return [since.isoformat() if since else None, bounds.until.isoformat() if bounds.until else None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory ranks where it does for a query, or why it is not in the answer at all."""

    memory: Memory
    query: str
    profile: str
    rank: int | None  # among all candidates; None if no retriever found it
    hit: Hit | None
    reasons: tuple[str, ...]  # the main ones, in sentences
    without: Mapping[str, int] = field(default_factory=dict)  # by term, its rank without the points of the term
    details: tuple[str, ...] = ()  # all reasons

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


def told(verdict: str | None) -> str:
    """Return what is said above the hits of an answer with this verdict.

    >>> told("strong"), told("weak"), told(None)
    ('found', 'perhaps · The results may answer this.', '')
    """
    said = {"strong": "found", "weak": f"perhaps · {UNSURE}", "none": f"not found · {UNANSWERED}"}
    return said.get(verdict or "", "")


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
    memory_id: str
    title: str
    rank: int
    score: float  # the list's own: BM25, cosine or the sum of the contributions
    begins: str = ""  # of its text: cells under one heading differ by it


@dataclass(frozen=True, slots=True)
class Trace:
    """An answer with the lists that it was made from, best first: of each retriever, and of every candidate."""

    answer: Answer
    keyword: tuple[Listed, ...]
    vector: tuple[Listed, ...]
    fused: tuple[Listed, ...]
    without: Mapping[str, Mapping[str, int]]  # by memory id and term, the rank of a hit without the points of the term
