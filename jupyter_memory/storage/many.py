"""Many rows with one statement: other threads run while SQLite works, and it would wait for them at each row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import apsw

# Rows that one statement writes: with more nothing is gained, and it takes longer to compile than to run.
TOGETHER = 100
# Before each statement of several rows FTS5 writes out what it has gathered: for its sake there are few.
OF_WORDS = 5_000


def insert(
    connection: apsw.Connection,
    table: str,
    columns: Sequence[str],
    written: Sequence[tuple[Any, ...]],
    *,
    replacing: bool = False,
    together: int = TOGETHER,
) -> None:
    """Write rows, ``together`` with one statement; ``replacing`` those with the same key."""
    begin = f"insert {'or replace ' if replacing else ''}into {table} ({', '.join(columns)}) values "
    for start in range(0, len(written), together):
        part = written[start : start + together]
        connection.execute(begin + places(part), list(chain.from_iterable(part)), can_cache=is_usual(part))


def places(written: Sequence[tuple[Any, ...]]) -> str:
    """Return as many ``(?, ?)`` as there are rows."""
    return ", ".join([f"({', '.join('?' * len(written[0]))})"] * len(written))


def is_usual(written: Sequence[tuple[Any, ...]]) -> bool:
    """Return whether a statement for so many rows comes again."""
    return len(written) in (1, TOGETHER)
