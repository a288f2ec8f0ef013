"""Memories that come from another store, as rows: with its ids, times and runs, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.shared import identity, to_micros
from jupyter_memory.storage.shared import key as run_key
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.sqlite.tables import runs
from jupyter_memory.storage.tables import memories
from jupyter_memory.storage.writing import Arriving
from jupyter_memory.types import Run


def keys_by_id(connection: Session, ids: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(
        "select id, key from memories where id in (select value from json_each(?))", (json.dumps(list(ids)),)
    )
    return dict(rows)


def same_content(connection: Session, arriving: Sequence[Arriving]) -> list[int | None]:
    """Return for each the key of the memory that holds the same content in the same place; what ran is one anywhere."""
    drafts = [one.prepared.draft for one in arriving]
    found = memories.find_known(connection, [identity(draft) for draft in drafts])
    ran = {(content_hash(draft), draft.space): place for place, draft in enumerate(drafts) if draft.kind == "history"}
    known = runs.texts_known(connection, ran)
    return [
        known.get((content_hash(draft), draft.space), key) if draft.kind == "history" else key
        for draft, key in zip(drafts, found, strict=True)
    ]


def add_runs(connection: Session, key: int, found: Sequence[Run]) -> bool:
    """Give a memory those of these runs that the store lacks; return whether there were any."""
    seen = runs.noted(connection, found) if found else set()
    added = False
    for run in found:
        if run_key(run) not in seen:
            runs.insert(connection, key, run)
            seen.add(run_key(run))
            added = True
    return added


def columns(one: Arriving) -> dict[str, Any]:
    """Return the columns of a memory as they were in another store, but for its id."""
    draft = one.prepared.draft
    times = {"valid_from": draft.valid_from, "valid_until": draft.valid_until}
    return {
        **{name: getattr(draft, name) for name in ("source", "kind", "space", "location", "tier", "lang", "title")},
        **{name: getattr(draft, name) for name in ("severity", "domain", "session")},
        **{name: None if moment is None else to_micros(moment) for name, moment in times.items()},
        "content_hash": content_hash(draft),
        "accessed": one.accessed,
        "pinned": int(draft.pinned),
        "event_at": to_micros(draft.event_at or one.indexed_at),
        "indexed_at": to_micros(one.indexed_at),
        "metadata": json.dumps(dict(draft.metadata), ensure_ascii=False),
    }


def differs(connection: Session, key: int, one: Arriving) -> bool:
    wanted = columns(one)
    held: Any = connection.execute(f"select {', '.join(wanted)} from memories where key = ?", (key,)).fetchone()
    return tuple(held) != tuple(wanted.values()) or set(memories.load(connection, [key])[key].tags) != set(
        one.prepared.draft.tags
    )
