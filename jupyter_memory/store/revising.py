"""Changing a memory: what has to be indexed and embedded anew, and what is only a value in its row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest import preparation as records
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.storage import rows
from jupyter_memory.storage.filters import to_micros
from jupyter_memory.storage.library import Library
from jupyter_memory.store.model import StoreModel
from jupyter_memory.types import Draft, Memory

_KNOWN = set(records.KNOWN) - {"kind", "source"}
# Every memory has these: None leaves them as they are.
_NEVER_EMPTY = ("text", "tier", "event_at")


def revise(
    library: Library, model: StoreModel, memory: Memory, changes: Mapping[str, Any], drafted: Callable[..., Draft]
) -> Memory:
    """Return a memory with its changes written; ``drafted`` makes a draft of a record, as adding does.

    Raises:
        InputError: a name is not known, a value cannot be stored, or another memory says the same already.
    """
    if unknown := sorted(set(changes) - _KNOWN):
        raise InputError(f"update() cannot set {', '.join(unknown)}. It sets: {', '.join(sorted(_KNOWN))}.")
    kept = {name for name in _NEVER_EMPTY if records.is_missing(changes.get(name))}
    changes = {name: value for name, value in changes.items() if name not in kept}
    draft = replace(drafted({**records.record_of(memory), **changes}), location=memory.location)
    _refuse_copy(library, draft, memory)
    values = _values(draft, changes)
    # The date of a note is among the words that are searched.
    redated = "event_at" in changes and memory.kind == "note"
    if redated or (draft.text, draft.title) != (memory.text, memory.title):
        placed = _in_place(library, draft, memory)
        return model.writing(
            lambda embedder: library.update(memory.id, prepare([placed], embedder)[0], values, embedder)
        )
    tags = draft.tags if set(draft.tags) != set(memory.tags) else None
    return library.update(memory.id, None, values, None, tags)


def _values(draft: Draft, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that change as they come, without the index."""
    values: dict[str, Any] = {name: getattr(draft, name) for name in records.PLAIN if name in changes}
    values |= {name: _micros(getattr(draft, name)) for name in records.TIMES if name in changes}
    if "metadata" in changes:
        values["metadata"] = json.dumps(dict(draft.metadata), ensure_ascii=False)
    if "tier" in changes:
        # Only unpin() takes a pin off: below it, the tier is that which unpinning brings back.
        values |= {"pinned": 1} if draft.pinned else {"tier": draft.tier}
    return values


def _refuse_copy(library: Library, draft: Draft, memory: Memory) -> None:
    """Keep a change from making one memory the copy of another."""
    with library.database.read() as connection:
        key = rows.find_known(connection, [rows.identity(draft)])[0]
        if key is not None and key != rows.key_of(connection, memory.id):
            other = rows.load(connection, [key])[key]
            raise InputError(
                f"Nothing was changed: memory {other.id} says the same already. Forget one of the two instead."
            )


def _in_place(library: Library, draft: Draft, memory: Memory) -> Draft:
    """Return the new words of what came from a document with the place in it that they still have."""
    if memory.kind == "note":
        return draft
    with library.database.read() as connection:
        prefix = rows.context_of(connection, rows.known_key(connection, memory.id))
    return replace(draft, lang=memory.lang, context=prefix)


def _micros(value: datetime | None) -> int | None:
    return None if value is None else to_micros(value)
