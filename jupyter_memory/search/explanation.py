"""Why a memory ranks where it does, or is not in the answer: in sentences, in lists, and without each term."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from jupyter_memory.search.pipeline import Result, Scored, contributions
from jupyter_memory.search.postprocessing import Fused, newer_first
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.storage.cache import Lock
from jupyter_memory.types import Answer, Filters, Hit, Listed, Memory, Ranking, Trace

# Characters of a memory's first line that are listed.
_BEGINS = 80
# Searches that can still be asked about as they were, each a pool of some hundred memories.
_KEPT = 8
# What a signal without a value, or with the value 0, says in place of a number.
_SILENT = {
    "keyword": "did not bring it",
    "vector": "did not bring it",
    "max_sim": "not compared, it is too far down in both legs",
    "time": "the query names no time",
    "near_time": "the query names no time",
    "question_penalty": "the query is no question",
}
_NOTHING = {
    "time": "it is of another time than the query names",
    "near_time": "it is of another time than the query names",
    "title": "not every word of the query is in its title",
    "neighbour": "nothing beside it speaks for it",
    "session": "nothing else of its session speaks for it",
    "question_penalty": "it asks nothing itself",
    "length_penalty": "it is neither short nor long",
}


@dataclass(frozen=True, slots=True)
class Missed:
    """What is known of a memory that is not in the pool: its raw scores, and what the legs asked for.

    ``bm25`` is None where none of the words occur, ``cosine`` where it has no vector or there is no model.
    """

    filtered: bool
    bm25: float | None
    cosine: float | None
    threshold: float | None
    fetched: int


def why_here(
    hit: Hit, pool: int, limit: int, profile: str, without: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """Return the reasons for a memory's place among ``pool`` candidates; ``without`` has its rank without each term."""
    parts = [f"{name} {seen.contribution:.6f}" for name, seen in hit.signals.items() if seen.contribution]
    place = f"Rank {hit.rank} of {pool} candidates by the profile {profile}"
    lines = [f"{place}: score {hit.score:.6f} = {' + '.join(parts) or '0'}."]
    if hit.rank > limit:
        lines.append(f"The answer shows the first {limit}, so it is not in it; ask for more with limit={hit.rank}.")
    for name, seen in hit.signals.items():
        if isnan(seen.value):
            lines.append(f"{name}: {_SILENT.get(name, 'no opinion')}.")
            continue
        if not seen.value and not seen.contribution and name in _NOTHING:
            lines.append(f"{name}: {_NOTHING[name]}.")
            continue
        adds = f"adds {seen.contribution:.6f}" if seen.contribution else "adds nothing"
        place = "" if seen.rank is None else f"{_ordinal(seen.rank)} "
        lines.append(f"{name}: {place}{_judged(name, seen.value)} {adds}.")
    if without and pool > 1:
        lines.append(_without(hit.rank, without))
    return tuple(lines)


def _without(rank: int, without: Mapping[str, int]) -> str:
    """Return what would be otherwise without the points of one term, the largest difference first.

    >>> _without(1, {"keyword": 3, "tier": 1, "vector": 7})
    'Without vector it would be rank 7, without keyword rank 3.'
    >>> _without(2, {"keyword": 2, "tier": 2})
    'Without any one of these it would be rank 2 as well.'
    """
    moved = sorted((term for term in without if without[term] != rank), key=lambda term: -abs(without[term] - rank))
    if not moved:
        return f"Without any one of these it would be rank {rank} as well."
    others = "".join(f", without {term} rank {without[term]}" for term in moved[1:])
    return f"Without {moved[0]} it would be rank {without[moved[0]]}{others}."


def _judged(name: str, value: float) -> str:
    """Return by what a signal ranks, with the raw value in as many digits as mean something."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return {
        "keyword": f"by its words (BM25 {shown})",
        "vector": f"by its meaning (cosine {shown})",
        "semantic_margin": f"by how far its meaning stands out ({value:.3g})",
        "max_sim": f"by how near its words come to the query's ({shown})",
        "neighbour": f"by what stands beside it ({shown})",
        "session": f"by the rest of its session ({shown})",
        "question_penalty": "because it asks, where an answer is looked for",
        "length_penalty": f"by its size ({shown})",
        "time": f"by the time that the query names (sure to {value:.0%})",
        "near_time": f"by how near it is to the time that the query names ({shown})",
        "tier": f"by its tier (weight {shown})",
        "title": f"by the query's words in its title ({shown})",
        "recency": f"by its age (freshness {value:.0%})",
    }.get(name, f"by {name} ({value:.3g})")


def _ordinal(number: int) -> str:
    """Return a place as people say it.

    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '112th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def why_duplicate(best: Memory, rank: int) -> tuple[str, ...]:
    """Return the reasons why a memory that was found is not shown: another that says the same is better placed."""
    where = " ".join(part for part in (best.id, best.source, best.location) if part)
    return (f"It was found, but says the same as “{best.title}” ({where}) at rank {rank}, which is shown alone.",)


def why_not(memory: Memory, missed: Missed, filters: Filters, profile: Profile) -> tuple[str, ...]:
    """Return the reasons why no leg brought a memory."""
    if missed.filtered:
        return (f"The filters leave it out: {_facets(filters, memory)}.",)
    lines = ["No leg brought it, so it was never ranked."]
    if missed.bm25 is None:
        columns = ", ".join(profile.columns)
        lines.append(
            f"keyword: none of the query's words occur in the columns that {profile.name} searches ({columns})."
        )
    else:
        lines.append(f"keyword: it matches with BM25 {missed.bm25:.2f}, but {missed.fetched} memories match better.")
    if missed.cosine is None:
        lines.append("vector: it has no vector of the active model, or meaning was not searched.")
    elif missed.threshold is not None and missed.cosine < missed.threshold:
        lines.append(f"vector: its cosine {missed.cosine:.2f} is below the threshold {missed.threshold:g}.")
    else:
        lines.append(f"vector: its cosine is {missed.cosine:.2f}, but {missed.fetched} memories are nearer.")
    return tuple(lines)


def _facets(filters: Filters, memory: Memory) -> str:
    asked: Sequence[tuple[str, object, object]] = (
        ("kind", filters.kind, memory.kind),
        ("tier", filters.tier, memory.tier),
        ("lang", filters.lang, memory.lang),
        ("space", filters.space, memory.space),
        ("session", filters.session, memory.session),
        ("tag", filters.tag, memory.tags),
        ("path", filters.path, memory.source),
        ("since", filters.since, memory.event_at),
        ("until", filters.until, memory.event_at),
    )
    told = [f"{name} {_shown(wanted)}, it has {_shown(has)}" for name, wanted, has in asked if wanted not in ((), None)]
    told += [
        f"not {name} {_shown(unwanted)}, it has {_shown(has)}"
        for name, _, has in asked
        if (unwanted := getattr(filters, f"not_{name}", ()))
    ]
    if filters.not_word:
        told.append(f"not the word {_shown(filters.not_word)}, it has one of them")
    return "; ".join([*told, *([] if filters.also is None else [_facets(filters.also, memory)])])


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value or "none")


def ranks_without(scored: Scored, profile: Profile, keys: Collection[int]) -> dict[int, dict[str, int]]:
    """Return the rank of these candidates without the points of each term, by key and term.

    Where a candidate would be left out as a duplicate, it has no rank without that term.
    """
    found: dict[int, dict[str, int]] = {key: {} for key in keys}
    if not found:
        return found
    age = {one.key: newer_first(one.memory) for one in scored.context}
    whole = contributions(scored, profile)
    for term in whole.contributions:
        left = {name: values for name, values in whole.contributions.items() if name != term}
        totals = _totals(replace(whole, contributions=left), profile)
        ordered = sorted(totals, key=lambda key: (-totals[key], *age[key]))
        ranks = {key: rank for rank, key in enumerate(ordered, start=1)}
        for key in keys & ranks.keys():
            found[key][term] = ranks[key]
    return found


def _totals(fused: Fused, profile: Profile) -> dict[int, float]:
    for process in profile.steps:
        fused = process(fused)
    return fused.totals()


class Runs:
    """The last searches as they ran, by query id; safe to share between threads."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, tuple[Scored, Profile]] = OrderedDict()
        self._lock = Lock()

    def keep(self, query_id: str, scored: Scored, profile: Profile) -> None:
        """Keep a search in place of the oldest."""
        with self._lock:
            self._runs[query_id] = (scored, profile)
            while len(self._runs) > _KEPT:
                self._runs.popitem(last=False)

    def without(self, query_id: str, memory_id: str) -> Mapping[str, int]:
        """Return the ranks of a hit without each term, nothing once newer searches have taken the place of its own."""
        with self._lock:
            run = self._runs.get(query_id)
        if run is None:
            return {}
        scored, profile = run
        keys = [one.key for one in scored.context if one.memory.id == memory_id]
        return next(iter(ranks_without(scored, profile, keys).values()), {})


def traced(answer: Answer, result: Result, profile: Profile) -> Trace:
    """Return an answer with the lists that it was made of."""
    memories = {one.key: one.memory for one in result.scored.context}
    lists = {}
    for name, found in result.retrieved.items():
        scores = {one.memory: one.score for one in found}
        ranks = Ranking(scores).ranks
        lists[name] = tuple(_listed(memories[key], ranks[key], score) for key, score in scores.items())
    fused = tuple(_listed(one.candidate.memory, one.rank, one.score) for one in result.ranked)
    shown = [one.candidate.key for one in result.ranked[: result.limit]]
    without = {memories[key].id: ranks for key, ranks in ranks_without(result.scored, profile, shown).items()}
    return Trace(answer, lists["keyword"], lists["vector"], fused, without)


def _listed(memory: Memory, rank: int, score: float) -> Listed:
    begins = memory.text[: 2 * _BEGINS].lstrip().split("\n", 1)[0][:_BEGINS]
    return Listed(memory.id, memory.title, rank, score, begins)
