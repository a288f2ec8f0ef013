"""The names that memories in Python define as rows, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from jupyter_memory.storage.sqlite import sql
from jupyter_memory.text.code import PYTHON, Definitions

_COLUMNS = ("memory", *Definitions._fields)


def insert(connection: apsw.Connection, found: Sequence[tuple[int, Definitions]]) -> None:
    """Write what memories define, by key; none of them may have definitions yet."""
    sql.insert(connection, "definitions", _COLUMNS, [(key, *names) for key, names in found])


def of_memories(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, Definitions]:
    """Return what memories define, by key, for those for which it is stored."""
    rows = connection.execute(
        f"select {', '.join(_COLUMNS)} from definitions where memory in (select value from json_each(?))",
        (json.dumps(list(keys)),),
    )
    return {row[0]: Definitions(*row[1:]) for row in rows}


def lacking(connection: apsw.Connection, count: int, after: int) -> list[int]:
    """Return up to ``count`` memories in Python without definitions, those above ``after``, lowest first."""
    rows = connection.execute(
        """
        select key from memories
        where key > ? and lang = ? collate nocase and not exists (select 1 from definitions where memory = key)
        order by key limit ?
        """,
        (after, PYTHON, count),
    )
    return [row[0] for row in rows]


def lacking_among(connection: apsw.Connection, keys: Sequence[int]) -> list[int]:
    """Return those of these memories that are there, are in Python and have no definitions."""
    rows = connection.execute(
        """
        select key from memories
        where key in (select value from json_each(?)) and lang = ? collate nocase
          and not exists (select 1 from definitions where memory = key)
        """,
        (json.dumps(list(keys)), PYTHON),
    )
    return [row[0] for row in rows]


def drop(connection: apsw.Connection, keys: Sequence[int]) -> None:
    """Remove what memories define."""
    connection.executemany("delete from definitions where memory = ?", ((key,) for key in keys))
