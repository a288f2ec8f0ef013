"""The tables of a DuckDB file, read with DuckDB where it is installed: read-only, without extensions or network."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.storage.foreign.shapes import MOST_COLUMNS, MOST_TABLES, ForeignTable, ForeignTables

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


def duckdb_tables(path: Path) -> ForeignTables:
    """Return the tables and views of a DuckDB file, with the numbers of rows that its catalog notes.

    Raises:
        InputError: DuckDB is not installed or cannot read the file, or another program has it open.
    """
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
        raise InputError(_reason(error)) from None
    except duckdb.Error as error:
        raise InputError(
            f"DuckDB cannot read the file ({type(error).__name__}): it is damaged, encrypted, or of a newer version."
        ) from None
    by_table: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for *place, column, declared in columns:
        by_table.setdefault(tuple(place), []).append((column, _type(declared)))
    found = [
        ForeignTable(
            name if schema == "main" else f"{schema}.{name}",
            tuple(by_table.get((database, schema, name), ())[:MOST_COLUMNS]),
            rows,
            is_view=is_view,
        )
        for database, schema, name, rows, is_view in tables[:MOST_TABLES]
    ]
    return ForeignTables(tuple(found), max(0, len(tables) - MOST_TABLES))


def _type(declared: str) -> str:
    match = _TYPE.match(declared)
    return match[0].strip() if match else "OTHER"


def _reason(error: Exception) -> str:
    # Told apart by DuckDB's words: both are an IOException. They hold the path, so they are not passed on.
    if "lock" in str(error):
        return "Another program has the DuckDB file open for writing. Index it again when that is closed."
    return "DuckDB cannot read the file: it is damaged, encrypted, or of a newer version."
