"""What a search returns: hits, the answer, why a memory ranks where it does, and the lists behind the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jupyter_memory.text.layout import count_of, preview
from jupyter_memory.text.rendering.markdown import is_markdown, plain
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.memory import Memory
from jupyter_memory.types.query import Query
from jupyter_memory.types.ranking import Evidence
from jupyter_memory.types.run import RunError

# What an answer says whose verdict is "none", and one whose verdict is "weak".
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

    def __repr__(self) -> str:
        named = preview(self.memory.title or self.snippet)
        return f"<Hit {self.rank}: {self.memory.id} “{named}” {self.badges} {self.score:.4f}>"

    @property
    def badges(self) -> str:
        """Return which retrievers found it: ``KW``, ``SEM`` or ``KW+SEM``."""
        found = (("KW", self.kw_rank), ("SEM", self.sem_rank))
        return "+".join(name for name, rank in found if rank is not None)

    @property
    def title(self) -> str:
        """Return the title of the memory, or its first words; of what was run, also the error that it ended with."""
        memory = self.memory
        if not memory.error:
            return memory.headline
        how = "interrupted" if RunError(memory.error, "").is_interruption else "failed"
        return f"{memory.headline} – {how}: {memory.error}"

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
        since, until = bounds.since, bounds.until
        if since is None and until is None:
            return None
        return [since.isoformat() if since else None, until.isoformat() if until else None]


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
    """JSON has no NaN."""
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
