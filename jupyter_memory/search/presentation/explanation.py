"""Why a memory ranks where it does, or is not in the answer: in sentences, in lists, and without each term."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from jupyter_memory.search.context import Labelled, Reasoned
from jupyter_memory.search.pipeline import Result, Scored, contributions
from jupyter_memory.search.postprocessing import Fused, newer_first
from jupyter_memory.search.profiles.builtin import PROFILES
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.types import Answer, Filters, Hit, Listed, Memory, Ranking, Trace

# Characters of a memory's first line that are listed.
_BEGINS = 80
# A signal is named by its `label`, with its value: "by its tier (3)". A signal without a label is named by its name. A
# new signal needs no entry in these tables, which hold what a label alone cannot say.
_RETRIEVER_LABELS = {"keyword": "its words", "vector": "its meaning"}
_NO_VALUE = {
    "keyword": "did not find it",
    "vector": "did not find it",
    "max_sim": "not compared: it ranks too low with both retrievers",
    "time": "the query names no time",
    "near_time": "the query names no time",
    "question_penalty": "the query is not a question",
    "file_stem": "it is no file",
    "defined_names": "it is no Python file whose names are known",
    "aside": "it is no file",
    "own_words": "it is no cell",
    "best_passage": "not compared: it is of a session, or ranks too low with both retrievers",
    "title_match": "it is no note with a title",
}
_ZERO = {
    "time": "it is not from the time that the query names",
    "near_time": "it is not from the time that the query names",
    "title": "not every word of the query is in its title",
    "neighbour": "nothing next to it matches",
    "session": "nothing else in its session matches",
    "question_penalty": "it is not a question",
    "length_penalty": "its length is usual",
    "own_words": "no cell has more of the query in its text",
    "title_match": "its title has no word of the query",
    "defines": "it defines nothing that the query names",
    "file_stem": "the names of its file and folder are not in the query",
    "aside": "nothing in its path is against it",
}
_VALUES = {
    "keyword": "BM25 {shown}",
    "vector": "cosine {shown}",
    "time": "{value:.0%} certain",
    "recency": "freshness {value:.0%}",
}
_MUST = {"path": "path must be in", "since": "time must not be before", "until": "time must be before"}
_WHOLE = {"question_penalty": "because it is a question, and the query needs an answer"}


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


def labels(*profiles: Profile) -> dict[str, str]:
    """Return the labels of the signals of these profiles, by the name of the signal and of each term that reads it."""
    found = dict(_RETRIEVER_LABELS)
    for profile in profiles:
        found |= {signal.name: signal.label for signal in profile.signals if isinstance(signal, Labelled)}
    for profile in profiles:
        for term in profile.terms:
            if term.reads in found:
                found.setdefault(term.name, found[term.reads])
    return found


def judged_by(scored: Scored, profile: Profile, key: int) -> dict[str, str]:
    """Return labels for one candidate, from those signals that can say what in it they judged by."""
    [candidate] = [one for one in scored.context if one.key == key]
    found = {
        signal.name: signal.reason(scored.query, scored.context, candidate)
        for signal in profile.signals
        if isinstance(signal, Reasoned) and scored.rankings[signal.name].scores.get(key)
    }
    return {term.name: found[term.reads] for term in profile.terms if term.reads in found} | found


_BUILT_IN = labels(*PROFILES.values())


def why_here(
    hit: Hit,
    pool: int,
    limit: int,
    profile: str,
    without: Mapping[str, int] | None = None,
    labels: Mapping[str, str] = _BUILT_IN,
) -> tuple[str, ...]:
    """Return the reasons for a memory's rank among ``pool`` candidates.

    ``without`` has its rank without each term. ``labels`` are those of the profile's signals, by default those of all
    built-in signals.
    """
    parts = [f"{name} {seen.contribution:.6f}" for name, seen in hit.signals.items() if seen.contribution]
    place = f"Rank {hit.rank} of {pool} candidates with the profile {profile}"
    lines = [f"{place}: score {hit.score:.6f} = {' + '.join(parts) or '0'}."]
    if hit.rank > limit:
        lines.append(f"The answer shows only the first {limit}; to see this memory, use limit={hit.rank}.")
    for name, seen in hit.signals.items():
        if isnan(seen.value):
            lines.append(f"{name}: {_NO_VALUE.get(name, 'no value')}.")
            continue
        if not seen.value and not seen.contribution and name in _ZERO:
            lines.append(f"{name}: {_ZERO[name]}.")
            continue
        adds = f"adds {seen.contribution:.6f}" if seen.contribution else "adds nothing"
        place = "" if seen.rank is None else f"{_ordinal(seen.rank)} "
        lines.append(f"{name}: {place}{_judged(name, seen.value, labels)} {adds}.")
    if without and pool > 1:
        lines.append(_without(hit.rank, without))
    return tuple(lines)


def _without(rank: int, without: Mapping[str, int]) -> str:
    """Return the rank without the points of each term that changes it, the largest difference first.

    >>> _without(1, {"keyword": 3, "tier": 1, "vector": 7})
    'Without vector, its rank would be 7; without keyword, 3.'
    >>> _without(2, {"keyword": 2, "tier": 2})
    'Without any one of these, its rank would still be 2.'
    """
    moved = sorted((term for term in without if without[term] != rank), key=lambda term: -abs(without[term] - rank))
    if not moved:
        return f"Without any one of these, its rank would still be {rank}."
    others = "".join(f"; without {term}, {without[term]}" for term in moved[1:])
    return f"Without {moved[0]}, its rank would be {without[moved[0]]}{others}."


def _judged(name: str, value: float, labels: Mapping[str, str]) -> str:
    """Return what a signal ranks by, with the raw value in as many digits as mean something.

    >>> _judged("tier", 3.0, {"tier": "its tier"}), _judged("mine", 0.1234, {})
    ('by its tier (3)', 'by mine (0.12)')
    """
    if name in _WHOLE:
        return _WHOLE[name]
    shown = f"{value:.{2 if abs(value) < 1 else 3}g}"
    return f"by {labels.get(name, name)} ({_VALUES.get(name, '{shown}').format(value=value, shown=shown)})"


def _ordinal(number: int) -> str:
    """Return a place as people say it.

    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '112th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def why_duplicate(best: Memory, rank: int) -> tuple[str, ...]:
    """Return the reasons why a memory that was found is not shown: it is a duplicate of one that ranks higher."""
    where = " ".join(part for part in (best.id, best.source, best.location) if part)
    return (f"It is a duplicate of “{best.title}” ({where}) at rank {rank}; only that one is shown.",)


def why_not(memory: Memory, missed: Missed, filters: Filters, profile: Profile) -> tuple[str, ...]:
    """Return the reasons why no retriever found a memory."""
    if missed.filtered:
        return (f"The filters exclude it: {_facets(filters, memory)}.",)
    lines = ["Neither retriever found it, so it was not ranked."]
    if missed.bm25 is None:
        columns = ", ".join(profile.columns)
        lines.append(
            f"keyword: none of the query's words occur in the columns that {profile.name} searches ({columns})."
        )
    else:
        lines.append(f"keyword: it matches with BM25 {missed.bm25:.2f}, but {missed.fetched} memories match better.")
    if missed.cosine is None:
        lines.append("vector: it has no vector from the current model, or the search used words only.")
    elif missed.threshold is not None and missed.cosine < missed.threshold:
        lines.append(f"vector: its cosine {missed.cosine:.2f} is below the threshold {missed.threshold:g}.")
    else:
        lines.append(f"vector: its cosine is {missed.cosine:.2f}, but {missed.fetched} memories are closer.")
    return tuple(lines)


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
