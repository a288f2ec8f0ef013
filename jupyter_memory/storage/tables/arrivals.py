"""Memories that come from another store: with its ids, times and runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jupyter_memory.storage.base import Arriving, identity, micros, to_micros
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.sql import Session
from jupyter_memory.storage.tables import memories, runs
from jupyter_memory.types import Run


def same_content(session: Session, arriving: Sequence[Arriving]) -> list[int | None]:
    """Return for each the key of the memory that holds the same content in the same place; what ran is one anywhere."""
    drafts = [one.prepared.draft for one in arriving]
    found = memories.find_known(session, [identity(draft) for draft in drafts])
    ran = {(content_hash(draft), draft.space): place for place, draft in enumerate(drafts) if draft.kind == "history"}
    known = runs.texts_known(session, ran)
    return [
        known.get((content_hash(draft), draft.space), key) if draft.kind == "history" else key
        for draft, key in zip(drafts, found, strict=True)
    ]


def add_runs(session: Session, key: int, found: Sequence[Run]) -> bool:
    """Give a memory those of these runs that the store lacks; return whether there were any."""
    seen = runs.noted(session, found) if found else set()
    added = False
    for run in found:
        if runs.key(run) not in seen:
            runs.insert(session, key, run)
            seen.add(runs.key(run))
            added = True
    return added


def columns(one: Arriving) -> dict[str, Any]:
    """Return the columns of a memory as they were in another store, but for its id."""
    draft = one.prepared.draft
    return {
        "source": draft.source,
        "kind": draft.kind,
        "space": draft.space,
        "location": draft.location,
        "tier": draft.tier,
        "lang": draft.lang,
        "title": draft.title,
        "severity": draft.severity,
        "domain": draft.domain,
        "session": draft.session,
        "valid_from": micros(draft.valid_from),
        "valid_until": micros(draft.valid_until),
        "content_hash": content_hash(draft),
        "accessed": one.accessed,
        "pinned": draft.pinned,
        "event_at": to_micros(draft.event_at or one.indexed_at),
        "indexed_at": to_micros(one.indexed_at),
        "metadata": json.dumps(dict(draft.metadata), ensure_ascii=False),
    }


def differs(session: Session, key: int, one: Arriving) -> bool:
    """Return whether a memory is not what arrives: in a column, its words or its tags."""
    wanted = columns(one)
    [held] = session.rows(
        f"select {', '.join(wanted)} from memories where {session.dialect.of('memories')} and key = :key", key=key
    )
    tags = memories.load(session, [key])[key].tags
    return tuple(held) != tuple(wanted.values()) or set(tags) != set(one.prepared.draft.tags)
