"""The tables of any SQLite file, without locks, without writing, and without running what its schema asks for.

It is opened as a file that nobody changes, so no program that uses it ever waits. What another program has not yet
moved from its write-ahead log into the file is not seen. Closing a file ends all locks that its process has on it, so
this runs in a process of its own (`ingest/readers/isolated`), never where the user's connection may be.
"""

from __future__ import annotations

import re
from contextlib import closing, suppress
from pathlib import Path

import apsw

from jupyter_memory.errors import InputError
from jupyter_memory.storage.foreign.shapes import MOST_COLUMNS, MOST_TABLES, ForeignTable, ForeignTables
from jupyter_memory.storage.sqlite.connection.file import APPLICATION_ID, open_file

# Rows are counted by reading an index whole, so only in files up to so many bytes.
_COUNTED = 100_000_000
_VIRTUAL = re.compile(r"\s*create\s+virtual\b", re.IGNORECASE)
# A schema has no need of statements longer, deeper or wider than these.
_LIMITS = (
    (apsw.SQLITE_LIMIT_LENGTH, 10_000_000),
    (apsw.SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    (apsw.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (apsw.SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (apsw.SQLITE_LIMIT_ATTACHED, 0),
    (apsw.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
)


def sqlite_tables(path: Path) -> ForeignTables:
    """Return the tables and views of a SQLite file; nothing for a store of ours, a copy or a backup of one.

    Raises:
        InputError: it is no SQLite file, or it is damaged or encrypted.
    """
    try:
        with closing(open_file(path, read_only=True, frozen=True)) as connection:
            _harden(connection)
            if connection.pragma("application_id") == APPLICATION_ID:
                return ForeignTables()
            return _tables(connection, path.stat().st_size <= _COUNTED)
    except apsw.Error as error:
        raise InputError(_reason(error)) from None


def _reason(error: apsw.Error) -> str:
    if isinstance(error, apsw.NotADBError):
        return "The file is no SQLite database, or it is encrypted."
    return f"SQLite cannot read the file's tables ({type(error).__name__}); it is damaged, or being written just now."


def _harden(connection: apsw.Connection) -> None:
    """Let the schema of a hostile file neither call functions nor change anything, nor ask for much."""
    connection.enable_load_extension(False)
    for option, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    ):
        connection.config(option, value)
    for limit, most in _LIMITS:
        connection.limit(limit, most)
    connection.execute("pragma mmap_size = 0; pragma cell_size_check = on")


def _tables(connection: apsw.Connection, counting: bool) -> ForeignTables:
    listed = connection.execute(
        """
        select name, type, coalesce(sql, '') from sqlite_schema
        where type in ('table', 'view') and typeof(name) = 'text' and name not like 'sqlite\\_%' escape '\\'
        order by name
        """
    ).fetchall()
    virtual = [str(name) for name, _, sql in listed if _VIRTUAL.match(str(sql))]
    # A virtual table is what its module makes of it, which nobody asks for here; its own tables hold its inner parts.
    plain = [
        (str(name), type_) for name, type_, _ in listed if name not in virtual and not _is_inner(str(name), virtual)
    ]
    noted = _noted(connection)
    found = [_table(connection, name, type_ == "view", counting, noted) for name, type_ in plain[:MOST_TABLES]]
    return ForeignTables(tuple(found), max(0, len(plain) - MOST_TABLES))


def _is_inner(name: str, virtual: list[str]) -> bool:
    return any(name.startswith(f"{table}_") for table in virtual)


def _table(
    connection: apsw.Connection, name: str, is_view: bool, counting: bool, noted: dict[str, int]
) -> ForeignTable:
    quoted = '"' + name.replace('"', '""') + '"'
    columns: tuple[tuple[str, str], ...] = ()
    # The columns of a view are unknown where one of its tables is gone, or where it calls a function.
    with suppress(apsw.SQLError):
        rows = connection.execute("select name, type from pragma_table_xinfo(?) limit ?", (name, MOST_COLUMNS))
        columns = tuple((str(column), str(declared or "")) for column, declared in rows)
    if is_view:
        return ForeignTable(name, columns, is_view=True)
    if counting:
        return ForeignTable(name, columns, int(connection.execute(f"select count(*) from {quoted}").get))
    return ForeignTable(name, columns, noted.get(name), estimated=True)


def _noted(connection: apsw.Connection) -> dict[str, int]:
    """Return the numbers of rows that `analyze` noted, by table."""
    found: dict[str, int] = {}
    with suppress(apsw.SQLError):
        for name, stat in connection.execute("select tbl, stat from sqlite_stat1"):
            first = str(stat).split(" ", 1)[0]
            if first.isascii() and first.isdecimal() and len(first) < 16:
                found[str(name)] = int(first)
    return found
