"""The values of the store as JSON, field by field what ``labextension/src/types.ts`` says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, Any

from jupyter_memory.server.locations import Root
from jupyter_memory.server.validation import ClientError

if TYPE_CHECKING:
    from datetime import datetime

    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Answer, Memory


def answered(answer: Answer, root: Root) -> dict[str, Any]:
    """Return an answer with the places where this Lab can open its hits."""
    places = [_place(hit.memory, hit.location, root, hit.freshness == "changed", hit.context) for hit in answer.hits]
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
        since, until = iso(temporal.since), iso(temporal.until)
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


def item(memory: Memory, store: MemoryStore, root: Root) -> dict[str, Any]:
    """Return one memory with its whole text; its file is compared if this Lab shows it."""
    place = _place(memory, memory.place(), root)
    if place["path"] is not None and memory.kind in ("file", "cell"):
        place["changed"] = bool(store.stale(memory.source))
    told = ("title", "text", "kind", "tier", "pinned", "lang", "source", "location", "tags")
    return {
        "memory_id": memory.id,
        **{name: getattr(memory, name) for name in told},
        "event_at": memory.event_at.isoformat(),
        "place": place,
    }


def _place(memory: Memory, location: str, root: Root, changed: bool = False, context: str = "") -> dict[str, Any]:
    # Location and headings are those of the hit.
    source, cell, told = memory.source, memory.location, memory.metadata
    noted = told.get("from")
    if not source:
        cell = ""
        # Where a note was remembered.
        if isinstance(noted, Mapping) and isinstance(noted.get("path"), str) and noted["path"]:
            with suppress(ClientError):
                source = str(root.within(noted["path"]))
                cell = _text(noted.get("cell"))
    path, closed = root.contents_path(source)
    if memory.kind == "history" and not source:
        closed = "The kernel did not know its notebook, or it is gone."
    # In a notebook a line says nothing, in any other file a cell does not.
    is_notebook = source.lower().endswith(".ipynb")
    by_index = is_notebook and cell.startswith("#") and cell[1:].isdecimal()
    place = {
        "path": path,
        "closed": closed,
        "cell": cell if is_notebook and cell and not by_index else None,
        "index": int(cell[1:]) if by_index else None,
        "line": int(location) if memory.source and not is_notebook and location.isdecimal() else None,
        "begins": memory.text.lstrip().split("\n", 1)[0][:200],
        "changed": path is not None and changed,
        "pinned": memory.pinned,
        "lang": memory.lang,
        "context": context,
    }
    if memory.kind == "history":
        # An entry that a person added by hand may tell anything of itself, or nothing: then it ran once.
        count = told.get("runs")
        place["run"] = {
            "count": count if isinstance(count, int) and count > 0 else 1,
            "first": _text(told.get("first_run")) or None,
            "last": memory.event_at.isoformat(),
            "outcome": memory.outcome,
            "error": memory.error,
            "environment": _text(told.get("environment")),
        }
    return place


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def folders(store: MemoryStore, compared: Root | None = None) -> list[dict[str, Any]]:
    """Return the indexed folders; those that ``compared`` admits are compared with the disk, which takes time."""
    return [
        {
            **asdict(one),
            "changed": store.stale(one.path) if compared is not None and compared.admits(one.path) else None,
            "indexed_at": iso(one.indexed_at),
        }
        for one in store.folders()
    ]


def iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
