"""Sentences about what the store did or holds, shared by the magics, the command line and the server."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_memory.config import Setting
from jupyter_memory.text.display import columns, fit, size
from jupyter_memory.types import Filters, IndexReport, Memory, Selection
from jupyter_memory.types.report import StoreSize, Undoable

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore

_LISTED = 20
# Commands that the library names in its messages are words of %memory in a notebook, but for the note of %memadd.
_COMMAND = re.compile(r"`(index|add|undo|status|forget --now|model (?:list|use|drop|remove)\b[^`]*)`")
_AS_TYPED = {"index": "%memory index FOLDER", "add": "%memadd TEXT"}


def count(number: int, thing: str = "memory", things: str = "memories") -> str:
    """Return a number with its noun.

    >>> count(1), count(1200)
    ('1 memory', '1,200 memories')
    """
    return f"{number:,} {thing if number == 1 else things}"


def as_typed(text: str) -> str:
    """Return a message with its commands as magics.

    >>> as_typed("add files with `index`, or a note with `add`")
    'add files with `%memory index FOLDER`, or a note with `%memadd TEXT`'
    """
    return _COMMAND.sub(lambda found: f"`{_AS_TYPED.get(found[1], f'%memory {found[1]}')}`", text)


def named(memory: Memory, did: str) -> str:
    """Return a line about what was done to a memory: ``pinned 3f2a… “Prices”``."""
    return f"{did} {memory.id} “{fit(memory.headline, 60)}”"


def remembered(memory: Memory, began: datetime) -> str:
    """Return a line about a text that was to be remembered from then on: what the store had before is not new."""
    if memory.indexed_at >= began:
        return named(memory, "remembered")
    tags = f", tagged {', '.join(memory.tags)}" if memory.tags else ""
    return f"{named(memory, 'known already, so not stored again:')}{tags}"


def indexed(report: IndexReport) -> str:
    """Return what indexing did, with as many reasons as a person reads."""
    lines = str(report).splitlines()
    if len(lines) > _LISTED + 1:
        left = len(lines) - _LISTED
        lines = [*lines[:_LISTED], f"  … and {left} more"]
    return "\n".join(lines)


def still_there(forgotten: int, sources: Sequence[str]) -> list[str]:
    """Return how forgotten files would come back, nothing if they are gone or nothing was forgotten."""
    places = [Path(source).expanduser() for source in sources if forgotten]
    said = []
    if any(place.is_dir() for place in places):
        said.append(
            "The files themselves stay: if this folder, or one above it, is indexed again, they are remembered again. "
            "A file .jupytermemoryignore in it with the line * prevents that; so does the setting `ignore`."
        )
    if any(place.is_file() for place in places):
        said.append(
            "The file itself stays: if its folder is indexed again, it is remembered again. "
            "Its name in a file .jupytermemoryignore beside it prevents that; so does the setting `ignore`."
        )
    return said


def unforgotten(store: MemoryStore, chosen: Mapping[str, Any]) -> Sequence[str]:
    """Return why nothing matches the arguments of ``forget``, such as a tag that no memory has."""
    filters = chosen["filters"] or Filters()
    if chosen["source"]:
        filters = replace(filters, path=tuple(chosen["source"]))
    return store.browsed(limit=1, filters=filters).notices


def selected(store: MemoryStore, selection: Selection) -> str:
    """Return what forgetting would remove: ``12 memories (10 cell, 2 note; 1 pinned, 4 with tags)``."""
    if not selection.everything:
        return str(selection)
    held = f"{'the' if len(selection) == 1 else 'all'} {count(len(selection))}"
    where = f"the space {store.space!r} in {store.path}" if store.space else str(store.path)
    return f"{held} of {where}" + (f" ({selection.parts})" if len(selection) else "")


def status(stats: Mapping[str, Any], arithmetic: str) -> str:
    """Return what a store holds, and which arithmetic the static model uses."""
    held, pictures = StoreSize(stats["sizes"], stats["budget"]), stats["thumbnails"]
    share = "" if held.budget is None else f"{held.held / held.budget:.0%} of max_store_mb ({size(held.budget)})"
    rows = [
        ("store", stats["store"] + (" (read-only)" if stats["read_only"] else "")),
        ("size", size(held.bytes)),
        ("of which", str(held)),
        ("budget", share),
        (
            "traces",
            "of forgotten text may remain; the next `forget` removes them, and so does opening the store"
            if stats["scrub_pending"]
            else "",
        ),
        ("undo", _undoable(stats["undo"]) if "undo" in stats else ""),
        (
            "memories",
            f"{stats['memories']:,} ({', '.join(f'{number:,} {name}' for name, number in stats['kinds'].items())})"
            if stats["kinds"]
            else "none yet: add files with `index`, or a note with `add`",
        ),
        ("files", f"{stats['files']:,}"),
        ("pictures", f"{pictures['number']:,} ({size(pictures['bytes'])})" if pictures["number"] else ""),
        ("pinned", f"{stats['pinned']:,}"),
        ("history", _history(stats["history"])),
        ("spaces", _spaces(stats["spaces"])),
        ("model", _models(stats["models"])),
        ("arithmetic", arithmetic),
    ]
    return columns([row for row in rows if row[1]])


def taking_back(command: Callable[[str], str], pending: Undoable) -> str:
    """Return how what was forgotten comes back, and that it is not gone before the time is over."""
    end = pending.until.astimezone()
    until = f"{end:%H:%M}" if end.date() == datetime.now(end.tzinfo).date() else f"{end:%Y-%m-%d %H:%M}"
    return (
        f"Until {until}, {command('undo')} brings it back, and its texts are still in the file. "
        f"{command('forget --now')} removes them now."
    )


def _undoable(held: Mapping[str, Any]) -> str:
    until = datetime.fromisoformat(held["until"]).astimezone()
    return (
        f"brings back {count(held['memories'])} until {until:%Y-%m-%d %H:%M}; until then their texts are in the file "
        "(`forget --now` removes them)"
    )


def _history(held: Mapping[str, int]) -> str:
    """Return how many runs a store holds, and whether kernels record; empty where there is nothing to say.

    >>> _history({"recording": 1, "runs": 1200}), _history({"recording": 0, "runs": 0})
    ('1,200 runs; on: 1 kernel records what it runs', '')
    """
    kernels = held["recording"]
    said = [count(held["runs"], "run", "runs")] if held["runs"] or kernels else []
    if kernels:
        said.append(
            "on: 1 kernel records what it runs" if kernels == 1 else f"on: {kernels} kernels record what they run"
        )
    return "; ".join(said)


def _models(known: Sequence[Mapping[str, Any]]) -> str:
    if not known:
        return "none yet: it is chosen when the first memory is stored"
    ordered = sorted(known, key=lambda model: not model["active"])
    return ", ".join(
        f"{model['name']} ({model['dimensions']} dimensions, {model['vectors']:,} vectors"
        f"{'' if model['active'] else ', not in use'})"
        for model in ordered
    )


def configuration(rows: Sequence[Setting]) -> str:
    """Return every setting with its value and the origin of the value."""
    return columns([(row.name, str(row.value), row.origin) for row in rows])


def _spaces(spaces: Mapping[str, int]) -> str:
    """Return how many memories each space has, empty if there are none.

    >>> _spaces({"": 4_924, "work": 12}), _spaces({"": 4_924})
    ('work 12, in none 4,924', '')
    """
    named = [f"{name} {number:,}" for name, number in spaces.items() if name]
    return ", ".join([*named, f"in none {spaces['']:,}"] if named and spaces.get("") else named)
