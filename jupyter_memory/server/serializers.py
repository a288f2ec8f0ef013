"""The values of the store as JSON, field by field what ``labextension/src/types.ts`` says."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, Any

from jupyter_memory.server.locations import Root, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Answer, Memory
    from jupyter_memory.types.report import Recent
    from jupyter_memory.types.search import Trace


class Serializer:
    """Turns the values of a store into JSON values, with the places where this Lab can open them."""

    def __init__(self, store: MemoryStore, root: Root) -> None:
        self._store = store
        self._root = root
        self._stale: dict[str, bool] = {}

    def answer(self, answer: Answer) -> dict[str, Any]:
        places = [self.place(hit.memory, hit.location, hit.context, hit.freshness == "changed") for hit in answer.hits]
        hits = [
            # A request learns nothing of the files outside the folder of this Lab.
            hit if place["path"] is not None else replace(hit, freshness="unknown")
            for hit, place in zip(answer.hits, places, strict=True)
        ]
        # Imported late, as it loads NumPy: a server without requests need not wait for it.
        from jupyter_memory.store.searching import changes_notice

        # The panel says below the results which files changed.
        notices = tuple(one for one in answer.notices if one != changes_notice(answer.hits))
        strength, temporal = answer.strength, answer.query.temporal
        if temporal is None or temporal.sessions is not None:
            time_read = None
        else:
            since, until = _iso(temporal.since), _iso(temporal.until)
            time_read = {"phrase": temporal.phrase, "since": since, "until": until, "sure": temporal.sure}
        return {
            **replace(answer, hits=tuple(hits), notices=notices).to_json(),
            "query_id": answer.query_id,
            "profile": answer.profile,
            "strength": None if isnan(strength) else strength,
            "time_read": time_read,
            "timings": dict(answer.timings),
            "terms": list(answer.terms),
            "facets": {facet: dict(answer.facets.get(facet, {})) for facet in ("kind", "lang", "tier", "tag")},
            "places": places,
        }

    def item(self, memory: Memory) -> dict[str, Any]:
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
            "place": self.place(memory, memory.place()),
        }

    def place(self, memory: Memory, location: str, context: str = "", changed: bool | None = None) -> dict[str, Any]:
        """Return where a memory can be opened; its file is compared if that was not done yet."""
        is_stale = self._is_stale if changed is None else lambda memory: changed
        return place_of(memory, location, self._root, is_stale, context)

    def _is_stale(self, memory: Memory) -> bool:
        if memory.kind not in ("file", "cell"):
            return False
        # The cells of a notebook share one file.
        if memory.source not in self._stale:
            self._stale[memory.source] = bool(self._store.stale(memory.source))
        return self._stale[memory.source]


def lists(trace: Trace) -> dict[str, Any]:
    rankings = {"keyword": trace.keyword, "vector": trace.vector, "fused": trace.fused}
    return {
        **{name: [asdict(one) for one in ranking[:200]] for name, ranking in rankings.items()},
        "without": {memory_id: dict(ranks) for memory_id, ranks in trace.without.items()},
    }


def folders(store: MemoryStore, compared: Root | None = None) -> list[dict[str, Any]]:
    """Return the indexed folders; those that ``compared`` admits are compared with the disk, which takes time."""
    return [
        {
            "path": one.path,
            "watched": one.watched,
            "files": one.files,
            "memories": one.memories,
            "changed": store.stale(one.path) if compared is not None and compared.admits(one.path) else None,
            "indexed_at": _iso(one.indexed_at),
            "exists": one.exists,
        }
        for one in store.folders()
    ]


def recent(recent: Recent) -> dict[str, Any]:
    return {
        "query_id": recent.query_id,
        "query": recent.query,
        "profile": recent.profile,
        "at": recent.at.isoformat(),
        "origin": recent.origin,
        "hits": recent.hits,
        "client": recent.client,
        "tool": recent.tool,
    }


def profile(profile: Profile, default: str) -> dict[str, Any]:
    return {
        "name": profile.name,
        "summary": profile.summary,
        "formula": profile.formula,
        "terms": [term.name for term in profile.terms],
        "default": profile.name == default,
    }


def model(listed: Mapping[str, Any]) -> dict[str, Any]:
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


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
