"""The words of the house: memories, chunks, queries, rankings and hits, as frozen values."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

KINDS = ("note", "file", "cell", "history")
TIERS = ("core", "file", "mcp", "note")
SEVERITIES = ("critical", "warning", "suggestion")
# What memories are filtered by, besides their time.
FACETS = ("tag", "kind", "tier", "path", "lang", "space", "session")

QueryClass = Literal["keyword", "balanced", "semantic"]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing remembered: a note, a file, a history entry or one notebook cell.

    ``tier`` is the one shown: ``core`` while the memory is pinned, else the tier it was stored with. Times are
    aware and in UTC; ``event_at`` is when it happened (for a file its modification time), ``indexed_at`` when it
    was stored. ``location`` is a cell id, ``#index`` of a cell without one, or empty.
    """

    id: str
    text: str
    title: str
    kind: str
    tier: str
    pinned: bool
    space: str
    source: str
    location: str
    lang: str
    tags: tuple[str, ...]
    severity: str | None
    domain: str | None
    event_at: datetime
    indexed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    session: str | None
    content_hash: str
    metadata: Mapping[str, Any]
    accessed: int = 0

    def __repr__(self) -> str:
        # The whole text may be a book.
        return f"<Memory {self.id}: {self.kind} “{_begun(self.title or self.text)}”>"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a memory's text: ``text == memory.text[start:end]``, with what places it in its document.

    ``line`` is the 1-based line on which it begins in its source. ``context`` is the structural prefix (document
    name, heading path, the Markdown just above a code cell, weekday and date); it is indexed and embedded with
    the text, never shown as part of it.
    """

    start: int
    end: int
    context: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way into the store: what ingestion hands over, before it has an id."""

    text: str
    title: str = ""
    kind: str = "note"
    tier: str = "note"
    pinned: bool = False
    space: str = ""
    source: str = ""
    location: str = ""
    lang: str = ""
    tags: tuple[str, ...] = ()
    severity: str | None = None
    domain: str | None = None
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    context: str = ""
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must be to be searched at all: any value within a facet, every facet together.

    ``path`` holds a file, a folder (everything below it) or the start of a source. ``since`` and ``until`` bound
    the event time: ``since <= event_at < until``. A memory that has a value of ``not_tag`` … ``not_session`` is left
    out, and so is one that holds a word of ``not_word``; one without any tag, session or language has none of those.
    ``also`` are filters that must hold as well.
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
        """Return whether anything is asked of a facet, here or in ``also``."""
        return getattr(self, facet) not in ((), None) or (self.also is not None and self.also.names(facet))

    def __and__(self, other: Filters) -> Filters:
        """Return filters that let through what both do: one never widens the other."""
        if not self or not other:
            return self or other
        if any(getattr(self, facet) and getattr(other, facet) for facet in FACETS) or (self.also and other.also):
            # Two tags that are both asked for cannot be one set of values.
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

    With ``from_newest`` they are counted back: 1 is the newest session, ``first`` the older end.
    """

    first: int
    last: int | None
    from_newest: bool = False

    def among(self, newest: int) -> tuple[int, int]:
        """Return the first and the last number, where the newest session has the number ``newest``.

        >>> Sessions(20, 20, from_newest=True).among(20), Sessions(2, None).among(9)
        ((1, 1), (2, 9))
        """
        last = newest if self.last is None else self.last
        return (newest + 1 - self.first, newest + 1 - last) if self.from_newest else (self.first, last)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time, or sessions, that a query names in plain English at ``text[start:end]``.

    A time is the range ``since <= t < until`` in UTC (None: open) around its ``target``; ``unit`` (day, week, month,
    year) says how exactly it is meant. ``sure`` in 0..1 is how certain it is that the words mean this. Either the
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
class Terms:
    """What the keyword leg looks for: words, quoted phrases and CJK bigrams, any of them enough.

    ``words`` and ``phrases`` are matched in the columns of the profile; ``ident`` (bigrams, parts of identifiers)
    only in the column of that name. ``prefix`` is the word that a person is still typing: every word that begins so.
    ``respelled`` are the stems tried, at half the weight, for words that the store does not hold.
    """

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    ident: tuple[str, ...] = ()
    prefix: str | None = None
    respelled: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self.words or self.phrases or self.ident or self.prefix or self.respelled)


@dataclass(frozen=True, slots=True)
class Query:
    """A question with everything that its answer may depend on; the same query always has the same answer.

    ``text`` is what is searched for; ``written`` is all that was typed, typed filters too. ``anchor`` is the time that
    the text names, and ``then`` what that comes to in this store.
    """

    text: str
    now: datetime
    terms: Terms
    query_class: QueryClass
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    tags: tuple[str, ...] = ()
    domain: str | None = None
    anchor: Anchor | None = None
    written: str = ""
    then: Filters | None = None


@dataclass(frozen=True, eq=False)
class Ranking(Generic[Key]):
    """Scores by key, higher is better; ranks follow, and equal scores share one.

    >>> Ranking({"b": 0.5, "a": 0.9, "c": 0.5, "d": 0.1}).ranks
    {'a': 1, 'b': 2, 'c': 2, 'd': 4}
    """

    scores: Mapping[Key, float]

    @cached_property
    def ranks(self) -> dict[Key, int]:
        """Return 1-based competition ranks (1, 2, 2, 4), best first."""
        ranks: dict[Key, int] = {}
        previous, rank = None, 0
        for place, (key, score) in enumerate(sorted(self.scores.items(), key=lambda kv: -kv[1]), start=1):
            if score != previous:
                previous, rank = score, place
            ranks[key] = rank
        return ranks

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.scores)


@dataclass(frozen=True, slots=True)
class Found:
    """A memory brought by a leg through its best chunk; keys are the store's integers, ``score`` higher is better."""

    memory: int
    chunk: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory of the pool as signals and the answer see it: with the chunk that spoke best for it."""

    key: int
    memory: Memory
    chunk: int
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one signal or leg said of a hit: its raw value, the rank of that, and what it added to the score."""

    value: float
    rank: int | None
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, with the reason for every point of its score.

    ``score`` is the sum of the contributions of ``signals``. ``highlights`` are ``[start, end)`` ranges in code
    points of ``snippet``. ``bm25`` and ``cosine`` are raw, higher is better, NaN where there is none; a leg that did
    not bring the memory leaves its rank None. ``strength`` is in 0..1, NaN until it is calibrated. ``context`` has the
    headings that lead down to it, outermost first, ``Prices > Cleaning``, without what the title says already.
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

    def __repr__(self) -> str:
        named = _begun(self.memory.title or self.snippet)
        return f"<Hit {self.rank}: {self.memory.id} “{named}” {self.badges} {self.score:.4f}>"

    @property
    def badges(self) -> str:
        """Return which legs found it: ``KW``, ``SEM`` or ``KW+SEM``."""
        found = (("KW", self.kw_rank), ("SEM", self.sem_rank))
        return "+".join(name for name, rank in found if rank is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the hit as JSON values: what the command line, REST and the panel share."""
        memory = self.memory
        return {
            "rank": self.rank,
            "memory_id": memory.id,
            "title": memory.title,
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
            "kw_rank": self.kw_rank,
            "sem_rank": self.sem_rank,
            "bm25": _number(self.bm25),
            "cosine": _number(self.cosine),
            "signals": {
                name: {"value": _number(seen.value), "rank": seen.rank, "contribution": seen.contribution}
                for name, seen in self.signals.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits for a query and how they came about; ``counts`` are memories by leg before fusion.

    ``timings`` are milliseconds by stage. ``profile`` names the recipe; ``terms`` are the contributions it adds up,
    in its order, and ``judges`` the signals that gave raw values. ``facets`` count every candidate, shown or not, by
    the values of kind, lang, tier and tag, the most frequent first.
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
        return f"<Answer to “{_begun(self.query.text)}”: {_counted(len(self.hits), 'hit')} by {self.profile}>"

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
        """Return ``[since, until]`` as ISO text, or None where the search was not bound in time."""
        bounds = self.query.filters if self.query.then is None else self.query.filters & self.query.then
        since, until = bounds.since, bounds.until
        if since is None and until is None:
            return None
        return [since.isoformat() if since else None, until.isoformat() if until else None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory is where it is for a query, or why it is not in the answer at all.

    ``rank`` counts over every candidate of the pool, not only the answer; it is None when no leg brought the
    memory. ``reasons`` are sentences; ``without`` has, by term, the rank that it would have without the term's points.
    """

    memory: Memory
    query: str
    profile: str
    rank: int | None
    hit: Hit | None
    reasons: tuple[str, ...]
    without: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(self.reasons)

    def __repr__(self) -> str:
        place = "not found" if self.rank is None else f"rank {self.rank}"
        return f"<Explanation of {self.memory.id} for “{_begun(self.query)}”: {place} by {self.profile}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What indexing did. ``failed`` pairs a path with the reason; counts are files but for ``cells`` (memories)."""

    files: int = 0
    cells: int = 0
    unchanged: int = 0
    forgotten: int = 0
    redacted: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    moved: int = 0

    def __str__(self) -> str:
        counted = f"{_counted(self.files, 'file')} indexed ({_counted(self.cells, 'memory', 'memories')})"
        parts = [counted, f"{self.unchanged:,} unchanged"]
        if self.forgotten:
            parts.append(f"{_counted(self.forgotten, 'deleted file')} forgotten")
        if self.moved:
            parts.append(f"{_counted(self.moved, 'moved file')} recognised")
        if self.redacted:
            parts.append(f"{_counted(self.redacted, 'secret')} redacted")
        if self.skipped:
            parts.append(f"{len(self.skipped):,} skipped")
        if self.failed:
            parts.append(f"{len(self.failed):,} failed")
        lines = [", ".join(parts) + f" in {self.seconds:.1f} s"]
        lines += [f"  skipped {path}: {why}" for path, why in self.skipped]
        lines += [f"  failed  {path}: {why}" for path, why in self.failed]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<IndexReport: {str(self).splitlines()[0]}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # A folder may hold thousands of files that are skipped: `skipped` and `failed` have them all.
        lines = str(self).splitlines()
        printer.text("\n".join([*lines[:21], *([f"  … and {len(lines) - 21} more"] if len(lines) > 21 else [])]))


def as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one string or several as a tuple, so that ``tags="a"`` means what it says."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _begun(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[:300].split())
    return line if len(line) <= 60 and len(text) <= 300 else line[:59].rstrip() + "…"


def _counted(number: int, thing: str, things: str = "") -> str:
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if value != value else float(value)
