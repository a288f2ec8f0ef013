"""Several stores searched as one, what is nearest to the task first: the federation of the seed system `vault`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from jupyter_memory.config import load_config
from jupyter_memory.errors import InputError, QueryError
from jupyter_memory.search.fusion import newer_first
from jupyter_memory.search.profiles import vault
from jupyter_memory.search.query.parser import parse
from jupyter_memory.store.store import MemoryStore, frame_of
from jupyter_memory.types import Answer, Hit

if TYPE_CHECKING:
    import pandas as pd

# By how much the scores of a tier count; the published system says the order, the numbers are ours.
PRIORITIES: Mapping[str, float] = MappingProxyType({"agent": 1.0, "project": 0.8, "team": 0.6})


@dataclass(frozen=True, slots=True)
class Vault:
    """A store with the name of its tier and the factor of its scores, a number above 0."""

    tier: str
    store: MemoryStore
    priority: float


@dataclass(frozen=True, slots=True)
class Federated:
    """An answer from several stores; ``vaults`` says where each of its hits came from, in their order."""

    answer: Answer
    vaults: tuple[Vault, ...]

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.answer.hits


class Vaults:
    """Stores that are searched together by the profile `vault`: ``agent``, ``project``, ``team``.

    Another store comes as ``name=(store, priority)``. The contributions of a hit are multiplied by its tier's priority.
    What several stores hold is shown once, as the store of the highest priority has it.
    """

    def __init__(self, **stores: MemoryStore | tuple[MemoryStore, float]) -> None:
        if not stores:
            raise InputError("Name the stores: Vaults(agent=store, project=store, team=store, wiki=(store, 0.4)).")
        vaults = []
        for tier, given in stores.items():
            if not isinstance(given, tuple) and tier not in PRIORITIES:
                raise InputError(f"{tier} has no priority of its own. Give one: {tier}=(store, 0.4).")
            store, priority = given if isinstance(given, tuple) else (given, PRIORITIES[tier])
            if not (isfinite(priority) and priority > 0):
                raise InputError(f"The priority of {tier} is a number above 0, not {priority!r}.")
            vaults.append(Vault(tier, store, priority))
        self.vaults = tuple(sorted(vaults, key=lambda one: -one.priority))

    def hits(self, query: str, **asked: Any) -> Federated:
        """Return the best memories of all stores; the keywords are those of ``MemoryStore.hits`` but ``profile``.

        Raises ``QueryError`` if another profile is asked for, the query is empty, or a filter cannot be read.
        """
        if asked.pop("profile", vault.name) not in (vault.name, vault):
            raise QueryError("Several stores are searched by the profile vault alone: leave profile= out.")
        wanted = asked.pop("limit", None)
        read = parse(query, now=datetime.now(UTC), limit=load_config().limit if wanted is None else wanted)
        if not read.text:
            raise QueryError("Several stores are not browsed together: add some words, or browse one of them.")
        # As many as the profile looks at for one answer: a copy that is not among the first still takes its place.
        deep = vault.fetches(read.limit)
        answers = {one: one.store.hits(query, profile=vault, limit=deep, **asked) for one in self.vaults}
        return _merged(answers, read.limit)

    def search(self, query: str, **asked: Any) -> pd.DataFrame:
        """Return what ``hits`` finds as a DataFrame with one more column, ``vault``, and without ``.memory``."""
        found = self.hits(query, **asked)
        frame = frame_of(found.answer)
        frame.attrs.pop("memsearch")
        frame.insert(list(frame.columns).index("tier"), "vault", [one.tier for one in found.vaults])
        return frame


def _merged(answers: Mapping[Vault, Answer], limit: int) -> Federated:
    known: set[str] = set()
    rows: list[tuple[Hit, Vault]] = []
    for one, answer in answers.items():
        kept = [hit for hit in answer.hits if hit.memory.content_hash not in known]
        # Within one store, two copies are two memories.
        known |= {hit.memory.content_hash for hit in kept}
        for hit in kept:
            signals = {
                name: replace(seen, contribution=seen.contribution * one.priority) for name, seen in hit.signals.items()
            }
            rows.append((replace(hit, score=hit.score * one.priority, signals=signals), one))
    rows.sort(key=lambda row: (-row[0].score, -row[1].priority, *newer_first(row[0].memory)))
    shown, notices = limit, list[str]()
    places = [place for place, (hit, _) in enumerate(rows, start=1) if hit.kw_rank is not None]
    if len(places) < vault.small_corpus and limit < len(places) / 2:
        shown = places[-1]
        notices.append(f"Only {len(places)} memories contain any of these words, so all of them are shown.")
    firsts = list(answers.values())
    counts = {name: sum(answer.counts[name] for answer in firsts) for name in firsts[0].counts}
    answer = replace(
        firsts[0],
        query=replace(firsts[0].query, limit=limit),
        hits=tuple(replace(hit, rank=rank) for rank, (hit, _) in enumerate(rows[:shown], start=1)),
        counts={**counts, "fused": len(rows)},
        timings={name: sum(one.timings.get(name, 0.0) for one in firsts) for name in firsts[0].timings},
        notices=tuple(dict.fromkeys([*(told for one in firsts for told in one.notices), *notices])),
        query_id=uuid4().hex,
        facets={},
    )
    return Federated(answer, tuple(one for _, one in rows[:shown]))
