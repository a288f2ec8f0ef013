"""What rows hold: times as whole numbers, the ids of new memories, and what makes two memories the same."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.types import Draft

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ID_BYTES = 8
# Source, kind, space, location and content hash of a memory.
Identity = tuple[str, str, str, str, str]


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970; exact, unlike ``timestamp()``."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return an aware UTC time."""
    return _EPOCH + timedelta(microseconds=micros)


def identity(draft: Draft) -> Identity:
    """Return what identifies a memory: source, kind, space, location and content hash."""
    return (draft.source, draft.kind, draft.space, draft.location, content_hash(draft))


def new_ids(count: int) -> list[str]:
    """Return ids of new memories, all of them with one call of the system."""
    written = secrets.token_hex(_ID_BYTES * count)
    return [written[begin : begin + 2 * _ID_BYTES] for begin in range(0, len(written), 2 * _ID_BYTES)]
