"""Why a memory is where it is, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.types import Filters, Hit, Memory

# What a signal without a value, or with the value 0, says in place of a number.
_SILENT = {
    "keyword": "did not bring it",
    "vector": "did not bring it",
    "soft": "not compared, it is too far down in both legs",
    "time": "the query names no time",
    "near_time": "the query names no time",
    "asks": "the query is no question",
}
_NOTHING = {
    "time": "it is of another time than the query names",
    "near_time": "it is of another time than the query names",
    "title": "not every word of the query is in its title",
    "neighbour": "nothing beside it speaks for it",
    "session": "nothing else of its session speaks for it",
    "asks": "it asks nothing itself",
    "size": "it is neither short nor long",
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

    >>> _without(1, {"keyword": 3, "tier": 1, "meaning": 7})
    'Without meaning it would be rank 7, without keyword rank 3.'
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
        "meaning": f"by how far its meaning stands out ({value:.3g})",
        "soft": f"by how near its words come to the query's ({shown})",
        "neighbour": f"by what stands beside it ({shown})",
        "session": f"by the rest of its session ({shown})",
        "asks": "because it asks, where an answer is looked for",
        "size": f"by its size ({shown})",
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


def why_folded(best: Memory, rank: int) -> tuple[str, ...]:
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
