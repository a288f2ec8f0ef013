"""One transaction: its connection, and the spaces that its statements are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import psycopg

# What the rows of a space have in each statement that reads or changes them.
SPACES = "any(%(spaces)s)"


class Totals(NamedTuple):
    """What spaces hold: how often their chunks changed, how many there are, and their words.

    ``changes`` differs between any two states of the chunks.
    """

    changes: int
    chunks: int
    words: int


class Session:
    """What the tables are read and changed through. ``space`` is the one that the store was opened with, or empty.

    ``spaces`` are all that its statements are about: that space, or every one that is there. ``totals`` is what these
    held when the transaction began.
    """

    def __init__(
        self,
        connection: psycopg.Connection,
        space: str,
        held: Mapping[str, Totals],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.connection = connection
        self.space = space
        self.spaces = list(held)
        self.totals = Totals(*(sum(values) for values in zip(*held.values(), strict=True))) if held else Totals(0, 0, 0)
        self._check = check

    def execute(
        self, sql: str, parameters: Mapping[str, Any] | None = None, *, binary: bool = False
    ) -> psycopg.Cursor[Any]:
        """Run a statement; its parameters have names, and ``spaces`` is always among them."""
        self._check()
        return self.connection.execute(sql.encode(), {"spaces": self.spaces, **(parameters or {})}, binary=binary)

    def rows(self, sql: str, parameters: Mapping[str, Any] | None = None, *, binary: bool = False) -> list[Any]:
        """Return all rows of a statement; ``binary`` is for those that hold many bytes, which text would double."""
        return self.execute(sql, parameters, binary=binary).fetchall()

    def value(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Return the first value of the first row, None where there is none."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def changed(self, sql: str, parameters: Mapping[str, Any] | None = None) -> int:
        """Run a statement and return how many rows it changed."""
        return self.execute(sql, parameters).rowcount

    def include(self, space: str) -> None:
        """Let the statements be about a space that this transaction writes into, and later ones, too."""
        if space not in self.spaces:
            self.spaces.append(space)
            self.execute("insert into totals (space, changes, chunks, words) values (%(new)s, 0, 0, 0)", {"new": space})


def of(table: str) -> str:
    """Return the condition that the rows of a table are of the spaces that a session is about."""
    return f"{table}.space = {SPACES}"
