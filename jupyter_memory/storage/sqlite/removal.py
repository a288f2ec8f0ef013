"""What is forgotten, also on a full disk: room for it, no trace of it, and room that is free given back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from jupyter_memory.errors import StoreError, StoreFull
from jupyter_memory.storage.sqlite import scrubbing
from jupyter_memory.storage.sqlite.copies import sweep
from jupyter_memory.storage.sqlite.database import Database, translate_errors
from jupyter_memory.storage.sqlite.file import reserve_of

# Forgetting needs room for the log of its own change, and for moving into the file what the log held before. Where the
# disk is nearly full, a reserve beside the store keeps that much, and goes when something must be forgotten.

_RESERVE = 8_000_000
# With less than this free, a reserve is made; with twice as much, it goes.
_LOW = 8 * _RESERVE

Result = TypeVar("Result")


def keep_reserve(store: Path) -> None:
    """Set room aside while the disk is nearly full, and give it back when it is not."""
    reserve = reserve_of(store)
    with suppress(OSError):
        free = shutil.disk_usage(store.parent).free
        if free >= 2 * _LOW:
            reserve.unlink(missing_ok=True)
        elif free < _LOW:
            there = reserve.stat().st_size if reserve.exists() else 0
            wanted = min(_RESERVE, (free + there) // 2)
            if wanted > 2 * there:
                reserve.unlink(missing_ok=True)
                file = os.open(reserve, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                try:
                    os.write(file, os.urandom(wanted))
                finally:
                    os.close(file)


def with_room(database: Database, forget: Callable[[], Result]) -> Result:
    """Run what forgets; on a full disk, with the room of the reserve, of the log and of interrupted copies."""
    if database.read_only:
        return forget()
    keep_reserve(database.path)
    try:
        return forget()
    except StoreFull:
        _make_room(database)
    try:
        return forget()
    except StoreFull:
        raise StoreFull(
            f"The disk of {database.path} is full, and forgetting needs about {_RESERVE // 1_000_000} MB of it for a "
            "moment. Nothing was forgotten. Remove or move other files, such as those in the trash, and forget again."
        ) from None


def _make_room(database: Database) -> None:
    reserve_of(database.path).unlink(missing_ok=True)
    sweep(database.path)
    _empty_log(database)


def _empty_log(database: Database) -> None:
    with suppress(StoreError), translate_errors(database.path):
        database.connection.execute("pragma wal_checkpoint(truncate)").fetchall()


def scrub(database: Database, compact_at: float) -> None:
    """Overwrite what is left of what was removed; rewrite the file if more than this part of it is free."""
    with database.read() as session:
        needed = scrubbing.pending(session) is not None
    if needed:
        sweep(database.path)
        database.scrub()
        if database.traces_may_remain and reserve_of(database.path).exists():
            _make_room(database)
            database.scrub()
        connection = database.connection
        if int(connection.pragma("freelist_count")) > compact_at * int(connection.pragma("page_count")):
            with suppress(StoreError, MemoryError), translate_errors(database.path):
                # In memory, although that takes as much as the store has: with a connection of its own and a temporary
                # file in the store's folder, writes of other threads failed as busy.
                connection.execute("vacuum")
            _empty_log(database)
