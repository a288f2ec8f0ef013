"""Several stores searched as one: comparable scores, one copy of each text, and no store that keeps the others waiting.

It began as the federation of the seed system `vault`, whose stores it calls vaults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from math import isfinite, nan
from operator import attrgetter
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from jupyter_memory import errors
from jupyter_memory.config import load_config
from jupyter_memory.search.confidence import verdict
from jupyter_memory.search.context import Scale
from jupyter_memory.search.fusion import newer_first
from jupyter_memory.search.profiles import Profile, profile_named, vault
from jupyter_memory.search.query.parser import parse
from jupyter_memory.store.searching import Searching
from jupyter_memory.store.store import MemoryStore, frame_of
from jupyter_memory.types import Answer, Hit, Memory
from jupyter_memory.types.search import EMPTY, UNANSWERED

if TYPE_CHECKING:
    import pandas as pd

# By how much the scores of a tier count; the published system says the order, the numbers are ours.
PRIORITIES: Mapping[str, float] = MappingProxyType({"agent": 1.0, "project": 0.8, "team": 0.6})
# Of these first hits, no store gives more than half while another has a strong one.
_FIRST = 10
# Notices of what a store lacks begin like this.
_LACKING = ("No memory ", "Nothing ", EMPTY)

Opened = MemoryStore | Callable[[], MemoryStore]
Done = TypeVar("Done")
# Errors that keep only one store from answering.
_AWAY = (errors.StoreError, errors.EmbedderError, errors.Interrupted, errors.MissingExtra, OSError)


@dataclass(frozen=True, slots=True)
class Vault:
    """A store with the name of its tier and the factor of its scores, a number above 0.

    ``store`` may also be a function that opens it for a search; ``part`` returns the searches of a store.
    """

    tier: str
    store: Opened
    priority: float
    part: Callable[[MemoryStore], Searching] = attrgetter("searching")


@dataclass(frozen=True, slots=True)
class Federated:
    """An answer from several stores; ``vaults`` says where each of its hits came from, in their order.

    ``left_out`` are the stores that did not answer, by their tiers, and why.
    """

    answer: Answer
    vaults: tuple[Vault, ...]
    left_out: Mapping[str, Exception]

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.answer.hits


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, errors.JupyterMemoryError) else type(error).__name__


class Vaults:
    """Stores that are searched together: ``agent``, ``project``, ``team``; each a store, or a function that opens one.

    Name other stores by ``name=(store, priority)``. The contributions of a hit are multiplied by its tier's priority.
    A text that several stores hold is shown once, from the store of the highest priority, or the first of equal ones.
    """

    def __init__(self, **stores: Opened | tuple[Opened, float] | Vault) -> None:
        if not stores:
            raise errors.InputError(
                "Name the stores: Vaults(agent=store, project=store, team=store, wiki=(store, 0.4))."
            )
        vaults = []
        for tier, given in stores.items():
            if isinstance(given, Vault):
                vaults.append(given)
                continue
            if not isinstance(given, tuple) and tier not in PRIORITIES:
                raise errors.InputError(f"{tier} has no priority of its own. Give one: {tier}=(store, 0.4).")
            store, priority = given if isinstance(given, tuple) else (given, PRIORITIES[tier])
            if not (isfinite(priority) and priority > 0):
                raise errors.InputError(f"The priority of {tier} is a number above 0, not {priority!r}.")
            vaults.append(Vault(tier, store, priority))
        self.vaults = tuple(sorted(vaults, key=lambda one: -one.priority))

    def hits(
        self,
        query: str | None,
        *,
        profile: str | Profile = vault,
        deadline: float | None = 1.0,
        told: Callable[[Exception], str] = _reason,
        **asked: Any,
    ) -> Federated:
        """Return the best memories of all stores; the other keywords are those of ``MemoryStore.hits``.

        None, as a query, browses them. A store that cannot be opened or read, or that has not answered ``deadline``
        seconds after the first, is named in the notices, with the reason that ``told`` makes of its error. Raises
        ``StoreError`` if no store answers, and ``QueryError`` if the query is empty, or a filter cannot be read.
        """
        limit = load_config().limit if (wanted := asked.pop("limit", None)) is None else wanted
        left_out: dict[str, Exception] = {}
        together = partial(_together, deadline=deadline, left_out=left_out)
        if query is not None and parse(query, now=datetime.now(UTC), limit=limit).text:
            chosen = profile_named(profile)
            answers = self._ranked(together, query, limit, chosen, asked)
        else:  # nothing but filters, if anything, was typed
            chosen, asked["limit"] = None, limit
            answers = together(
                self.vaults, lambda one: one.browsed(**asked) if query is None else one.hits(query, **asked)
            )
        left_out = {one.tier: left_out[one.tier] for one in self.vaults if one.tier in left_out}
        if not answers:
            alone = [told(error) for error in left_out.values()] if len(self.vaults) == 1 else []
            raise errors.StoreError("\n".join(alone or _missing(left_out, told)))
        merged = _merged(answers, limit, chosen, left_out)
        notices = (*merged.answer.notices, *_missing(left_out, told))
        return replace(merged, answer=replace(merged.answer, notices=notices))

    def _ranked(
        self, together: Callable[..., Any], query: str, limit: int, chosen: Profile, asked: Mapping[str, Any]
    ) -> dict[Vault, Answer]:
        # As many as the profile looks at for one answer: a copy that is not among the first still takes its place.
        deep = max(limit, chosen.fetches(limit) // (1 if chosen.small_corpus else chosen.fetch.factor))
        asked = {**asked, "profile": chosen, "limit": deep}
        scales: dict[str, Scale] = {}
        there = self.vaults
        if chosen.is_judged and len(there) > 1:
            # How far a hit stands out is measured over all stores of its model: a poor store would flatter its own.
            found: dict[Vault, Scale | None] = together(there, lambda searching: searching.scale(query, **asked))
            known = [scale for scale in found.values() if scale is not None]
            models = {scale.model for scale in known}
            scales = {model: Scale.of_all([one for one in known if one.model == model]) for model in models}
            there = tuple(found)
        answers: dict[Vault, Answer] = together(there, lambda one: one.hits(query, scales=scales, **asked))
        return answers

    def search(self, query: str, **asked: Any) -> pd.DataFrame:
        """Return what ``hits`` finds as a DataFrame, whose columns ``store`` and ``vault`` name the store of a hit."""
        found = self.hits(query, **asked)
        frame = frame_of(found.answer)
        frame.insert(list(frame.columns).index("tier"), "vault", [one.tier for one in found.vaults])
        return frame


# The results of one thread for each store, in their order, until the deadline after the first.
def _together(
    vaults: Sequence[Vault], work: Callable[[Searching], Done], deadline: float | None, left_out: dict[str, Exception]
) -> dict[Vault, Done]:
    ended: Queue[tuple[Vault, Done | Exception]] = Queue()
    stores: dict[Vault, MemoryStore] = {}

    def run(one: Vault) -> None:
        try:
            stores[one] = one.store if isinstance(one.store, MemoryStore) else one.store()
            ended.put((one, work(one.part(stores[one]))))
        except Exception as error:  # noqa: BLE001  who waits for it raises it
            ended.put((one, error))

    # A store that hangs must not keep the process from ending.
    threads = {one: Thread(target=run, args=(one,), name=f"jupyter-memory {one.tier}", daemon=True) for one in vaults}
    for thread in threads.values():
        thread.start()
    done, waiting, until = dict[Vault, Done](), set(threads), None
    while waiting:
        try:
            one, found = ended.get(timeout=None if until is None else max(0.0, until - monotonic()))
        except Empty:
            break
        waiting.discard(one)
        if isinstance(found, _AWAY):
            left_out[one.tier] = found
        elif isinstance(found, Exception):
            raise found
        else:
            done[one] = found
            until = until or (None if deadline is None else monotonic() + deadline)
    for one in waiting:
        left_out[one.tier] = errors.StoreError(f"It did not answer within {deadline:g} s of the others.")
        if one in stores:
            # Interrupting a server that hangs may hang, too.
            Thread(target=stores[one].interrupt, args=(threads[one].ident,), daemon=True).start()
    return {one: done[one] for one in vaults if one in done}


# In the order of the profile that ranked them, else in that of a list (``storage/tables/memories``).
def _merged(
    answers: Mapping[Vault, Answer], limit: int, profile: Profile | None, left_out: Mapping[str, Exception]
) -> Federated:
    known: set[str] = set()
    rows: list[tuple[Hit, Vault]] = []
    for one, answer in answers.items():
        kept = [hit for hit in answer.hits if hit.memory.content_hash not in known]
        # Within one store, two copies are two memories.
        known |= {hit.memory.content_hash for hit in kept}
        rows += [(_weighted(hit, one), one) for hit in kept]
    shown, notices, strength, judged = limit, list[str](), nan, None
    if profile is None:
        rows.sort(key=lambda row: (_tier(row[0].memory), *newer_first(row[0].memory)))
    else:
        rows.sort(key=lambda row: (-row[0].score, -row[1].priority, *newer_first(row[0].memory)))
        places = [place for place, (hit, _) in enumerate(rows, start=1) if hit.kw_rank is not None]
        if len(places) < profile.small_corpus and limit < len(places) / 2:
            shown = places[-1]
            notices.append(f"Only {len(places)} memories contain any of these words, so all of them are shown.")
    if profile is not None and profile.is_judged:
        rows = _shared(rows, min(limit, _FIRST))
        strength = rows[0][0].strength if rows else 0.0
        judged = verdict(strength)
    first = next(iter(answers.values()))
    rows, ranked = rows[:shown], len(rows)
    strong = accumulate((hit.strength for hit, _ in rows), min)
    hits = tuple(
        replace(hit, rank=rank, strength=sure)
        for rank, ((hit, _), sure) in enumerate(zip(rows, strong, strict=True), start=1)
    )
    facets: dict[str, Counter[str]] = {}
    for facet, counted in (pair for one in answers.values() for pair in one.facets.items()):
        facets[facet] = facets.get(facet, Counter()) + Counter(counted)
    answer = replace(
        first,
        query=replace(first.query, limit=limit),
        hits=hits,
        counts={name: sum(one.counts[name] for one in answers.values()) for name in first.counts} | {"fused": ranked},
        timings={name: sum(one.timings.get(name, 0.0) for one in answers.values()) for name in first.timings},
        notices=(*_told(answers), *notices, *([UNANSWERED] if judged == "none" and hits else [])),
        query_id=uuid4().hex,
        embedder=", ".join(dict.fromkeys(filter(None, (one.embedder for one in answers.values())))),
        facets={facet: dict(counted.most_common()) for facet, counted in facets.items()},
        strength=strength,
        verdict=judged,
        stores={one.tier: each.store for one, each in answers.items()},
    )
    return Federated(answer, tuple(one for _, one in rows), left_out)


def _tier(memory: Memory) -> int:
    return {"core": 0, "note": 1, "mcp": 2}.get(memory.tier, 4 if memory.kind == "history" else 3)


def _weighted(hit: Hit, one: Vault) -> Hit:
    signals = {name: replace(seen, contribution=seen.contribution * one.priority) for name, seen in hit.signals.items()}
    score = sum(seen.contribution for seen in signals.values()) if signals else hit.score
    return replace(hit, score=score, signals=signals, store=one.tier)


# Reordered so that no store gives more than half of the first hits while another has a strong one.
def _shared(rows: list[tuple[Hit, Vault]], first: int) -> list[tuple[Hit, Vault]]:
    left, chosen = list(rows), list[tuple[Hit, Vault]]()
    given = Counter[str]()
    while left and len(chosen) < first:
        full = {tier for tier, number in given.items() if 2 * number >= first}
        strong = (n for n, (hit, one) in enumerate(left) if one.tier not in full and verdict(hit.strength) == "strong")
        chosen.append(left.pop(next(strong, 0) if left[0][1].tier in full else 0))
        given[chosen[-1][1].tier] += 1
    return [*chosen, *left]


# The notices of the stores: once if all say the same, else with their names. What one lacks, another may have.
def _told(answers: Mapping[Vault, Answer]) -> list[str]:
    said = dict.fromkeys(notice for answer in answers.values() for notice in answer.notices if notice != UNANSWERED)
    found = []
    for notice in said:
        tiers = [one.tier for one, answer in answers.items() if notice in answer.notices]
        if len(tiers) == len(answers):
            found.append(notice)
        elif not notice.startswith(_LACKING):
            found.append(f"{', '.join(tiers)}: {notice}")
    return found


def _missing(left_out: Mapping[str, Exception], told: Callable[[Exception], str]) -> list[str]:
    return [f"The store {tier} is left out: {told(error)}" for tier, error in left_out.items()]
