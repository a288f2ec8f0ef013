"""What a store notes of how it is used: folders that were indexed, recent searches, what was said of hits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# Where a search can come from.
ORIGINS = ("magic", "panel", "command line", "python")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, or a single file, that was indexed.

    ``changed`` counts the files that are new, gone or different since then; None where nobody looked. ``indexed_at`` is
    aware and in UTC.
    """

    path: str
    watched: bool
    files: int
    memories: int
    changed: int | None
    indexed_at: datetime | None
    exists: bool


@dataclass(frozen=True, slots=True)
class Recent:
    """A search that was made: ``origin`` is one of ``ORIGINS``, ``hits`` how many were shown, ``at`` aware in UTC."""

    query_id: str
    query: str
    profile: str
    at: datetime
    origin: str
    hits: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said of a hit: whether it was what was looked for, at which rank, by which profile."""

    memory_id: str
    accepted: bool
    query: str
    query_id: str
    profile: str
    rank: int | None
    at: datetime
