"""The four functions of seed system `memini` for lists of your own: fuse, fuse_scores, dedup and rerank.

The profiles `memini` and `memini-rrf` are made of the same terms, signals and numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from jupyter_memory.errors import InputError
from jupyter_memory.search.fusion import MinMax, ReciprocalRank, normalised
from jupyter_memory.search.query.temporal import TOLERANCE_DAYS, temporal_expression
from jupyter_memory.search.signals.metadata import closeness, days_between, importance, quality, recency
from jupyter_memory.types import Memory, Ranking
from jupyter_memory.types.protocols import Term

# The share of the vector retriever in `fuse_scores`, and the constant of `fuse`, whose ranks begin at 0.
ALPHA, RRF_K = 0.5, 5
# What a memory gets at the very time that the query names.
TEMPORAL_BOOST = 0.40


class InList(Protocol):
    """What these functions read of an element of a list: `Hit` and `Scored` have it."""

    @property
    def memory(self) -> Memory: ...

    @property
    def score(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory with a score, higher is better."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class RerankWeights:
    """What each part counts in ``rerank``; only their proportions change the order.

    ``quality`` puts tier, sources, use and age into one number; ``recency`` and ``importance`` are its age and its tier
    by themselves.
    """

    relevance: float = 0.80
    recency: float = 0.0
    importance: float = 0.0
    quality: float = 0.20


@dataclass(frozen=True, slots=True)
class TimeAnchor:
    """A time that a query names: so many days before now, give or take ``tolerance`` days."""

    days: float
    tolerance: float

    def __post_init__(self) -> None:
        if not self.tolerance > 0:
            raise InputError(f"The tolerance of a time is a number of days above 0, not {self.tolerance!r}.")


# Resolves the time that a query names, as of a moment; None where it names none.
AnchorExtractor = Callable[[str, datetime], TimeAnchor | None]


def fuse(lists: Iterable[Sequence[InList]], limit: int | None = None, *, k: float = RRF_K) -> list[Scored]:
    """Fuse lists by reciprocal rank: a memory's score is the sum over the lists of ``1 / (k + rank)``, ranks from 0.

    The scores of the lists are not read, their order is. A memory that is in a list twice counts where it is first.
    """
    if not k > 0:
        raise InputError(f"k must be above 0, so that the first rank has a value; it was {k!r}.")
    term = ReciprocalRank("list", 1.0, k=k - 1)  # its ranks begin at 1
    return _sum(lists, lambda place: term, lambda place, one: -float(place), limit)


def fuse_scores(
    lists: Iterable[Sequence[InList]], weights: Sequence[float] = (), limit: int | None = None
) -> list[Scored]:
    """Fuse lists by their scores, scaled in each list so that the best is 1 and the worst 0, and added up.

    Unlike ``fuse`` it keeps how far a hit stands out. Where all scores of a list are equal, each counts as 1. Equal
    sums stay in the order in which they were first seen.
    """
    terms = [MinMax("list", float(weight)) for weight in weights]
    plain = MinMax("list", 1.0)
    return _sum(lists, lambda place: terms[place] if place < len(terms) else plain, lambda place, one: one.score, limit)


def dedup(results: Iterable[InList], limit: int | None = None) -> list[Scored]:
    """Drop what says the same as an earlier result, whatever its case, white space and last punctuation."""
    kept: dict[str, Scored] = {}
    for one in results:
        kept.setdefault(normalised(one.memory.text), Scored(one.memory, one.score))
    return _first(kept.values(), limit)


def rerank(
    results: Sequence[InList],
    query: str = "",
    *,
    now: datetime | None = None,
    weights: RerankWeights = RerankWeights(),
    anchor: AnchorExtractor | None = None,
    boost: float = TEMPORAL_BOOST,
) -> list[Scored]:
    """Score results anew by relevance, quality, and the time that the query names; the best first.

    Relevance is a result's score divided by the best one. A memory near the time that ``query`` names gets up to
    ``boost`` on top; without a query that names one, the result is the plain re-ranking. Equal scores keep their order.
    """
    moment = datetime.now(UTC) if now is None else now.astimezone(UTC)
    best = max((one.score for one in results), default=0.0)
    sources: dict[str, set[str]] = defaultdict(set)
    for result in results:
        sources[normalised(result.memory.text)].add(result.memory.source)
    named = (anchor or _anchor_in)(query, moment) if query and boost > 0 else None

    def score(one: InList) -> float:
        memory = one.memory
        relevant = one.score / best if best > 0 else one.score
        fresh = recency(memory.event_at, moment)
        value = weights.relevance * relevant + weights.recency * fresh + weights.importance * importance(memory)
        value += weights.quality * quality(memory, len(sources[normalised(memory.text)]) - 1, fresh)
        if named is not None:
            value += boost * closeness(days_between(moment, memory.event_at), named.days, named.tolerance)
        return value

    return _best_first([Scored(one.memory, score(one)) for one in results])


def _anchor_in(query: str, now: datetime) -> TimeAnchor | None:
    # In plain English; of a range, its middle.
    found = temporal_expression(query, now)
    if found is None or found.target is None or found.unit not in TOLERANCE_DAYS:
        return None
    return TimeAnchor(days_between(now, found.target), TOLERANCE_DAYS[found.unit])


def _sum(
    lists: Iterable[Sequence[InList]],
    term_of: Callable[[int], Term],
    value_of: Callable[[int, InList], float],
    limit: int | None,
) -> list[Scored]:
    totals: dict[str, float] = {}
    memories: dict[str, Memory] = {}
    for number, one_list in enumerate(lists):
        values: dict[str, float] = {}
        for place, one in enumerate(one_list):
            memories.setdefault(one.memory.id, one.memory)
            values.setdefault(one.memory.id, value_of(place, one))
        ids = list(values)
        for at, value in term_of(number).contributions(Ranking(dict(enumerate(values.values())))).items():
            totals[ids[at]] = totals.get(ids[at], 0.0) + value
    return _first(_best_first([Scored(memories[id_], total) for id_, total in totals.items()]), limit)


def _best_first(results: list[Scored]) -> list[Scored]:
    return sorted(results, key=lambda one: -one.score)


def _first(results: Iterable[Scored], limit: int | None) -> list[Scored]:
    found = list(results)
    return found if limit is None or limit <= 0 else found[:limit]
