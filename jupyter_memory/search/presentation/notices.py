"""Notices of an answer: nothing found, and filters that nothing in the store fits, with the nearest values.

The texts for "nothing found" are in `types/answer`, where the doors read them without loading a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.storage.base import SearchStorage, Snapshot
from jupyter_memory.text.paths import plain_path
from jupyter_memory.types import Answer, Filters
from jupyter_memory.types.search import EMPTY, NO_MATCH, NO_MATCH_FILTERED

_SAYINGS = {
    "tag": "has the tag",
    "kind": "has the kind",
    "tier": "has the tier",
    "path": "comes from",
    "lang": "is in the language",
    "space": "is in the space",
    "session": "belongs to the session",
}
_LACKS = {"path": "comes from a file", "lang": "has a language"}
# A query by program may name a thousand paths: then its filters are no slip of the finger.
_MOST_CHECKED = 20
_SHOWN = 4


def with_notices(answer: Answer, storage: SearchStorage) -> Answer:
    """Return an answer that also tells which of its filters nothing in the store fits."""
    filters = answer.query.filters
    if answer.hits and not filters:
        return answer
    with storage.snapshot() as snapshot:
        if not snapshot.exists(Filters()):
            return replace(answer, notices=(EMPTY,))
        found = tuple(_notices(snapshot, filters, bool(answer.hits)))
    return replace(answer, notices=(*answer.notices, *found)) if found else answer


def _notices(snapshot: Snapshot, filters: Filters, answered: bool) -> Iterator[str]:
    parts = list(_parts(filters))
    unmet = [
        notice
        for part in parts
        for facet in _SAYINGS
        for notice in _unmet_values(snapshot, facet, getattr(part, facet), "")
    ]
    idle = [
        notice
        for part in parts
        for facet in _SAYINGS
        for notice in _unmet_values(snapshot, facet, getattr(part, f"not_{facet}"), ", so this filter excludes nothing")
    ]
    yield from dict.fromkeys((*unmet, *idle))
    for word in dict.fromkeys(word for part in parts for word in part.not_word):
        yield (
            f"Memories that contain “{word}” are excluded because of the minus before it. "
            "Quote the word to search for it."
        )
    if answered or unmet:
        return
    if snapshot.exists(filters):
        yield NO_MATCH if not filters else NO_MATCH_FILTERED
        return
    if not snapshot.exists(_times(parts)):
        yield f"Nothing in this store is from that time: {_span(snapshot)}."
    else:
        yield "No memory matches all of these filters. Remove one of them."


def _parts(filters: Filters) -> Iterator[Filters]:
    """Yield filters and those that must hold as well, such as were typed in the query."""
    part: Filters | None = filters
    while part is not None:
        yield part
        part = part.also


def _times(parts: Sequence[Filters]) -> Filters:
    """Return nothing but the bounds in time that hold together."""
    since = [part.since for part in parts if part.since is not None]
    until = [part.until for part in parts if part.until is not None]
    return Filters(since=max(since, default=None), until=min(until, default=None))


def _unmet_values(snapshot: Snapshot, facet: str, values: tuple[str, ...], consequence: str) -> Iterator[str]:
    if len(values) > _MOST_CHECKED:
        return
    for value in values:
        alone: dict[str, Any] = {facet: (value,)}
        if not snapshot.exists(Filters(**alone)):
            known = snapshot.facet_values(facet)
            shown = _shown_path(value) if facet == "path" else value
            yield f"Nothing in this store {_SAYINGS[facet]} {shown!r}{consequence}. {_hint(facet, shown, known)}"


def _hint(facet: str, value: str, known: list[str]) -> str:
    near = _nearest_paths(value, known) if facet == "path" else _nearest(value, known)
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    if not known:
        return f"No memory {_LACKS.get(facet, f'has a {facet}')}."
    shown = _folders(known) if facet == "path" else sorted(known)
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return f"Known: {', '.join(shown[:_SHOWN])}{more}."


def _nearest(value: str, known: Iterable[str]) -> list[str]:
    by_fold = {one.casefold(): one for one in known}
    return [by_fold[one] for one in get_close_matches(value.casefold(), by_fold, n=3)]


def _shown_path(value: str) -> str:
    """Return a path as it was typed, but in full where dots or ``~`` stand for folders."""
    dotted = value.startswith("~") or not {".", ".."}.isdisjoint(value.split("/"))
    return _in_full(value) if dotted and "://" not in value else value


def _in_full(value: str) -> str:
    try:
        return str(plain_path(value))
    except InputError:  # "~name" of nobody here
        return value


def _nearest_paths(value: str, sources: Iterable[str]) -> list[str]:
    """Return the files and folders whose last name begins like that of a path, or else is nearest to it.

    A folder above the path is none of them: it holds far more than what was named.
    """
    place = PurePath(_in_full(value))
    above = set(map(str, place.parents))
    by_name: dict[str, str] = {}
    for source in sources:
        path = PurePath(source)
        for one in (path, *path.parents):
            if one.name and str(one) not in above:
                by_name.setdefault(one.name.casefold(), str(one))
    name = place.name.casefold()
    near = [one for one in by_name if name and one.startswith(name)] or get_close_matches(name, by_name, cutoff=0.7)
    return [by_name[one] for one in near[:2]]


def _folders(sources: Iterable[str]) -> list[str]:
    """Return the folders that hold the sources, without those that are below another; what is in none, by itself."""
    sources = set(sources)
    addresses = {source for source in sources if "://" in source}
    folders = {path.parent if path.parent.name else path for path in map(PurePath, sources - addresses)}
    return sorted(str(folder) for folder in folders if folders.isdisjoint(folder.parents)) + sorted(addresses)


def _span(snapshot: Snapshot) -> str:
    """Return the days from which the memories are."""
    days = [moment.astimezone().date().isoformat() for moment in snapshot.event_span()]
    return f"its memories are from {days[0]} to {days[1]}" if days[0] != days[1] else f"all of them are from {days[0]}"
