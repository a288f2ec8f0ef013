"""Why a memory is where it is, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from jupyter_memory.ranking.profiles import Profile
from jupyter_memory.types import Filters, Hit, Memory


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


def why_here(hit: Hit, pool: int, limit: int, profile: str) -> tuple[str, ...]:
    """Return the reasons for a memory's place among ``pool`` candidates."""
    parts = [f"{name} {seen.contribution:.6f}" for name, seen in hit.signals.items() if seen.contribution]
    place = f"Rank {hit.rank} of {pool} candidates by the profile {profile}"
    lines = [f"{place}: score {hit.score:.6f} = {' + '.join(parts) or '0'}."]
    if hit.rank > limit:
        lines.append(f"The answer shows the first {limit}, so it is not in it; ask for more with limit={hit.rank}.")
    for name, seen in hit.signals.items():
        if isnan(seen.value):
            lines.append(f"{name}: did not bring it." if name in ("keyword", "vector") else f"{name}: no opinion.")
            continue
        raw = {"keyword": "BM25", "vector": "cosine"}.get(name, "value")
        lines.append(f"{name}: rank {seen.rank}, {raw} {seen.value:.4g}, contributes {seen.contribution:.6f}.")
    return tuple(lines)


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
        lines.append(f"keyword: it matches with BM25 {missed.bm25:.4g}, but {missed.fetched} memories match better.")
    if missed.cosine is None:
        lines.append("vector: it has no vector of the active model, or meaning was not searched.")
    elif missed.threshold is not None and missed.cosine < missed.threshold:
        lines.append(f"vector: its cosine {missed.cosine:.4f} is below the threshold {missed.threshold:g}.")
    else:
        lines.append(f"vector: its cosine is {missed.cosine:.4f}, but {missed.fetched} memories are nearer.")
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
    return "; ".join(
        f"{name} {_shown(wanted)}, it has {_shown(has)}" for name, wanted, has in asked if wanted not in ((), None)
    )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value or "none")
