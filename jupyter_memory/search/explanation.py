"""Each point of a score, explained."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from jupyter_memory.search.context import Labelled, Reasoned
from jupyter_memory.search.fusion import newer_first
from jupyter_memory.search.pipeline import Result, Scored, contributions
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.types import Answer, Evidence, Explanation, Filters, Hit, Listed, Memory, Query, Ranking, Trace

# Characters of a memory's first line that are listed.
_BEGINS = 80
_MUST = {"path": "path must be in", "since": "time must not be before", "until": "time must be before"}
_MUST |= {"as_of": "it must have been stored by"}


def why_not(memory: Memory, key: int, profile: Profile, scored: Scored, snapshot: Snapshot) -> tuple[str, ...]:
    query, asked, fetched = scored.context.query, scored.context.vector_query, scored.depth
    filters = query.within
    if query.left_out and key not in snapshot.keys(Filters(not_path=query.left_out)):
        return ("Its folder is hidden from searches that do not name its path.",)
    if filters and key not in snapshot.keys(filters):
        return (f"The filters exclude it: {_facets(filters, memory)}.",)
    lines = ["Neither the search by words nor the one by meaning found it, so it was not ranked."]
    bm25 = snapshot.keyword_scores(query.terms, profile.columns, [key]).get(key)
    if bm25 is None:
        columns = ", ".join(profile.columns)
        lines.append(
            f"By words: none of the query's words occur in the columns that {profile.name} searches ({columns})."
        )
    else:
        lines.append(f"By words: it matches with BM25 {bm25:.2g}, but {fetched} memories match better.")
    cosine = None if asked is None else snapshot.cosines(asked.model, asked.vector, [key]).get(key)
    threshold = None if asked is None else asked.threshold
    if cosine is None:
        lines.append("By meaning: it has no vector from the current model, or the search used words only.")
    elif threshold is not None and cosine < threshold:
        # As many digits as it takes to read that it is below.
        rounded = (f"{cosine:.{digits}f}" for digits in range(2, 9))
        shown = next((text for text in rounded if float(text) < threshold), repr(cosine))
        lines.append(f"By meaning: its cosine {shown} is below the threshold {threshold:g}.")
    else:
        lines.append(f"By meaning: its cosine is {cosine:.2f}, but {fetched} memories are closer.")
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
        ("as_of", filters.as_of, memory.stored_at),
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
        fused = replace(whole, contributions=left)
        for process in profile.steps:
            fused = process(fused)
        totals = fused.totals()
        ordered = sorted(totals, key=lambda key: (-totals[key], *age[key]))
        ranks = {key: rank for rank, key in enumerate(ordered, start=1)}
        for key in keys & ranks.keys():
            found[key][term] = ranks[key]
    return found


def traced(answer: Answer, result: Result, profile: Profile) -> Trace:
    memories = {one.key: one.memory for one in result.scored.context}
    lists = {}
    for name, found in result.scored.context.retrieved.items():
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


# As many lines as one reads at a glance.
LINES = 5
# A signal is named by its `label`, which follows "for": "0.03 for its tier". A signal without a label is named by its
# name. A new signal needs no entry in these tables, which hold what a label alone cannot say.
_RETRIEVER_LABELS = {
    "keyword": "the words of the query in it",
    "vector": "how close its meaning is to that of the query",
}
_NO_VALUE = {
    "keyword": "the search by words did not find it",
    "vector": "the search by meaning did not find it",
    "max_sim": "it was not compared, since it ranks too low by words and by meaning",
    "time": "the query names no time",
    "near_time": "the query names no time",
    "question_penalty": "the query is not a question",
    "file_stem": "it is not a file",
    "defined_names": "it is not a Python file whose names are known",
    "aside": "nothing in it is against it",
    "own_words": "it is not a cell",
    "best_passage": "it was not compared, since it belongs to a session or ranks too low by words and by meaning",
    "title_match": "it is not a note with a title",
    "history": "it is not code that was run",
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
    "severity": "it is not marked as severe",
    "tags": "it shares no tag with the query",
    "domain": "the query is about no domain, or about another one",
    "semantic": "it shares no words with the query",
}
# Signals of few values: many hits share the first place, so "ranked first" says nothing. A new one of this kind belongs
# here.
_YES_OR_NO = frozenset(["tier", "severity", "domain", "time", "title", "history"])
_VALUES = {"keyword": "BM25 {shown}", "vector": "cosine {shown}", "similarity": "cosine {shown}"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


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
        signal.name: signal.reason(scored.context.query, scored.context, candidate)
        for signal in profile.signals
        if isinstance(signal, Reasoned) and scored.rankings[signal.name].scores.get(key)
    }
    return {term.name: found[term.reads] for term in profile.terms if term.reads in found} | found


def explained(
    hit: Hit, query: Query, pool: int, profile: str, labels: Mapping[str, str], without: Mapping[str, int]
) -> Explanation:
    """Return why a hit ranks where it does among ``pool`` candidates, with the main reasons and with all of them.

    ``labels`` are those of the profile's signals; ``without`` has the rank of the hit without each term.
    """
    rounded = ((name, seen, round(seen.contribution, 6)) for name, seen in hit.signals.items())
    counted = sorted((one for one in rounded if one[2]), key=lambda one: -abs(one[2]))
    ends = ", the sum of" if counted else "."
    head = [f"Rank {hit.rank} of {pool} candidates with the profile {profile}: score {hit.score:.6f}{ends}"]
    if hit.rank > query.limit:
        head.append(f"(The answer shows only the first {query.limit}; to see this memory, use limit={hit.rank}.)")
    reasons = *head, *_main_reasons(hit, counted, LINES - len(head), labels)
    details = *head, *_all_reasons(hit, counted, without if pool > 1 else {}, labels)
    return Explanation(hit.memory, query.text, profile, hit.rank, hit, reasons, without, details)


_Counted = Sequence[tuple[str, Evidence, float]]


def _main_reasons(hit: Hit, counted: _Counted, room: int, labels: Mapping[str, str]) -> Iterator[str]:
    # Their points add up to the score shown.
    shown = counted if len(counted) <= room else counted[: room - 1]
    for name, seen, points in shown:
        yield f"{points:.6f} for {labels.get(name, name)} ({_place(name, seen)})."
    if rest := counted[len(shown) :]:
        number = _NUMBERS[len(rest)] if len(rest) < len(_NUMBERS) else str(len(rest))
        left = round(hit.score, 6) - sum(points for *_, points in shown)
        names = ", ".join(name for name, *_ in rest)
        yield f"{left:.6f} for {number} smaller terms ({names})."


def _all_reasons(hit: Hit, counted: _Counted, without: Mapping[str, int], labels: Mapping[str, str]) -> Iterator[str]:
    # With the values that the signals gave, and what added nothing, with the cause.
    for name, seen, points in counted:
        yield f"{points:.6f} for {labels.get(name, name)} ({_place(name, seen)}, {_value(name, seen.value)})."
    # What a term shows under its own name is not told twice.
    told_of = {(seen.value, seen.rank) for _, seen, _ in counted}
    for name, seen in hit.signals.items():
        if round(seen.contribution, 6) or (seen.value, seen.rank) in told_of:
            continue
        if isnan(seen.value):
            yield f"Nothing for {name}: {_NO_VALUE.get(name, 'it has no value for this memory')}."
        elif not seen.value and name in _ZERO:
            yield f"Nothing for {name}: {_ZERO[name]}."
        else:
            yield f"Nothing for {name} ({_value(name, seen.value)})."
    if without:
        moved = [term for term in without if without[term] != hit.rank]
        first, *others = sorted(moved, key=lambda term: -abs(without[term] - hit.rank)) or [""]
        if not first:
            yield f"Without any one of these, its rank would still be {hit.rank}."
        else:
            rest = "".join(f"; without {term}, {without[term]}" for term in others)
            yield f"Without {first}, its rank would be {without[first]}{rest}."


def _place(name: str, seen: Evidence) -> str:
    first = seen.rank == 1 and name not in _YES_OR_NO and seen.contribution > 0
    if seen.rank is None or not (first or name in _RETRIEVER_LABELS):
        return name
    is_teen = seen.rank % 100 in (11, 12, 13)
    return f"{name}, {seen.rank}{'th' if is_teen else _ENDINGS.get(seen.rank % 10, 'th')}"


def _value(name: str, value: float) -> str:
    shown = f"{value:.{2 if abs(value) < 1 else 3}g}"
    return _VALUES.get(name, "value {shown}").format(shown=shown)
