"""What all statements share: many rows in one statement, and the version of what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import apsw

# Rows that one statement writes: more rows gain nothing, and the statement takes longer to compile than to run.
TOGETHER = 100
# FTS5 flushes before each statement of several rows, so there should be few such statements.
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


def last_key(connection: apsw.Connection, table: str) -> int:
    """Return the highest key that a table ever gave out."""
    return int(connection.execute("select seq from sqlite_sequence where name = ?", (table,)).get or 0)


def version(connection: apsw.Connection) -> str:
    """Return a value that differs between any two states of the keyword index, and so of the chunks."""
    # FTS5 writes its averages (1) and its structure (10) anew with every change. An index built anew may look just
    # like an earlier one, so rebuilding counts as a removal.
    return str(
        connection.execute(
            """
            select group_concat(part) from (
                select hex(block) as part from keyword_data where id in (1, 10)
                union all select value from counters where name = 'removals'
            )
            """
        ).get
    )


def removals(connection: apsw.Connection) -> str:
    """Return a value that differs between two states of the store, unless chunks were only added in between."""
    return str(connection.execute("select value from counters where name = 'removals'").get)
