"""The pipeline of a search: rewrite, retrieve, score, fuse, post-process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from time import perf_counter

from jupyter_memory.search.context import (
    RETRIEVERS,
    CandidatePool,
    Retrieved,
    Samples,
    SearchContext,
    VectorQuery,
    retrieve,
)
from jupyter_memory.search.fusion import Column, Fused, Ranked, Table, best_first, normalised
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.search.query.parser import missing_phrases
from jupyter_memory.search.query.temporal import notice_of
from jupyter_memory.search.query.terms import inflected, respelled
from jupyter_memory.search.signals.semantic import MaxSim, words_count
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.types import Candidate, Filters, Query, Ranking

_NUMBER = re.compile(r"\d+")
# Kernels have sessions too, but nobody counts these.
_TALK = Filters(not_kind=("history",))


def rewrite(query: Query, snapshot: Snapshot, profile: Profile) -> tuple[Query, tuple[str, ...]]:
    """Return the query with what depends on the store filled in, and notices; only a timed profile asks for that."""
    if not profile.timed:
        return query, ()
    query, spellings = respelled(inflected(query, snapshot), snapshot, profile.columns)
    notices = (*spellings, *missing_phrases(query.terms, snapshot, profile.columns))
    if query.temporal is None:
        return query, notices
    if query.temporal.sessions is None:
        then = Filters(since=query.temporal.since, until=query.temporal.until)
    else:
        named = snapshot.sessions(query.filters & _TALK)
        numbers = {name: int(found[0]) for name in named if (found := _NUMBER.findall(name)[-1:])}
        if not numbers:
            return query, notices
        first, last = query.temporal.sessions.among(max(numbers.values()))
        then = Filters(session=tuple(name for name, number in numbers.items() if first <= number <= last) or ("",))
    empty = not snapshot.exists(query.filters & then)
    return replace(query, time_filters=then), (*notices, notice_of(query.temporal, empty=empty))


# search(query, profile, snapshot, …): rewrite, retrieve (`search/context`), score (`search/signals`), fuse and
# post-process (`search/fusion`). What explains a score is what made it: every door reads the same evidence.


@dataclass(frozen=True, slots=True)
class Scored:
    """What the retrievers found and the signals said: all that a score is made of, before anything is fused.

    ``hybrid`` tells whether the vector retriever took part; ``guarded`` whether so few memories match the words that
    the profile shows all of them.
    """

    context: SearchContext
    rankings: Mapping[str, Ranking[int]]
    hybrid: bool
    guarded: bool
    timings: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Result:
    """Every candidate in order, what each retriever found, and milliseconds by stage.

    ``limit`` is how many to show: the query's, unless the profile shows more. ``duplicates`` maps candidates that are
    left out to the one that says the same.
    """

    ranked: Sequence[Ranked]
    retrieved: Retrieved
    timings: Mapping[str, float]
    limit: int
    duplicates: Mapping[int, int]
    scored: Scored
    notices: tuple[str, ...] = ()

    @property
    def query(self) -> Query:
        """Return the query as this store understands it."""
        return self.scored.context.query


def search(
    query: Query,
    profile: Profile,
    snapshot: Snapshot,
    samples: Samples,
    vector_query: VectorQuery | None,
    exclude: int | None = None,
    *,
    asked: bool = True,
) -> Result:
    """Rank the memories of a store for a query, as if that of the key ``exclude`` and its copies were not there.

    ``asked`` tells a question from a query that was made of a memory or a text. If its words help little, and the
    profile knows that, matches below the threshold are ranked, too.
    """
    query, notices = rewrite(query, snapshot, profile)
    clock = Clock()
    gather = partial(_gathered, query, profile, snapshot, samples, exclude, asked, clock)
    context, guarded, copies = gather(vector_query)
    if vector_query is not None and _needs_more(context, vector_query, profile):
        context, guarded, copies = gather(replace(vector_query, threshold=None))
    if copies:
        are = "1 memory with the same text is" if copies == 1 else f"{copies:,} memories with the same text are"
        notices = (*notices, f"{are} not shown.")
    clock.lap("pool")
    rankings: dict[str, Ranking[int]] = {}
    for name, ones in context.retrieved.items():
        rankings[name] = Ranking({one.memory: one.score for one in ones})
    for signal in profile.signals:
        # NaN is "no value": such a memory has no place in the signal's ranking.
        values = {key: value for key, value in signal(query, context).items() if value == value}
        rankings[signal.name] = Ranking(values)
    clock.lap("rank")
    return fuse(Scored(context, rankings, vector_query is not None, guarded, clock.laps), profile, notices)


def _gathered(
    query: Query,
    profile: Profile,
    snapshot: Snapshot,
    samples: Samples,
    exclude: int | None,
    asked: bool,
    clock: Clock,
    vector_query: VectorQuery | None,
) -> tuple[SearchContext, bool, int]:
    # The candidates, whether so few match that all are shown, and how many copies of ``exclude`` are left out.
    columns, count, depth = profile.columns, profile.fetches(query.limit), profile.fetch(query.limit)
    searched = [query.filters]
    if profile.apart:
        of_kind = query.filters & Filters(kind=(profile.apart,))
        if snapshot.exists(of_kind):
            searched = [query.filters & Filters(not_kind=(profile.apart,)), of_kind]
    parts = []
    for filters in searched:
        parts.append(retrieve(query, filters, snapshot, columns, vector_query, count, exclude, clock.lap))
    matches = sum(len(part["keyword"]) for part in parts)
    guarded = matches < profile.small_corpus and query.limit < matches / 2
    if profile.small_corpus and not guarded:
        # More was fetched than the profile ranks, only to see how many memories match.
        parts = [{name: found[:depth] for name, found in part.items()} for part in parts]
    retrieved: Retrieved = parts[0]
    if len(parts) > 1:
        # No memory is in two of them.
        retrieved = {
            name: sorted(chain(*(part[name] for part in parts)), key=lambda one: -one.score) for name in RETRIEVERS
        }
    # The keyword retriever's chunk represents a memory that both found: its snippet shows the words.
    chunks = {one.memory: one.chunk for name in reversed(RETRIEVERS) for one in retrieved[name]}
    cosines = {one.memory: one.score for one in retrieved["vector"]}
    if vector_query is not None:
        unknown = [key for key in chunks if key not in cosines]
        cosines |= snapshot.cosines(vector_query.model, vector_query.vector, unknown)
    memories = snapshot.memories(list(chunks))
    found = [Candidate(key, memories[key], chunk, cosines.get(key)) for key, chunk in chunks.items()]
    copies = set[int]()
    if exclude is not None:
        said = normalised(snapshot.texts([exclude])[exclude])
        copies = {one.key for one in found if normalised(one.memory.text) == said}
        found = [one for one in found if one.key not in copies]
        retrieved = {name: [one for one in ones if one.memory not in copies] for name, ones in retrieved.items()}
    pool = CandidatePool(found, snapshot)
    context = SearchContext(query, pool, retrieved, vector_query, asked, snapshot, samples, columns)
    return context, guarded, len(copies)


def _needs_more(context: SearchContext, vector_query: VectorQuery, profile: Profile) -> bool:
    # Whether the threshold cut off what words do not replace.
    few = len(context.retrieved["vector"]) < profile.fetch(context.query.limit)
    cut = few and vector_query.threshold is not None
    if not (cut and context.asked) or vector_query.strict or MaxSim() not in profile.signals:
        return False
    return not context.candidates or words_count(context) < 1


def fuse(scored: Scored, profile: Profile, notices: tuple[str, ...] = ()) -> Result:
    """Return the result of what was scored, by a profile that differs at most in its terms and post-processors."""
    clock, context = Clock(), scored.context
    fused = contributions(scored, profile)
    for process in profile.steps:
        fused = process(fused)
    rankings, order = scored.rankings, dict(scored.rankings)
    # Signals that give a retriever's score to all candidates, and are shown under its name. Every signal is asked in
    # every search: `isinstance` with a protocol takes a hundred times as long.
    completing = {one.name: retriever for one in profile.signals if (retriever := getattr(one, "completes", None))}
    order |= {name: rankings[retriever] for name, retriever in completing.items()}
    for signal in profile.signals:
        if getattr(signal, "lower_is_better", False):
            order[signal.name] = Ranking({key: -value for key, value in rankings[signal.name].scores.items()})
    reads = {term.name: term.reads or term.name for term in profile.terms_for(scored.hybrid)}
    reads |= {one.name: one.name for one in profile.signals if one.name not in reads | completing}
    columns = [
        Column(name, rankings[of].scores, order[of], fused.contributions.get(name, {})) for name, of in reads.items()
    ]
    table, kept = Table(columns, rankings), fused.totals(reads)
    best = best_first(fused.candidates, kept)
    ranked = [Ranked(rank, one, kept[one.key], table) for rank, one in enumerate(best, start=1)]
    clock.lap("fuse")
    timings = {**scored.timings, "rank": scored.timings["rank"] + clock.laps["fuse"]}
    said, limit = [*notices], context.query.limit
    if scored.guarded:
        by_words = scored.rankings["keyword"].scores
        limit = max((one.rank for one in ranked if one.candidate.key in by_words), default=0)
        said.append(
            f"Only {len(context.retrieved['keyword'])} memories contain any of these words, so all of them are shown."
        )
    shown = set(map(attrgetter("candidate.key"), ranked[:limit]))
    if left_out := sum(map(shown.__contains__, fused.duplicates.values())):
        several = f"{left_out:,} duplicates of results are" if left_out > 1 else "1 duplicate of a result is"
        said.append(f"{several} not shown.")
    return Result(ranked, context.retrieved, timings, limit, fused.duplicates, scored, tuple(said))


def contributions(scored: Scored, profile: Profile) -> Fused:
    """Return what each term contributes, before any post-processing."""
    terms = profile.terms_for(scored.hybrid)
    of_terms = {term.name: term.contributions(scored.rankings[term.reads or term.name]) for term in terms}
    return Fused(scored.context.query, scored.context.candidates, of_terms)


@dataclass(slots=True)
class Clock:
    """Milliseconds between laps."""

    laps: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        """Add the time since the last lap."""
        now = perf_counter()
        self.laps[name] = self.laps.get(name, 0.0) + (now - self._last) * 1000
        self._last = now
