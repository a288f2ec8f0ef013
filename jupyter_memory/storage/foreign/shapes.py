"""What is told of a table in somebody's database: its name and columns, and how many rows it has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ForeignTable:
    """A table or view. ``columns`` are names with their declared types; ``rows`` is None where nobody counted them.

    ``estimated`` says that the number of rows is what the database last noted, not what it has now.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: int | None = None
    estimated: bool = False
    is_view: bool = False


@dataclass(frozen=True, slots=True)
class ForeignTables:
    """The tables of a database in the order of their names; ``left_out`` counts those beyond the first thousand."""

    tables: tuple[ForeignTable, ...] = ()
    left_out: int = 0


# Tables of a database, and columns of a table, that are looked at.
MOST_TABLES, MOST_COLUMNS = 1_000, 5_000
