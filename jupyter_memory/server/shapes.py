"""The values of the store as JSON, field by field what ``labextension/src/types.ts`` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_memory.server.places import Root, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from jupyter_memory.ranking.profiles import Profile
    from jupyter_memory.store import MemoryStore
    from jupyter_memory.types import Answer, Explanation, Memory, Query

FACETS = ("kind", "lang", "tier", "tag")


class Shapes:
    """What a store answers as JSON values, with the places of this Lab."""

    def __init__(self, store: MemoryStore, root: Root) -> None:
        self._store = store
        self._root = root
        self._stale: dict[str, bool] = {}

    def answer(self, answer: Answer) -> dict[str, Any]:
        """Return an answer as ``IAnswer``."""
        return {
            **answer.to_json(),
            "query_id": answer.query_id,
            "profile": answer.profile,
            "strength": _number(answer.strength),
            "time_read": _time_read(answer.query),
            "timings": dict(answer.timings),
            "terms": list(answer.terms),
            "facets": _facets(answer),
            "places": [self.place(hit.memory, hit.location) for hit in answer.hits],
        }

    def explanation(self, explanation: Explanation) -> dict[str, Any]:
        """Return an explanation as ``IExplanation``."""
        return {
            "memory_id": explanation.memory.id,
            "rank": explanation.rank,
            "hit": None if explanation.hit is None else explanation.hit.to_json(),
            "reasons": list(explanation.reasons),
            "without": dict(getattr(explanation, "without", {})),
        }

    def item(self, memory: Memory) -> dict[str, Any]:
        """Return a memory in full as ``IItem``."""
        return {
            "memory_id": memory.id,
            "title": memory.title,
            "text": memory.text,
            "kind": memory.kind,
            "tier": memory.tier,
            "pinned": memory.pinned,
            "lang": memory.lang,
            "source": memory.source,
            "location": memory.location,
            "tags": list(memory.tags),
            "event_at": memory.event_at.isoformat(),
            "place": self.place(memory, memory.location),
        }

    def place(self, memory: Memory, location: str) -> dict[str, Any]:
        """Return where a memory can be opened as ``IPlace``."""
        return place_of(memory, location, self._root, self._is_stale)

    def _is_stale(self, source: str) -> bool:
        # The cells of a notebook share one file.
        if source not in self._stale:
            self._stale[source] = bool(getattr(self._store, "stale", lambda path: False)(source))
        return self._stale[source]


def profile(profile: Profile, default: str) -> dict[str, Any]:
    """Return a profile as ``IProfile``."""
    return {
        "name": profile.name,
        "summary": profile.summary,
        "formula": profile.formula,
        "terms": [term.name for term in profile.terms],
        "default": profile.name == default,
    }


def model(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Return one of the models that ``models.listed`` gives as ``IModel``."""
    return {
        "name": listed["name"],
        "title": listed["summary"],
        "active": listed["in_use"],
        "dimensions": listed["default_dimensions"],
        "state": listed["state"],
        "bytes": listed["bytes"],
        "licence": listed["licence"],
        "languages": listed["languages"],
    }


def _facets(answer: Answer) -> dict[str, dict[str, int]]:
    counted: Mapping[str, Mapping[str, int]] = getattr(answer, "facets", {})
    return {facet: dict(counted.get(facet, {})) for facet in FACETS}


def _time_read(query: Query) -> dict[str, Any] | None:
    """Return the time that a query names as ``ITimeRead``; sessions are no time."""
    anchor = query.anchor
    if anchor is None or anchor.sessions is not None:
        return None
    return {
        "phrase": anchor.phrase,
        "since": _iso(anchor.since),
        "until": _iso(anchor.until),
        "sure": anchor.sure,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if value != value else value
