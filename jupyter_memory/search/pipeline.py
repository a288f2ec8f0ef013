"""The path of a query: legs bring, signals judge, a profile adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter
from typing import NamedTuple, Protocol

from jupyter_memory.protocols import Leg, Term
from jupyter_memory.search.pool import Pool
from jupyter_memory.search.postprocessing.copies import best_first
from jupyter_memory.search.postprocessing.tally import Tally
from jupyter_memory.search.profiles.builtin import LEGS, Profile
from jupyter_memory.types import Candidate, Evidence, Found, Query, Ranking


class Load(Protocol):
    """Loads the memories that the legs found, with the cosine of each that has a vector."""

    def __call__(self, found: Mapping[str, Sequence[Found]], /) -> Pool: ...


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that was said of the candidates of one search, from which the evidence for any of them is read.

    ``columns`` hold, for each term and signal, the values, their order and the contributions by candidate; ``finds``
    and ``rankings`` what each leg brought.
    """

    columns: Sequence[tuple[str, Mapping[int, float], Ranking[int], Mapping[int, float]]]
    finds: Mapping[str, Mapping[int, Found]]
    rankings: Mapping[str, Ranking[int]]

    def totals(self) -> dict[int, float]:
        """Return the sum of the contributions of each candidate that has any but 0."""
        sums: dict[int, float] = {}
        # Most of what signals say of most queries is 0.
        for adds in (adds for _, _, _, adds in self.columns if any(adds.values())):
            for key, value in adds.items():
                sums[key] = sums.get(key, 0.0) + value
        return sums

    def value(self, name: str, key: int) -> float:
        """Return what a term or signal said of a candidate, NaN where it has no opinion."""
        return next(values for column, values, _, _ in self.columns if column == name).get(key, nan)


class Placed(NamedTuple):
    """A candidate with its place in the fused list and, read when asked for, the evidence that put it there."""

    rank: int
    candidate: Candidate
    score: float
    sheet: Sheet

    @property
    def evidence(self) -> dict[str, Evidence]:
        """Return what each term and signal said of it."""
        key = self.candidate.key
        return {
            name: Evidence(values.get(key, nan), order.rank(key), adds.get(key, 0.0))
            for name, values, order, adds in self.sheet.columns
        }

    @property
    def found(self) -> dict[str, Found]:
        """Return how each leg that brought it found it."""
        key = self.candidate.key
        return {name: finds[key] for name, finds in self.sheet.finds.items() if key in finds}

    @property
    def ranks(self) -> dict[str, int]:
        """Return its rank in each leg that brought it."""
        places = ((name, self.sheet.rankings[name].rank(self.candidate.key)) for name in self.sheet.finds)
        return {name: place for name, place in places if place is not None}


@dataclass(frozen=True, slots=True)
class Result:
    """Every candidate of the pool in order, what each leg brought, and milliseconds by stage.

    ``limit`` is how many to show: the query's, unless the profile shows more. ``copies`` maps candidates that were
    folded into another, which says the same, to that one. ``gathered`` is what it was weighed from.
    """

    scored: Sequence[Placed]
    found: Mapping[str, Sequence[Found]]
    timings: Mapping[str, float]
    limit: int
    copies: Mapping[int, int]
    pool: Pool
    gathered: Gathered
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the legs brought and the signals said for a query: all that a score is made of, before anything is weighed.

    ``hybrid`` tells whether the vector leg could look; ``guarded`` whether the corpus is so small that the profile
    shows every keyword match.
    """

    query: Query
    found: Mapping[str, Sequence[Found]]
    pool: Pool
    rankings: Mapping[str, Ranking[int]]
    hybrid: bool
    guarded: bool
    timings: Mapping[str, float]


def search(query: Query, profile: Profile, legs: Mapping[str, Leg], load: Load) -> Result:
    """Rank the memories for a query; what explains a score is what made it."""
    return weigh(gather(query, profile, legs, load), profile)


def gather(query: Query, profile: Profile, legs: Mapping[str, Leg], load: Load) -> Gathered:
    """Let the legs bring memories and the signals judge them."""
    clock = _Clock()
    count, asked = profile.fetch(query.limit), profile.fetches(query.limit)
    found: dict[str, Sequence[Found]] = {}
    for name in LEGS:
        found[name] = _brought(legs[name], query, asked) if name in legs else ()
        clock.lap(name)
    matches = len(found["keyword"])
    guarded = matches < profile.small_corpus and query.limit < matches / 2
    if not guarded:
        found = {name: finds[:count] for name, finds in found.items()} if profile.small_corpus else found
    pool = load(found)
    clock.lap("pool")
    rankings = _rankings(query, profile, pool, found)
    clock.lap("rank")
    return Gathered(query, found, pool, rankings, "vector" in legs, guarded, clock.laps)


def weigh(gathered: Gathered, profile: Profile) -> Result:
    """Return the result of what was gathered, by a profile that differs at most in its terms and steps."""
    clock, query, found = _Clock(), gathered.query, gathered.found
    tally = tallied(gathered, profile)
    for step in profile.steps:
        tally = step(tally)
    scored = _in_order(tally, profile, profile.terms_for(gathered.hybrid), gathered.rankings, found)
    clock.lap("weigh")
    timings = {**gathered.timings, "rank": gathered.timings["rank"] + clock.laps["weigh"]}
    said, limit = [], query.limit
    if gathered.guarded:
        limit = max((one.rank for one in scored if "keyword" in one.found), default=0)
        said.append(f"Only {len(found['keyword'])} memories hold any of these words, so all of them are shown.")
    shown = {one.candidate.key for one in scored[:limit]}
    if folded := sum(best in shown for best in tally.copies.values()):
        said.append(f"Copies of what is shown are left out: {folded}.")
    return Result(scored, found, timings, limit, tally.copies, gathered.pool, gathered, tuple(said))


def tallied(gathered: Gathered, profile: Profile) -> Tally:
    """Return what each term gives, before the steps of the profile."""
    rankings, terms = gathered.rankings, profile.terms_for(gathered.hybrid)
    contributions = {term.name: term.contributions(rankings[term.reads or term.name]) for term in terms}
    return Tally(gathered.query, gathered.pool, contributions)


def _brought(leg: Leg, query: Query, count: int) -> Sequence[Found]:
    """Return what a leg brings; of a query that names a time, the best of then as well as the best of all."""
    found = leg(query, count)
    if query.then is None:
        return found
    then = leg(replace(query, filters=query.filters & query.then, then=None), count)
    both = {one.memory: one for one in (*found, *then)}
    return sorted(both.values(), key=lambda one: -one.score)


def _rankings(
    query: Query, profile: Profile, candidates: Pool, found: Mapping[str, Sequence[Found]]
) -> dict[str, Ranking[int]]:
    rankings = {name: Ranking({one.memory: one.score for one in finds}) for name, finds in found.items()}
    for signal in profile.signals:
        # NaN is "no opinion": such a memory has no place in the signal's ranking.
        values = {key: value for key, value in signal(query, candidates).items() if value == value}
        rankings[signal.name] = Ranking(values)
    return rankings


def _in_order(
    tally: Tally,
    profile: Profile,
    terms: Sequence[Term],
    rankings: Mapping[str, Ranking[int]],
    found: Mapping[str, Sequence[Found]],
) -> list[Placed]:
    order = dict(rankings)
    completing = {signal.name: leg for signal in profile.signals if (leg := getattr(signal, "completes", ""))}
    order |= {name: rankings[leg] for name, leg in completing.items()}
    for signal in profile.signals:
        if getattr(signal, "lower_is_better", False):
            order[signal.name] = Ranking({key: -value for key, value in rankings[signal.name].scores.items()})
    finds = {name: {one.memory: one for one in ones} for name, ones in found.items()}
    readings = {term.name: term.reads or term.name for term in terms}
    # A signal that no term goes by is still shown.
    readings |= {one.name: one.name for one in profile.signals if one.name not in readings | completing}
    contributions = tally.contributions
    columns = [
        (name, rankings[reads].scores, order[reads], contributions.get(name, {})) for name, reads in readings.items()
    ]
    sheet = Sheet(columns, finds, rankings)
    totals = sheet.totals()
    kept = {one.key: totals.get(one.key, 0.0) for one in tally.pool if one.key not in tally.copies}
    best = best_first([one for one in tally.pool if one.key in kept], kept)
    return [Placed(place, one, kept[one.key], sheet) for place, one in enumerate(best, start=1)]


class _Clock:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name] = (now - self._last) * 1000
        self._last = now
