"""A memory, its chunks, and the draft that becomes a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jupyter_memory.text.layout import preview
from jupyter_memory.text.rendering.markdown import first_words, is_markdown
from jupyter_memory.text.structure import first_line
from jupyter_memory.types.picture import NO_PICTURES, Pictures

KINDS = ("note", "file", "cell", "history")
TIERS = ("core", "file", "mcp", "note")
SEVERITIES = ("critical", "warning", "suggestion")


@dataclass(frozen=True, slots=True)
class Memory:
    """A note, a file, a history entry or one notebook cell.

    ``tier`` is ``core`` while the memory is pinned, otherwise the tier it was stored with. Times are aware and in UTC;
    ``event_at`` is when it happened, ``indexed_at`` when it was stored. What comes from a file has the date that
    it states, else that of its last commit, else that of the file.
    ``location`` identifies it within its source: a cell id, ``#index`` of a cell without one, the name of a function,
    or nothing. ``thumbnails`` counts the pictures of it that are kept.
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
    thumbnails: int = 0

    @property
    def outcome(self) -> str:
        """Return how the last run of what was run ended: ``ok``, ``error`` or ``unknown``; empty for other kinds."""
        if self.kind != "history":
            return ""
        outcome = self.metadata.get("outcome")
        return outcome if outcome in ("ok", "error") else "unknown"

    @property
    def error(self) -> str:
        """Return the name of the error that the last run of what was run ended with; empty where it ended otherwise."""
        error = self.metadata.get("error")
        return error if self.outcome == "error" and isinstance(error, str) else ""

    @property
    def headline(self) -> str:
        """Return the title, or of what has none its first words."""
        return self.title or first_words(self.text, markdown=is_markdown(self.kind, self.lang))

    @property
    def token_estimate(self) -> int:
        """Return about how many tokens the text has, at four characters each."""
        return len(self.text) // 4

    def place(self, line: int | None = None) -> str:
        """Return where it is in its source: its line, if it has one there, else its location.

        ``line`` is that of one of its chunks; without it, the first line is meant.
        """
        first = first_line(self.metadata)
        found = first if line is None else line
        return self.location if found is None or (self.location and first is None) else str(found)

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
    pictures: Pictures = NO_PICTURES
    chunks: tuple[Chunk, ...] = ()
