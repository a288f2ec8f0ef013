"""A table in a data file as text: its columns with types and units, and how many rows it has; never a value.

Names of columns that look like values, as those of a pivoted table do, are counted and not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.ingest.readers.data.units import unit_in
from jupyter_memory.ingest.readers.data.values import is_value
from jupyter_memory.text.display import count_of

# What `lang:` filters data files of all formats by.
LANGUAGE = "data"
# Columns of a table that are named, tables of a file that become memories.
_MOST_COLUMNS, _MOST_TABLES = 1_000, 1_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type in the words of the format, and its unit where the file states one apart."""

    name: str
    type: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file; a file with only one may leave out its name.

    ``columns`` are those whose names are known, ``types`` the types of all columns where no names are. ``width`` counts
    the columns, if there are more than were read. ``rows`` is None where nobody knows.
    """

    columns: tuple[Column, ...] = ()
    name: str = ""
    what: str = "table"
    rows: int | None = None
    estimated: bool = False
    types: tuple[str, ...] = ()
    width: int = 0
    at_least: bool = False


def document(tables: Iterable[Table], format_: str, left_out: int = 0) -> Document:
    """Return a part for each table of a file; ``left_out`` counts further tables, whose names nobody has read."""
    all_ = iter(tables)
    some = list(islice(all_, _MOST_TABLES))
    left_out += sum(1 for _ in all_)
    last = f"\n\nThe file has {count_of(left_out, 'more table')}." if left_out else ""
    parts = [_part(table, format_, last if table is some[-1] else "") for table in some]
    return Document(tuple(parts), LANGUAGE)


def _part(table: Table, format_: str, last: str) -> Part:
    width = max(table.width, len(table.columns), len(table.types))
    return Part(
        text="\n".join((_summary(table, width, format_), *_lines(table, width))) + last,
        location=f"{table.what} {table.name}".rstrip(),
        headings=(table.name,) if table.name else (),
        metadata={"format": format_, "columns": width}
        | ({} if table.rows is None else {"rows": table.rows, "rows_estimated": table.estimated}),
    )


def _summary(table: Table, width: int, format_: str) -> str:
    named = f"{format_} {table.what} {table.name}".strip()
    counted = ("at least " if table.at_least else "") + count_of(width, "column")
    if table.rows is None:
        return f"{named}: {counted}"
    about = " (estimated)" if table.estimated else ""
    return f"{named}: {count_of(table.rows, 'row')}{about}, {counted}"


def _lines(table: Table, width: int) -> Iterable[str]:
    if table.types and not table.columns:
        yield f"The columns have no names. Types: {', '.join(table.types[:_MOST_COLUMNS])}"
        return
    named = [column for column in table.columns if column.name.strip()]
    told = [column for column in named if not is_value(column.name)]
    yield from map(_line, told[:_MOST_COLUMNS])
    if unnamed := len(table.columns) - len(named):
        yield f"and {count_of(unnamed, 'column')} without a name"
    if hidden := len(named) - len(told):
        yield f"and {count_of(hidden, 'column')} named by what looks like a value"
    if more := width - len(table.columns) + max(0, len(told) - _MOST_COLUMNS):
        yield f"and {count_of(more, 'more column')}"


def _line(column: Column) -> str:
    """Return a column with its words, by which it is found: ``churn_date (churn date): timestamp``."""
    name = " ".join(column.name.split())
    unit = column.unit or unit_in(name)
    told = ", ".join(part for part in (column.type, unit and f"unit {unit}") if part)
    words = _words(name)
    return name + (f" ({words})" if words else "") + (f": {told}" if told else "")


def _words(name: str) -> str:
    """Return the words of a name that runs several together, else nothing."""
    # Imported late: it loads NumPy, which those who only look for files do without.
    from jupyter_memory.text.identifiers import parts as parts_of

    parts: Sequence[str] = parts_of(name) if " " not in name else ()
    words = " ".join(parts)
    return words if len(parts) > 1 and words != name.lower() else ""
