"""A memory, its chunks, and the draft that becomes a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jupyter_memory.text.layout import preview

KINDS = ("note", "file", "cell", "history")
TIERS = ("core", "file", "mcp", "note")
SEVERITIES = ("critical", "warning", "suggestion")


@dataclass(frozen=True, slots=True)
class Memory:
    """A note, a file, a history entry or one notebook cell.

    ``tier`` is ``core`` while the memory is pinned, otherwise the tier it was stored with. Times are aware and in UTC;
    ``event_at`` is when it happened, ``indexed_at`` when it was stored. What comes from a file has the date that
    it states, else that of its last commit, else that of the file.
    ``location`` is a cell id, ``#index`` of a cell without one, or empty.
    """

    id: str
    text: str
    title: str
    kind: str
    tier: str
    pinned: bool
    space: str
    source: str
    location: str
    lang: str
    tags: tuple[str, ...]
    severity: str | None
    domain: str | None
    event_at: datetime
    indexed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    session: str | None
    content_hash: str
    metadata: Mapping[str, Any]
    accessed: int = 0

    def __repr__(self) -> str:
        # The text may be a whole book.
        return f"<Memory {self.id}: {self.kind} “{preview(self.title or self.text)}”>"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a memory's text, ``memory.text[start:end]``, with its place in its document.

    ``line`` is the 1-based line on which it begins in its source. ``context`` is the structural prefix (document
    name, heading path, the Markdown just above a code cell, weekday and date); it is indexed and embedded with
    the text, never shown as part of it.
    """

    start: int
    end: int
    context: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way into the store, before it has an id.

    ``dated_by_file`` is true where nothing but the file, or its last commit, tells ``event_at``.
    """

    text: str
    title: str = ""
    kind: str = "note"
    tier: str = "note"
    pinned: bool = False
    space: str = ""
    source: str = ""
    location: str = ""
    lang: str = ""
    tags: tuple[str, ...] = ()
    severity: str | None = None
    domain: str | None = None
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    context: str = ""
    dated_by_file: bool = False
    chunks: tuple[Chunk, ...] = ()
