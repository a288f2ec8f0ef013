"""The path of a query: legs bring, signals judge, a profile adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from time import perf_counter
from typing import Protocol

from jupyter_memory.protocols import Leg
from jupyter_memory.ranking.profiles import LEGS, Profile
from jupyter_memory.types import Candidate, Evidence, Found, Memory, Query, Ranking


class Pool(Protocol):
    """Loads the memories that the legs found, with the cosine of each that has a vector."""

    def __call__(self, found: Mapping[str, Sequence[Found]], /) -> Sequence[Candidate]: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its place in the fused list and the evidence that put it there."""

    rank: int
    candidate: Candidate
    score: float
    evidence: Mapping[str, Evidence]
    found: Mapping[str, Found]
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Result:
    """Every candidate of the pool in order, what each leg brought, and milliseconds by stage."""

    scored: Sequence[Scored]
    found: Mapping[str, Sequence[Found]]
    timings: Mapping[str, float]


def search(query: Query, profile: Profile, legs: Mapping[str, Leg], pool: Pool) -> Result:
    """Rank the memories for a query; what explains a score is what made it."""
    clock = _Clock()
    count = profile.fetch(query.limit)
    found: dict[str, Sequence[Found]] = {}
    for name in LEGS:
        found[name] = legs[name](query, count) if name in legs else ()
        clock.lap(name)
    candidates = pool(found)
    clock.lap("pool")
    rankings = _rankings(query, profile, candidates, found)
    contributions = {term.name: term.contributions(rankings[term.reads or term.name]) for term in profile.terms}
    scored = _in_order(candidates, profile, rankings, contributions, found)
    clock.lap("rank")
    return Result(scored, found, clock.laps)


def _rankings(
    query: Query, profile: Profile, candidates: Sequence[Candidate], found: Mapping[str, Sequence[Found]]
) -> dict[str, Ranking[int]]:
    rankings = {name: Ranking({one.memory: one.score for one in finds}) for name, finds in found.items()}
    for signal in profile.signals:
        # NaN is "no opinion": such a memory has no place in the signal's ranking.
        values = {key: value for key, value in signal(query, candidates).items() if not isnan(value)}
        rankings[signal.name] = Ranking(values)
    return rankings


def _in_order(
    candidates: Sequence[Candidate],
    profile: Profile,
    rankings: Mapping[str, Ranking[int]],
    contributions: Mapping[str, Mapping[int, float]],
    found: Mapping[str, Sequence[Found]],
) -> list[Scored]:
    ranks = {name: ranking.ranks for name, ranking in rankings.items()}
    for signal in profile.signals:
        if getattr(signal, "lower_is_better", False):
            ranks[signal.name] = Ranking({key: -value for key, value in rankings[signal.name].scores.items()}).ranks
    finds = {name: {one.memory: one for one in ones} for name, ones in found.items()}
    readings = {term.name: term.reads or term.name for term in profile.terms}
    # A signal that no term goes by is still shown.
    readings |= {signal.name: signal.name for signal in profile.signals if signal.name not in readings}
    columns = [
        (name, rankings[reads].scores, ranks[reads], contributions.get(name, {})) for name, reads in readings.items()
    ]
    rows = []
    for candidate in candidates:
        key = candidate.key
        evidence = {
            name: Evidence(values.get(key, nan), places.get(key), adds.get(key, 0.0))
            for name, values, places, adds in columns
        }
        score = sum(seen.contribution for seen in evidence.values())
        brought = {name: ones[key] for name, ones in finds.items() if key in ones}
        rows.append((candidate, score, evidence, brought, {name: ranks[name][key] for name in brought}))
    rows.sort(key=lambda row: (-row[1], *_newer_first(row[0].memory)))
    return [Scored(place, *row) for place, row in enumerate(rows, start=1)]


def _newer_first(memory: Memory) -> tuple[float, str, str, str]:
    """Of equal scores the newer; a copy of the same age is known by its place, so that insertion order never speaks."""
    return -memory.event_at.timestamp(), memory.content_hash, memory.source, memory.location


class _Clock:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name] = (now - self._last) * 1000
        self._last = now
