"""Databases of others: their tables, IPython's history."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from jupyter_memory.errors import InputError
from jupyter_memory.storage.sqlite.file import APPLICATION_ID, open_file
from jupyter_memory.types import Run


@dataclass(frozen=True, slots=True)
class ForeignTable:
    name: str
    columns: tuple[tuple[str, str], ...]  # names with their declared types
    rows: int | None = None  # None if they were not counted
    estimated: bool = False  # the rows are what the database last noted, not what it has now
    is_view: bool = False


@dataclass(frozen=True, slots=True)
class ForeignTables:
    """The tables of a database in the order of their names; ``left_out`` counts those beyond the first thousand."""

    tables: tuple[ForeignTable, ...] = ()
    left_out: int = 0


_MOST_TABLES, _MOST_COLUMNS = 1_000, 5_000  # tables of a database, and columns of a table, that are looked at

# It is opened as a file that does not change, so no program that uses it ever waits. What another program has not yet
# moved from its write-ahead log into the file is not seen. Closing a file ends all locks that its process has on it, so
# this runs in a process of its own (`ingest/readers/isolated`), never where the user's connection may be.

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


def foreign_tables(path: Path) -> ForeignTables:
    """Return the tables and views of a user's SQLite or DuckDB file, none of a store; nothing is written or locked."""
    with path.open("rb") as opened:
        first = opened.read(16)
    if first.startswith(b"SQLite format 3\0"):
        return _sqlite_tables(path)
    if first[8:12] == b"DUCK":
        return _duckdb_tables(path)
    if not first:
        # SQLite makes such a file when a program opens one, and writes into it with the first table.
        return ForeignTables()
    raise InputError("The file is neither a SQLite nor a DuckDB database, or it is encrypted.")


def _sqlite_tables(path: Path) -> ForeignTables:
    try:
        with closing(open_file(path, read_only=True, frozen=True)) as connection:
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

            if connection.pragma("application_id") == APPLICATION_ID:
                return ForeignTables()
            return _tables(connection, counting=path.stat().st_size <= _COUNTED)
    except apsw.NotADBError:
        raise InputError("The file is no SQLite database, or it is encrypted.") from None
    except apsw.Error as error:
        raise InputError(
            f"SQLite cannot read the file's tables ({type(error).__name__}); it is damaged, or being written just now."
        ) from None


def _tables(connection: apsw.Connection, *, counting: bool) -> ForeignTables:
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
        (str(name), type_)
        for name, type_, _ in listed
        if name not in virtual and not any(str(name).startswith(f"{table}_") for table in virtual)
    ]
    noted: dict[str, int] = {}
    with suppress(apsw.SQLError):
        for name, stat in connection.execute("select tbl, stat from sqlite_stat1"):
            first = str(stat).split(" ", 1)[0]
            if first.isascii() and first.isdecimal() and len(first) < 16:
                noted[str(name)] = int(first)
    found: list[ForeignTable] = []
    for name, type_ in plain[:_MOST_TABLES]:
        columns: tuple[tuple[str, str], ...] = ()
        # The columns of a view are unknown where one of its tables is gone, or where it calls a function.
        with suppress(apsw.SQLError):
            rows = connection.execute("select name, type from pragma_table_xinfo(?) limit ?", (name, _MOST_COLUMNS))
            columns = tuple((str(column), str(declared or "")) for column, declared in rows)
        if type_ == "view":
            found.append(ForeignTable(name, columns, is_view=True))
        elif counting:
            quoted = '"' + name.replace('"', '""') + '"'
            number = int(connection.execute(f"select count(*) from {quoted}").get)
            found.append(ForeignTable(name, columns, number))
        else:
            found.append(ForeignTable(name, columns, noted.get(name), estimated=True))
    return ForeignTables(tuple(found), max(0, len(plain) - _MOST_TABLES))


# The tables of a DuckDB file, read with DuckDB where it is installed: read-only, without extensions or network.

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "lock_configuration": True,
    "memory_limit": "512MB",
    "threads": 1,
}
# The name of a type, with its numbers: the type of an enumeration would list its values.
_TYPE = re.compile(r"[A-Z][A-Z_ ]*(?:\(\d{1,3}(?:,\s?\d{1,3})?\))?")


def _duckdb_tables(path: Path) -> ForeignTables:
    # The numbers of rows are those that its catalog notes.
    try:
        import duckdb
    except ImportError:
        raise InputError("This is a DuckDB file; to read it: pip install 'jupyter-memory[data]'") from None
    try:
        with closing(duckdb.connect(str(path), read_only=True, config=_SETTINGS)) as connection:
            tables = connection.execute(
                """
                select database_name, schema_name, table_name, estimated_size, false from duckdb_tables()
                where not internal and not temporary union all
                select database_name, schema_name, view_name, null, true from duckdb_views() where not internal
                order by 2, 3
                """
            ).fetchall()
            columns = connection.execute(
                "select database_name, schema_name, table_name, column_name, data_type from duckdb_columns() "
                "where not internal order by column_index"
            ).fetchall()
    except duckdb.IOException as error:
        # Told apart by DuckDB's words: both are an IOException. They hold the path, so they are not passed on.
        raise InputError(
            "Another program has the DuckDB file open for writing. Index it again when that is closed."
            if "lock" in str(error)
            else "DuckDB cannot read the file: it is damaged, encrypted, or of a newer version."
        ) from None
    except duckdb.Error as error:
        raise InputError(
            f"DuckDB cannot read the file ({type(error).__name__}): it is damaged, encrypted, or of a newer version."
        ) from None
    by_table: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for *place, column, declared in columns:
        known = _TYPE.match(declared)
        by_table.setdefault(tuple(place), []).append((column, known[0].strip() if known else "OTHER"))
    found = [
        ForeignTable(
            name if schema == "main" else f"{schema}.{name}",
            tuple(by_table.get((database, schema, name), ())[:_MOST_COLUMNS]),
            rows,
            is_view=is_view,
        )
        for database, schema, name, rows, is_view in tables[:_MOST_TABLES]
    ]
    return ForeignTables(tuple(found), max(0, len(tables) - _MOST_TABLES))


# Reads the history that IPython keeps for itself, `history.sqlite`, without ever writing to it.
#
# IPython writes to its file after each cell, and cannot while somebody reads. So each piece is read in a transaction of
# its own, a few milliseconds long, with Python's SQLite (docs/internals.md, Runs).

_PATIENCE = 5.0  # seconds for which another program is waited for
_TOGETHER = 500
# IPython notes when a session began, and nothing of when its lines ran: this keeps them in order, alike each time.
_APART = timedelta(milliseconds=1)


def ipython_runs(path: Path) -> Iterator[Run]:
    """Yield what IPython's own history holds, in the order in which it ran, as runs of unknown outcome."""
    if not os.path.isfile(path):  # noqa: PTH113  it does not raise in a folder that nobody may look into
        raise InputError(f"There is no file {path}. In IPython, get_ipython().history_manager.hist_file names it.")
    try:
        with closing(_opened(path)) as connection:
            latest = datetime(1970, 1, 1, tzinfo=UTC)
            rows: Any = connection.execute(
                "select session, cast(start as blob) from sessions where typeof(session) = 'integer' order by session"
            ).fetchall()
            for number, start in rows:
                written = bytes(start or b"").decode("utf-8", "replace")
                with suppress(ValueError, OverflowError):  # a session without a start began after the one before
                    latest = datetime.fromisoformat(written).astimezone(UTC)
                last = -1
                while True:
                    lines: Any = connection.execute(
                        """
                        select line, cast(coalesce(source_raw, source) as blob) from history
                        where session = ? and line > ? and typeof(line) = 'integer' order by line limit ?
                        """,
                        (number, last, _TOGETHER),
                    ).fetchall()
                    for last, source in lines:
                        if source:
                            text = bytes(source).decode("utf-8", "replace")
                            yield Run(text, latest + last * _APART, f"ipython {number} {written}".strip(), last)
                    if len(lines) < _TOGETHER:
                        break
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise InputError(f"{path} is locked by another program. Try again in a moment.") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read as a history of IPython (SQLite: {reason}). Name IPython's history.sqlite; "
            "in IPython, get_ipython().history_manager.hist_file is its path."
        ) from None


def _opened(path: Path) -> sqlite3.Connection:
    # One without locks where SQLite can neither make nor need them.
    try:
        return _connected(path, "mode=ro")
    except sqlite3.OperationalError as error:
        # In a folder that cannot be written, a file in WAL mode: sound, if no unfinished change lies beside it.
        unfinished = any(path.with_name(path.name + ending).exists() for ending in ("-journal", "-wal"))
        if unfinished or "locked" in str(error):
            raise
        return _connected(path, "mode=ro&immutable=1")


def _connected(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=_PATIENCE)
    try:
        connection.execute("select count(*) from sqlite_schema").fetchall()
    except BaseException:  # an interrupt of the kernel, too: whatever ends it, the file is closed
        connection.close()
        raise
    return connection
