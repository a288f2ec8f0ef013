"""The pipeline of a search: rewrite, retrieve, score, fuse, post-process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, filterfalse, repeat
from operator import attrgetter, itemgetter
from time import perf_counter

from jupyter_memory.search.context import RETRIEVERS, Retrieved, Samples, SearchContext, VectorQuery, retrieve
from jupyter_memory.search.fusion import Column, Fused, Ranked, Table, best_first, normalised
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.search.query.parser import missing_phrases
from jupyter_memory.search.query.temporal import notice_of
from jupyter_memory.search.query.terms import inflected, respelled
from jupyter_memory.search.signals.semantic import words_count
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text.display import count_of
from jupyter_memory.types import Candidate, Filters, Memory, Query, Ranking

_SCORE, _SCORED = attrgetter("score"), attrgetter("memory", "score")
_NUMBER = re.compile(r"\d+")
# Where words help little, so many times as many memories are ranked: what answers lies deeper.
_DEEPER = 2
# Kernels have sessions too, but nobody counts these.
_TALK = Filters(not_kind=("history",))


def rewrite(query: Query, snapshot: Snapshot, profile: Profile) -> tuple[Query, tuple[str, ...]]:
    """Return the query with what depends on the store filled in, and notices; only a timed profile asks for that."""
    if not profile.timed:
        return query, ()
    query, spellings = respelled(inflected(query, snapshot.corpus), snapshot.corpus, profile.columns)
    notices = (*spellings, *missing_phrases(query.terms, snapshot, profile.columns))
    if query.temporal is None:
        return query, notices
    if query.temporal.sessions is None:
        then = Filters(since=query.temporal.since, until=query.temporal.until)
    else:
        named = snapshot.facet_values("session", query.within & _TALK)
        numbers = {name: int(found[0]) for name in named if (found := _NUMBER.findall(name)[-1:])}
        if not numbers:
            return query, notices
        first, last = query.temporal.sessions.among(max(numbers.values()))
        then = Filters(session=tuple(name for name, number in numbers.items() if first <= number <= last) or ("",))
    empty = not snapshot.exists(query.within & then)
    return replace(query, time_filters=then), (*notices, notice_of(query.temporal, empty=empty))


@dataclass(frozen=True, slots=True)
class Scored:
    """What the retrievers found and the signals said: all that a score is made of, before anything is fused.

    ``depth`` is how many memories of each retriever were ranked at most; ``hybrid`` tells whether the vector retriever
    took part; ``guarded`` whether so few memories match the words that the profile shows all of them.
    """

    context: SearchContext
    rankings: Mapping[str, Ranking[int]]
    depth: int
    hybrid: bool
    guarded: bool
    timings: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Result:
    """Every candidate in order, and milliseconds by stage.

    ``limit`` is how many to show: the query's, unless the profile shows more. ``duplicates`` maps candidates that are
    left out to the one that says the same.
    """

    ranked: Sequence[Ranked]
    timings: Mapping[str, float]
    limit: int
    duplicates: Mapping[int, int]
    scored: Scored
    notices: tuple[str, ...]


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
    profile knows that, twice as many memories are ranked, and those below the threshold, too.
    """
    query, notices = rewrite(query, snapshot, profile)
    begun, by_keyword, by_vector = perf_counter(), 0.0, 0.0
    depth, wanted = profile.fetch(query.limit), profile.fetches(query.limit)
    searched, apart = [within := query.within], within & Filters(kind=(profile.apart,))
    if profile.apart and snapshot.exists(apart):
        searched = [within & Filters(not_kind=(profile.apart,)), apart]
    pool, is_deep = _Pool(snapshot, exclude), not (asked and profile.is_judged)
    while True:
        asked_at = perf_counter()
        by_words = retrieve(profile.columns, query, searched, snapshot, wanted, exclude)
        by_keyword += (asked_then := perf_counter()) - asked_at
        by_meaning = [] if vector_query is None else retrieve(vector_query, query, searched, snapshot, wanted, exclude)
        by_vector += perf_counter() - asked_then
        matches = sum(map(len, by_words))
        guarded = matches < profile.small_corpus and query.limit < matches / 2
        # More was fetched than the profile ranks, only to see how many memories match.
        shown = depth if profile.small_corpus and not guarded else None
        retrieved: Retrieved = {
            # No memory is in two parts.
            name: sorted(chain.from_iterable(map(itemgetter(slice(shown)), parts)), key=_SCORE, reverse=True)
            for name, parts in zip(RETRIEVERS, (by_words, by_meaning), strict=True)
        }
        found, retrieved = pool.read(retrieved, vector_query)
        context = SearchContext(query, found, retrieved, vector_query, asked, snapshot, samples, profile.columns)
        if is_deep or (found and words_count(context) >= 1):
            break
        is_deep, depth, wanted = True, _DEEPER * depth, _DEEPER * wanted
        if vector_query is not None and not vector_query.strict:
            vector_query = replace(vector_query, threshold=None)
    if pool.copies:
        same = count_of(len(pool.copies), "memory with the same text is", "memories with the same text are")
        notices = (*notices, f"{same} not shown.")
    if pool.lost:
        notices = (*notices, "What has lost its text is not shown; `jupyter-memory doctor` names it.")
    pooled = perf_counter()
    rankings = {name: Ranking(dict(map(_SCORED, ones))) for name, ones in retrieved.items()}
    for signal in profile.signals:
        # NaN is "no value": such a memory has no place in the signal's ranking.
        values = {key: value for key, value in signal(query, context).items() if value == value}
        rankings[signal.name] = Ranking(values)
    timings = {
        "keyword": by_keyword * 1000,
        "vector": by_vector * 1000,
        "pool": (pooled - begun - by_keyword - by_vector) * 1000,
        "rank": (perf_counter() - pooled) * 1000,
    }
    scored = Scored(context, rankings, depth, vector_query is not None, guarded, timings)
    return fuse(scored, profile, notices)


class _Pool:
    # What a search has read of its candidates, kept for when it asks again.
    def __init__(self, snapshot: Snapshot, exclude: int | None) -> None:
        self._snapshot, self._memories, self._cosines = snapshot, dict[int, Memory](), dict[int, float]()
        self._said = None if exclude is None else normalised(snapshot.texts([exclude])[exclude])
        self.copies, self.lost = set[int](), set[int]()

    def read(self, retrieved: Retrieved, by: VectorQuery | None) -> tuple[list[Candidate], Retrieved]:
        snapshot, memories, cosines = self._snapshot, self._memories, self._cosines
        # The keyword retriever's chunk represents a memory that both found: its snippet shows the words.
        chunks = dict(map(attrgetter("memory", "chunk"), chain(retrieved["vector"], retrieved["keyword"])))
        cosines |= map(_SCORED, retrieved["vector"])
        if by is not None:
            cosines |= snapshot.cosines(by.model, by.vector, list(filterfalse(cosines.__contains__, chunks)))
        memories |= snapshot.whole(list(filterfalse(memories.__contains__, chunks)))
        self.lost = chunks.keys() - memories.keys()
        if self._said is not None:
            self.copies = {key for key in chunks.keys() - self.lost if normalised(memories[key].text) == self._said}
        if gone := self.copies | self.lost:
            retrieved = {name: [one for one in ones if one.memory not in gone] for name, ones in retrieved.items()}
        keys = list(filterfalse(gone.__contains__, chunks))
        of_each = map(memories.__getitem__, keys), map(chunks.__getitem__, keys), map(cosines.get, keys)
        return list(map(Candidate, keys, *of_each)), retrieved


def fuse(scored: Scored, profile: Profile, notices: tuple[str, ...] = ()) -> Result:
    """Return the result of what was scored, by a profile that differs at most in its terms and post-processors."""
    begun, context = perf_counter(), scored.context
    fused = contributions(scored, profile)
    for process in profile.steps:
        fused = process(fused)
    rankings, order = scored.rankings, dict(scored.rankings)
    reads = {term.name: term.reads or term.name for term in profile.terms_for(scored.hybrid)}
    for signal in profile.signals:
        # Every signal is asked in every search: `isinstance` with a protocol takes a hundred times as long.
        if retriever := getattr(signal, "completes", None):
            # It gives a retriever's score to all candidates, and is shown under its name.
            order[signal.name] = rankings[retriever]
        else:
            reads.setdefault(signal.name, signal.name)
        if getattr(signal, "lower_is_better", False):
            order[signal.name] = Ranking({key: -value for key, value in rankings[signal.name].scores.items()})
    columns = []
    for name, of in reads.items():
        columns.append(Column(name, rankings[of].scores, order[of], fused.contributions.get(name, {})))
    table, kept = Table(columns, rankings), fused.totals(reads)
    best = best_first(fused.candidates, kept)
    scores = map(kept.__getitem__, map(attrgetter("key"), best))
    ranked = list(map(Ranked, count(1), best, scores, repeat(table)))
    timings = {**scored.timings, "rank": scored.timings["rank"] + (perf_counter() - begun) * 1000}
    said, limit = [*notices], context.query.limit
    if scored.guarded:
        by_words = scored.rankings["keyword"].scores
        limit = max((one.rank for one in ranked if one.candidate.key in by_words), default=0)
        said.append(
            f"Only {len(context.retrieved['keyword'])} memories contain any of these words, so all of them are shown."
        )
    shown = set(map(attrgetter("candidate.key"), ranked[:limit]))
    if left_out := sum(map(shown.__contains__, fused.duplicates.values())):
        said.append(f"{count_of(left_out, 'duplicate of a result is', 'duplicates of results are')} not shown.")
    return Result(ranked, timings, limit, fused.duplicates, scored, tuple(said))


def contributions(scored: Scored, profile: Profile) -> Fused:
    """Return what each term contributes, before any post-processing."""
    terms = profile.terms_for(scored.hybrid)
    of_terms = {term.name: term.contributions(scored.rankings[term.reads or term.name]) for term in terms}
    return Fused(scored.context.candidates, of_terms)
