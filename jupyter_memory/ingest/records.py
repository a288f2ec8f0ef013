"""A memory as its user writes it, a mapping of names to values, made a draft; and the way back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import isnan
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.preparation import clean
from jupyter_memory.search.query.filters import moment
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Draft, Memory

TIMES = ("event_at", "valid_from", "valid_until")
PLAIN = ("severity", "domain", "session", "space", "lang")
KNOWN = ("text", "title", "tags", "tier", "kind", "source", "metadata", *PLAIN, *TIMES)


def draft_from(record: Mapping[str, Any], *, space: str, redacting: bool) -> Draft:
    """Return a draft from the keywords of ``MemoryStore.add``; ``space`` is where it goes unless it says so.

    Raises:
        InputError: the text is missing, a name is not known, or a value cannot be stored.
    """
    given = {name: value for name, value in record.items() if not is_missing(value)}
    if unknown := sorted(set(given) - set(KNOWN)):
        raise InputError(f"A memory has no {', '.join(unknown)}. It has: {', '.join(KNOWN)}.")
    for name in ("text", "title", "source", "tier", "kind", *PLAIN):
        if not isinstance(given.get(name, ""), str):
            raise InputError(f"{name} must be a string, not {type(given[name]).__name__}.")
    now = datetime.now(UTC)
    for name in TIMES:
        given[name] = moment(given.get(name), now, end=name == "valid_until")
    given["event_at"] = given["event_at"] or now
    given["text"] = given.get("text", "")
    given["tags"] = _tags(given.get("tags", ()))
    given["metadata"] = _json(given.get("metadata", {}))
    given["space"] = given.get("space") or space
    return clean(Draft(**given), redacting=redacting)


def record_of(memory: Memory) -> dict[str, Any]:
    """Return the keywords of ``MemoryStore.add`` that would make this memory, without its place in a file."""
    return {name: getattr(memory, name) for name in KNOWN}


def is_missing(value: Any) -> bool:
    """Return whether there is no value: None, or the NaN that a DataFrame has in its place."""
    return value is None or (isinstance(value, float) and isnan(value))


def _tags(value: Any) -> tuple[str, ...]:
    tags = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(tag, str) for tag in tags):
        raise InputError("tags must be a string or several, such as ['decision', 'prices'].")
    return tags


def _json(metadata: Any) -> dict[str, Any]:
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError
        written = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        copy: dict[str, Any] = json.loads(encodable(written))
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "metadata must be a mapping of JSON values: strings, numbers, lists, mappings, true, false, null."
        ) from None
    return copy
