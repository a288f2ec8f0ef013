"""Signals of metadata, time, neighbours, length and quality."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from math import log
from operator import attrgetter
from typing import ClassVar

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import normalised
from jupyter_memory.search.query.temporal import TOLERANCE_DAYS
from jupyter_memory.search.signals.semantic import semantic_margins, words_count
from jupyter_memory.search.signals.weights import SEMANTIC_MARGIN, WORDS
from jupyter_memory.types import Candidate, Memory, Query


@dataclass(frozen=True, slots=True)
class OfKind:
    """1 for a memory of the kind, no opinion on the others."""

    label: ClassVar[str] = "its kind"
    name: str

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: 1.0 for candidate in context if candidate.memory.kind == self.name}


_TIERS = {"core": 1.0, "file": 2.0, "mcp": 3.0, "note": 3.0, "run": 4.0, "failed": 5.0}
_REASONS = {"core": "being pinned", "file": "being from a file", "mcp": "being an agent's note", "note": "being a note",
            "run": "being a run", "failed": "being a run that failed"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tier:
    """1 for core, 2 for file, 3 for mcp and note (seed system `covalence`; note is ours)."""

    label: ClassVar[str] = "its tier"
    name: str = "tier"
    lower_is_better: bool = True

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return dict(zip(context.keys, map(_TIERS.__getitem__, map(self._of, context.memories)), strict=True))

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        return _REASONS[self._of(candidate.memory)]

    def _of(self, memory: Memory) -> str:
        return memory.tier


class TierOfRuns(Tier):
    """As ``Tier``, but 4 for what was run and 5 for what failed, unless it is pinned."""

    __slots__ = ()

    def _of(self, memory: Memory) -> str:
        if memory.kind == "history" and not memory.pinned:
            return "failed" if memory.error else "run"
        return memory.tier


@dataclass(frozen=True, slots=True)
class Severity:
    """1 for critical, 0.7 for warning, 0.4 for suggestion, 0 for none (seed system `vault`)."""

    label: ClassVar[str] = "its severity"
    critical: float = 1.0
    warning: float = 0.7
    suggestion: float = 0.4
    name: str = "severity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        worth = {None: 0.0, "critical": self.critical, "warning": self.warning, "suggestion": self.suggestion}
        return {candidate.key: worth[candidate.memory.severity] for candidate in context}

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        return f"being marked as {candidate.memory.severity}"


@dataclass(frozen=True, slots=True)
class Domain:
    """1 if the query has a domain and the memory is of it, else 0 (seed system `vault`)."""

    label: ClassVar[str] = "being of the domain that the query is about"
    name: str = "domain"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {one.key: float(query.domain is not None and one.memory.domain == query.domain) for one in context}


@dataclass(frozen=True, slots=True)
class Tags:
    """Jaccard similarity of the query's tags and the memory's, whatever their case; 0 where the query has none."""

    label: ClassVar[str] = "the tags that it shares with the query"
    name: str = "tags"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        wanted = {tag.casefold() for tag in query.tags}
        held = {one.key: {tag.casefold() for tag in one.memory.tags} for one in context}
        return {key: len(wanted & tags) / len(wanted | tags) if wanted and tags else 0.0 for key, tags in held.items()}


@dataclass(frozen=True, slots=True)
class NamedTime:
    """How certain it is that the query means this time, for memories from then; 0 for the others.

    No opinion where the query names no time.
    """

    label: ClassVar[str] = "being from the time that the query names"
    name: str = "time"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        temporal, then = query.temporal, query.time_filters
        if temporal is None or then is None:
            return {}
        if then.session:
            return {one.key: temporal.sure * (one.memory.session in then.session) for one in context}
        found = {}
        for one in context:
            begun = then.since is None or one.memory.event_at >= then.since
            found[one.key] = temporal.sure * (begun and (then.until is None or one.memory.event_at < then.until))
        return found


# Beyond so many tolerances nothing is left.
_REACH = 3


@dataclass(frozen=True, slots=True)
class NearTime:
    """max(0, 1 - |age - target| / (3 * tolerance)), ages in days, for the moment that the question means.

    The tolerance is 1 day where days are named, 3 for weeks, 10 for months, 60 for years; a range is meant by its
    middle (seed system `memini`; tolerances: ours). No opinion where the question names no time, or one without a
    middle, such as "before March". A date in the future counts as now.
    """

    label: ClassVar[str] = "how close it is to the time that the query names"
    name: str = "near_time"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        named = query.temporal
        if named is None or named.target is None or named.unit not in TOLERANCE_DAYS:
            return {}
        target, tolerance = days_between(query.now, named.target), TOLERANCE_DAYS[named.unit]
        return {one.key: closeness(days_between(query.now, one.memory.event_at), target, tolerance) for one in context}


def closeness(age: float, target: float, tolerance: float) -> float:
    """Return how close an age lies to the one that is meant, all of them in days: 1 there, 0 from 3 tolerances on."""
    return max(0.0, 1 - abs(max(0.0, age) - target) / (_REACH * tolerance))


def days_between(now: datetime, moment: datetime) -> float:
    return (now - moment).total_seconds() / 86_400


A_YEAR = 8760.0  # hours


@dataclass(frozen=True, slots=True)
class Recency:
    """Hyperbolic decay of the event's age, 1 / (1 + age / half_life): 1 now, 0.5 after a year, never 0.

    A date in the future counts as now.
    """

    label: ClassVar[str] = "how recent it is"
    half_life_hours: float = A_YEAR
    name: str = "recency"
    lower_is_better: bool = False

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        # Moments of one zone are compared at once, those of two by asking both zones.
        now, moments = query.now.astimezone(UTC), map(attrgetter("event_at"), context.memories)
        return dict(zip(context.keys, map(recency, moments, repeat(now), repeat(self.half_life_hours)), strict=True))


def recency(event_at: datetime, now: datetime, half_life_hours: float = A_YEAR) -> float:
    """Return 1 / (1 + age / half_life) of a moment."""
    age = (now - event_at).total_seconds() / 3600
    return 1 / (1 + (age if age > 0 else 0.0) / half_life_hours)


@dataclass(frozen=True, slots=True)
class Validity:
    """Exponential decay of the event's age, or, for a memory that holds until a date, of what is left of its window.

    exp(-ln 2 * age / half_life): 1 now, 0.5 after a year. With a window: 1 while at least a quarter of it remains, then
    the remaining part of that quarter; 0 after its end and before its start (seed system `vault`). A window without a
    start begins with the event; one without an end only keeps back what has not begun.
    """

    label: ClassVar[str] = "being recent, or still valid"
    half_life_days: float = 365.0
    last_part: float = 0.25
    name: str = "validity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {candidate.key: self._of(candidate.memory, query.now) for candidate in context}

    def _of(self, memory: Memory, now: datetime) -> float:
        begins = memory.valid_from or memory.event_at
        if memory.valid_from is not None and now < begins:
            return 0.0
        if memory.valid_until is None:
            days = max(0.0, (now - memory.event_at).total_seconds() / 86_400)
            return float(2.0 ** (-days / self.half_life_days))
        left, window = (memory.valid_until - now).total_seconds(), (memory.valid_until - begins).total_seconds()
        if left <= 0 or window <= 0:
            return 0.0
        return min(1.0, left / (self.last_part * window))


# How much more the best of a section says than a neighbour: chosen on four sets of cells, with two models.
_SECTION = 3.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The evidence of words and meaning for the better of the two memories beside a candidate; 0 where it has none.

    Neighbours are cells of one notebook or memories of one session that were stored one after the other. Only those of
    the candidates count: what no retriever found has little to say. Where words do not help, the meaning of the best
    other cell of its section counts for a cell instead.
    """

    label: ClassVar[str] = "the memories around it"
    name: str = "neighbour"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        values, memories = context.shared(evidence), dict(zip(context.keys, context.memories, strict=True))
        found = dict.fromkeys(memories, 0.0)
        for key, one in memories.items():
            after = memories.get(key + 1)
            if after is None or one.space != after.space or one.kind != after.kind:
                continue
            in_notebook, in_session = one.kind == "cell", one.session is not None and one.session == after.session
            if one.source == after.source if in_notebook else in_session:
                found[key] = max(found[key], values.get(key + 1, 0.0))
                found[key + 1] = max(found[key + 1], values.get(key, 0.0))
        if not context.cells or (count := words_count(context)) == 1:
            return found
        # What was said before and after a turn of a conversation tells more than the cell beside a cell.
        margins = context.margins(context.cosines)
        meant = {key: SEMANTIC_MARGIN * value for key, value in margins.items() if value == value}
        sections = {key: (one.space, one.source, one.title) for key, one in context.cells.items()}
        others = _best_others(sections, meant)
        return found | {key: count * found[key] + _SECTION * (1 - count) * value for key, value in others.items()}


def evidence(context: SearchContext) -> dict[int, float]:
    """Return what the words and the meaning of each candidate add up to, by key."""
    found, scores = {}, context.keyword_scores
    for key, value in context.shared(semantic_margins).items():
        found[key] = WORDS * scores.get(key, 0.0) + (SEMANTIC_MARGIN * value if value == value else 0.0)
    return found


@dataclass(frozen=True, slots=True)
class Session:
    """The best evidence of words and meaning among the other memories of a candidate's session; 0 where it has none.

    Only candidates count, and only within a space. The session of a kernel says little: it may last for weeks, so what
    was run in it has no evidence here.
    """

    label: ClassVar[str] = "what was noted in the same session"
    name: str = "session"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        sessions: dict[int, tuple[str | None, ...]] = {}
        for key, one in zip(context.keys, context.memories, strict=True):
            if one.session is not None and one.kind != "history":
                sessions[key] = one.space, one.session
        found = dict.fromkeys(context.keys, 0.0)
        return found | _best_others(sessions, context.shared(evidence)) if sessions else found


def _best_others(groups: Mapping[int, tuple[str | None, ...]], values: Mapping[int, float]) -> dict[int, float]:
    best: dict[tuple[str | None, ...], list[tuple[float, int]]] = {}
    for key, group in groups.items():
        two = best.setdefault(group, [])
        two.append((values.get(key, 0.0), key))
        two.sort(reverse=True)
        del two[2:]
    return {key: max([0.0, *(value for value, other in best[of] if other != key)]) for key, of in groups.items()}


# A question seldom answers another one. A few words seldom answer one either, and a long text contains many words of
# any query by chance.

_FIRST_WORDS = """
am are can could did do does has have how is should was were what when where which who whom whose why will would
"""
_ASKING = frozenset(_FIRST_WORDS.split())


@dataclass(frozen=True, slots=True)
class QuestionPenalty:
    """-1 for a memory that ends in a question mark, 0 for the others; no opinion where the query is no question.

    A query is a question if it ends in a question mark or begins as an English one does.
    """

    label: ClassVar[str] = "being a question, where the query needs an answer"
    name: str = "question_penalty"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        words = query.text.split(maxsplit=1)
        asks = query.text.rstrip().endswith(("?", "？"))
        if not words or not (asks or words[0].casefold() in _ASKING):
            return {}
        return {one.key: -1.0 if one.memory.text.rstrip().endswith(("?", "？")) else 0.0 for one in context}


# Bytes, as a character of Chinese says about what three letters do: a text below sixteen words is short, and below four
# words none is shorter than another.
SHORT, SHORTEST = 88, 22
# Different tokens of a chunk.
LONG = 128
# A text of fewer characters has no such chunk.
_CANNOT_BE_LONG = 300


@dataclass(frozen=True, slots=True)
class LengthPenalty:
    """0 for a memory of a usual size, and less for each e-fold that it is shorter, or its best chunk is longer.

    A single note may be of any length below that: it was written down to be found again. A cell, a paragraph or a
    turn of a conversation is short because the text around it says the rest.
    """

    label: ClassVar[str] = "its unusual length"
    name: str = "length_penalty"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        tokens, found = context.tokens, dict.fromkeys(context.keys, 0.0)
        for key, chunk, one in zip(context.keys, context.chunks, context.memories, strict=True):
            characters = len(one.text)
            if characters < SHORT and (one.kind != "note" or one.session is not None):
                if (size := len(one.text.encode())) < SHORT:
                    found[key] = log(max(size, SHORTEST) / SHORT)
            elif characters >= _CANNOT_BE_LONG and (count := tokens[chunk].size) > LONG:
                found[key] = log(LONG / count)
        return found


_TIER_QUALITY = {"core": 1.0, "note": 0.7, "file": 0.6, "mcp": 0.5}


@dataclass(frozen=True, slots=True)
class Quality:
    """0.4 * tier + 0.2 * c / (c + 1) + 0.2 * a / (a + 3) + 0.2 * recency, in [0, 1] (profile `memini`; numbers: ours).

    c counts the other sources among the candidates that say the same (they are found together, having the same words
    and the same vector), a how often the memory was read.
    """

    label: ClassVar[str] = "where it comes from, its age, and how often it was read"
    name: str = "quality"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        said = {one.key: normalised(one.memory.text) for one in context}
        sources: dict[str, set[str]] = defaultdict(set)
        for one in context:
            sources[said[one.key]].add(one.memory.source)
        recent = Recency()(query, context)
        return {one.key: quality(one.memory, len(sources[said[one.key]]) - 1, recent[one.key]) for one in context}


def quality(memory: Memory, copies: int, recency: float) -> float:
    """Return what a memory is worth by itself: ``copies`` is in how many other sources its content is found."""
    read = memory.accessed
    return 0.4 * importance(memory) + 0.2 * copies / (copies + 1) + 0.2 * read / (read + 3) + 0.2 * recency


def importance(memory: Memory) -> float:
    """Return what the tier of a memory is worth, in [0, 1]."""
    return _TIER_QUALITY[memory.tier]
