"""Why a memory is not in the answer, in sentences; of those that are, the lists and the ranks without each term."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from jupyter_memory.search.pipeline import Result, Scored, contributions
from jupyter_memory.search.postprocessing import Fused, newer_first
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.types import Answer, Filters, Listed, Memory, Ranking, Trace

# Characters of a memory's first line that are listed.
_BEGINS = 80
_MUST = {"path": "path must be in", "since": "time must not be before", "until": "time must be before"}


@dataclass(frozen=True, slots=True)
class Missed:
    """What is known of a memory that is not in the pool: its raw scores, and how many the retrievers fetched.

    ``bm25`` is None where none of the words occur, ``cosine`` where it has no vector or there is no model.
    """

    filtered: bool
    bm25: float | None
    cosine: float | None
    threshold: float | None
    fetched: int


def why_duplicate(best: Memory, rank: int) -> tuple[str, ...]:
    """Return the reasons why a memory that was found is not shown: it is a duplicate of one that ranks higher."""
    where = " ".join(part for part in (best.id, best.source, best.location) if part)
    return (f"It is a duplicate of “{best.title}” ({where}) at rank {rank}; only that one is shown.",)


def why_not(memory: Memory, missed: Missed, filters: Filters, profile: Profile) -> tuple[str, ...]:
    """Return the reasons why no retriever found a memory."""
    if missed.filtered:
        return (f"The filters exclude it: {_facets(filters, memory)}.",)
    lines = ["Neither the search by words nor the one by meaning found it, so it was not ranked."]
    if missed.bm25 is None:
        columns = ", ".join(profile.columns)
        lines.append(
            f"By words: none of the query's words occur in the columns that {profile.name} searches ({columns})."
        )
    else:
        lines.append(f"By words: it matches with BM25 {missed.bm25:.2g}, but {missed.fetched} memories match better.")
    if missed.cosine is None:
        lines.append("By meaning: it has no vector from the current model, or the search used words only.")
    elif missed.threshold is not None and missed.cosine < missed.threshold:
        cosine = _below(missed.cosine, missed.threshold)
        lines.append(f"By meaning: its cosine {cosine} is below the threshold {missed.threshold:g}.")
    else:
        lines.append(f"By meaning: its cosine is {missed.cosine:.2f}, but {missed.fetched} memories are closer.")
    return tuple(lines)


def _below(number: float, bound: float) -> str:
    """Return a number with as many digits as it takes to read that it is below a bound.

    >>> _below(0.081, 0.22), _below(0.2196, 0.22)
    ('0.08', '0.2196')
    """
    return next((text for digits in range(2, 9) if float(text := f"{number:.{digits}f}") < bound), repr(number))


def _facets(filters: Filters, memory: Memory) -> str:
    """Return what the filters want, each with what the memory has."""
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
    told = [
        f"{_MUST.get(name, f'{name} must be')} {_either(wanted)} ({_own(has)})"
        for name, wanted, has in asked
        if wanted not in ((), None)
    ]
    told += [
        f"{name} must not be {_either(unwanted)} ({_own(has)})"
        for name, _, has in asked
        if (unwanted := getattr(filters, f"not_{name}", ()))
    ]
    if filters.not_word:
        told.append(f"it must not contain {_either(filters.not_word)}")
    return "; ".join([*told, *([] if filters.also is None else [_facets(filters.also, memory)])])


def _either(wanted: object) -> str:
    return " or ".join(map(str, wanted)) if isinstance(wanted, tuple) else str(wanted)


def _own(value: object) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value or "")
    return f"it is {shown}" if shown else "it has none"


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
