"""The memories that the arguments of ``forget`` select: by ids, or by filters as they hold in a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.search.query.filters import filters_from
from jupyter_memory.store.scope import Scope
from jupyter_memory.types import Filters, as_tuple

_ONLY_TRUE = (
    "everything= forgets the whole store, so it takes True or False and nothing else. Write everything=True for that, "
    "or leave it out."
)
NOT_BOTH = "forget() takes ids, or a choice by source and filters, not both."


def selected(
    scope: Scope,
    ids: str | Sequence[str] | None,
    source: str | Sequence[str] | None,
    filters: Filters | Mapping[str, Any] | None,
    everything: bool,
) -> tuple[str, ...] | Filters:
    """Return what the arguments of ``forget`` select: ids, or filters as they hold in this store."""
    if not isinstance(everything, bool):
        raise InputError(_ONLY_TRUE)
    # Filters without a value leave nothing out, and an empty source is above every file.
    chosen, sources = filters_from(filters, None, None, datetime.now(UTC)), as_tuple(source)
    if ids is None and not any(sources) and not chosen and not everything:
        raise InputError("forget() needs to know what: ids, source=, filters=, or everything=True.")
    if ids is not None:
        if source is not None or filters or everything:
            raise InputError(NOT_BOTH)
        return as_tuple(ids) if isinstance(ids, Iterable) else (str(ids),)
    if sources and not any(sources):
        raise InputError("source= is empty. Name a file or a folder, or leave it out.")
    if sources and chosen.path:
        raise InputError("forget() takes one path: source= or a path among the filters, not both.")
    chosen = scope.bound(chosen, every_name=True)
    return replace(chosen, path=_paths(scope, sources)) if sources else chosen


def _paths(scope: Scope, sources: Sequence[str]) -> tuple[str, ...]:
    """Return sources as they are written, which may be a note's, and as paths of the store's folder."""
    written = filters_from({"path": [one for one in sources if one]}, None, None, datetime.now(UTC))
    scopes = dict.fromkeys((replace(scope, folder=""), scope))
    return tuple(dict.fromkeys(name for one in scopes for name in one.bound(written, every_name=True).path))
