"""Sentences about what the store did or holds, shared by the magics, the command line and the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jupyter_memory.text.display import columns, count_of, fit, size
from jupyter_memory.types import IndexReport, Memory, Selection
from jupyter_memory.types.report import StoreSize

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore

_LISTED = 20
# Commands that the library names in its messages are words of %memory in a notebook, but for the note of %memadd.
_COMMAND = re.compile(r"`(index|add|undo|status|forget --now|model (?:list|use|drop|remove)\b[^`]*)`")
_AS_TYPED = {"index": "%memory index FOLDER", "add": "%memadd TEXT"}


def as_typed(text: str) -> str:
    """Return a message with its commands as magics.

    >>> as_typed("add files with `index`, or a note with `add`")
    'add files with `%memory index FOLDER`, or a note with `%memadd TEXT`'
    """
    return _COMMAND.sub(lambda found: f"`{_AS_TYPED.get(found[1], f'%memory {found[1]}')}`", text)


def named(memory: Memory, did: str) -> str:
    """Return a line about what was done to a memory: ``pinned 3f2a… “Prices”``."""
    return f"{did} {memory.id} “{fit(memory.headline, 60)}”"


def indexed(report: IndexReport) -> str:
    """Return what indexing did, with as many reasons as a person reads."""
    lines = str(report).splitlines()
    if len(lines) > _LISTED + 1:
        lines[_LISTED:] = [f"  … and {len(lines) - _LISTED} more"]
    return "\n".join(lines)


def selected(store: MemoryStore, selection: Selection) -> str:
    """Return what forgetting would remove: ``12 memories (10 cell, 2 note; 1 pinned, 4 with tags)``."""
    if not selection.everything:
        return str(selection)
    held = f"{'the' if len(selection) == 1 else 'all'} {count_of(len(selection), 'memory', 'memories')}"
    where = f"the space {store.space!r} in {store.path}" if store.space else str(store.path)
    return f"{held} of {where}" + (f" ({selection.parts})" if len(selection) else "")


def status(stats: Mapping[str, Any], arithmetic: str) -> str:
    """Return what a store holds, and which arithmetic the static model uses."""
    held, pictures = StoreSize(stats["sizes"], stats["budget"]), stats["thumbnails"]
    share = "" if held.budget is None else f"{held.held / held.budget:.0%} of max_store_mb ({size(held.budget)})"
    undo = ""
    if "undo" in stats:
        until = datetime.fromisoformat(stats["undo"]["until"]).astimezone()
        undo = (
            f"brings back {count_of(stats['undo']['memories'], 'memory', 'memories')} until {until:%Y-%m-%d %H:%M}; "
            "until then their texts are in the file (`forget --now` removes them)"
        )
    runs, kernels = stats["history"]["runs"], stats["history"]["recording"]
    recording = f"{count_of(kernels, 'kernel')} record{'s what it runs' if kernels == 1 else ' what they run'}"
    history = [count_of(runs, "run")] if runs or kernels else []
    history += [f"on: {recording}"] if kernels else []
    spaces = [f"{name} {number:,}" for name, number in stats["spaces"].items() if name]
    if spaces and stats["spaces"].get(""):
        spaces.append(f"in none {stats['spaces']['']:,}")
    models = [
        f"{model['name']} ({model['dimensions']} dimensions, {model['vectors']:,} vectors"
        f"{'' if model['active'] else ', not in use'})"
        for model in sorted(stats["models"], key=lambda model: not model["active"])
    ]
    kinds = ", ".join(f"{number:,} {name}" for name, number in stats["kinds"].items())
    traces = "of forgotten text may remain; the next `forget` removes them, and so does opening the store"
    rows = [
        ("store", stats["store"] + (" (read-only)" if stats["read_only"] else "")),
        ("size", size(held.bytes)),
        ("of which", str(held)),
        ("budget", share),
        ("traces", traces if stats["scrub_pending"] else ""),
        ("undo", undo),
        (
            "memories",
            f"{stats['memories']:,} ({kinds})" if kinds else "none yet: add files with `index`, or a note with `add`",
        ),
        ("files", f"{stats['files']:,}"),
        ("pictures", f"{pictures['number']:,} ({size(pictures['bytes'])})" if pictures["number"] else ""),
        ("pinned", f"{stats['pinned']:,}"),
        ("history", "; ".join(history)),
        ("spaces", ", ".join(spaces)),
        ("model", ", ".join(models) or "none yet: it is chosen when the first memory is stored"),
        ("arithmetic", arithmetic),
    ]
    return columns([row for row in rows if row[1]])
