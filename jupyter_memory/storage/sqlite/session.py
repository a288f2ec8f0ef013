"""A connection as a session, and what differs between two states of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from jupyter_memory.storage.sql import SQLITE
from jupyter_memory.storage.sqlite import scrubbing

# Rows that one statement writes: more rows gain nothing, and the statement takes longer to compile than to run.
TOGETHER = 100
# FTS5 flushes before each statement of several rows, so there should be few such statements.
OF_WORDS = 5_000
# A megabyte of pictures.
_TOGETHER = {"keyword": OF_WORDS, "thumbnails": 50}
_WITH_SPACE = ("memories", "files", "folders")


class Session(apsw.Connection):
    """A connection to a store, as what is read and changed through; `storage.sql.Session` says what each does."""

    dialect = SQLITE
    space = ""

    def rows(self, sql: str, /, **parameters: Any) -> list[Any]:
        return self.execute(sql, self.dialect.bound(parameters)).fetchall()

    def value(self, sql: str, /, **parameters: Any) -> Any:
        row: Any = self.execute(sql, self.dialect.bound(parameters)).fetchone()
        return None if row is None else row[0]

    def changed(self, sql: str, /, **parameters: Any) -> int:
        self.execute(sql, self.dialect.bound(parameters)).fetchall()
        return self.changes()

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, known: str = "") -> int:
        if not rows:
            return 0
        columns = [name for name in rows[0] if name != "space" or table in _WITH_SPACE]
        begin = f"insert into {table} ({', '.join(columns)}) values "
        conflict = f" on conflict ({self.dialect.unique(table)}) {known}" if known else ""
        together = _TOGETHER.get(table, TOGETHER)
        before = self.total_changes()
        for start in range(0, len(rows), together):
            part = rows[start : start + together]
            values = [row[name] for row in part for name in columns]
            places = ", ".join([f"({', '.join('?' * len(columns))})"] * len(part))
            self.execute(begin + places + conflict, values, can_cache=len(part) in (1, TOGETHER))
        return self.total_changes() - before

    def new_keys(self, table: str, count: int) -> list[int]:
        # The highest that the table ever gave out.
        last = int(self.value("select seq from sqlite_sequence where name = :table", table=table) or 0)
        return list(range(last + 1, last + 1 + count))

    def lock(self, keys: Sequence[int]) -> list[int]:
        return sorted(set(keys))

    def lock_files(self, paths: Sequence[str], space: str) -> None:
        """Do nothing: the writer is alone."""

    @property
    def written(self) -> int:
        return self.total_changes()

    def include(self, space: str) -> None:
        """Do nothing: a file is not divided into spaces."""

    def note_removal(self) -> None:
        scrubbing.note_removal(self)

    def forget_asked(self, keys: Sequence[int]) -> bool:
        before = self.total_changes()
        ids = "select id from memories where key in (select value from json_each(:keys))"
        shown = f"exists (select 1 from json_each(hits) where value in ({ids}))"
        self.changed(f"delete from searches where {shown}", keys=list(keys))
        self.changed(f"delete from feedback where memory in ({ids})", keys=list(keys))
        return self.total_changes() > before


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


def outdate(connection: Session) -> None:
    """Make every process read anew what it keeps of the indexes."""
    connection.changed("update counters set value = value + 1 where name = 'removals'")
