"""A table of data as text: its columns, units, kinds and telling values."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from jupyter_memory.ingest.readers.base import Document, Part, note
from jupyter_memory.ingest.redaction.values import looks_random
from jupyter_memory.text.display import count_of
from jupyter_memory.text.identifiers import parts as parts_of

# The unit that a name of a column states: `price [EUR]`, `speed (km/h)`, `temp_c`.
_UNIT_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]{1,20}?)\s*[\])]\s*$")
_LAST = re.compile(r"_([A-Za-z]{1,5})$")
# What is in brackets and no unit.
_UNIT = re.compile(r"[^\W\d_]|[%°€$£¥Ωµ‰]")
_PLAIN = re.compile(r"[\w%°€$£¥Ωµ‰/*^.·²³⁻¹ -]{1,20}")
_NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _unit_in(name: str) -> str:
    if found := _UNIT_BRACKETS.search(name):
        return found[1] if _UNIT.search(found[1]) and stated_unit(found[1]) else ""
    found = _LAST.search(name)
    if found is None:
        return ""
    of_temperature = _NAMES["temperatures"] if "temp" in name.lower() else {}
    unit: str = (_NAMES["units"] | of_temperature).get(found[1].lower(), "")
    return unit


def stated_unit(value: str) -> str:
    """Return a unit that a file states apart from the name, nothing for what is too long or too odd to be one."""
    return value if _PLAIN.fullmatch(value) and len(value.split()) <= 3 else ""


INTEGER, NUMBER, DATE, TIME, BOOLEAN, TEXT, EMPTY = "integer", "number", "date", "time", "boolean", "text", "empty"

_MISSING, _BOOLEAN, _COMMON = (frozenset(_NAMES["words"][name].split()) for name in ("missing", "boolean", "common"))
_TYPES = {row["type"]: re.compile(row["pattern"], re.IGNORECASE) for row in _NAMES["types"]}
# Values by their look, whole or within a text: addresses of mail and of the web, of hosts and files, and codes.
_ADDRESS, _CODE = (re.compile(_NAMES["values"][name]) for name in ("address", "code"))
# The name of a variable or feature with its number: V28, x_100, feature 12.
_NUMBERED = re.compile(r"[^\W\d_]++(?:[_. -][^\W\d_]++){0,3}[_. -]?\d{1,3}")
# Longer ones are sentences, or data, but for questions of a survey.
_LONGEST, _MOST_WORDS = 100, 12
_LONGEST_QUESTION = 400
# A year as the name of a column, as it is, as `FY2019`, `X2019` in R, `2019/20`, `2024E` or `1990s`.
_YEAR = re.compile(r"(?:[A-Z]{1,2} ?)?(?:1[5-9]|2[01])\d\d(?:[/–-]\d{2,4}|[a-zA-Z*]|\s?[(\[][^()\[\]]{1,20}[)\]])?")


def type_of(cell: str) -> str:
    """Return the type of a text in a table.

    >>> type_of("12"), type_of("1,204.5"), type_of("2026-03-02"), type_of("09:15"), type_of("Zürich"), type_of("n/a")
    ('integer', 'number', 'date', 'time', 'text', 'empty')
    """
    cell = cell.strip()
    if not cell or cell.lower() in _MISSING:
        return EMPTY
    if len(cell) > 60:
        return TEXT
    found = next((type_ for type_, pattern in _TYPES.items() if pattern.fullmatch(cell)), TEXT)
    return BOOLEAN if found == TEXT and cell.lower() in _BOOLEAN else found


def type_of_all(types: Iterable[str]) -> str:
    """Return the type of a column by the types of its cells."""
    found = set(types) - {EMPTY}
    if not found:
        return EMPTY
    if len(found) == 1:
        return found.pop()
    if found == {INTEGER, NUMBER}:
        return NUMBER
    return TIME if found == {DATE, TIME} else TEXT


def is_value(name: str) -> bool:
    """Return whether what names a column looks like a value: a number, a date, an address, a code, a sentence.

    >>> [is_value(one) for one in ("customer_id", "2m_temperature", "V28", "churn date", "price [EUR]")]
    [False, False, False, False, False]
    >>> [is_value(one) for one in ("anna@example.org", "2026-03", "+49 170 1234567", "DE4418", "9f8c1e2ab7d04c55e1f0")]
    [True, True, True, True, True]
    """
    name = name.strip()
    is_question = "?" in name and len(name) <= _LONGEST_QUESTION
    if (len(name) > _LONGEST or len(name.split()) > _MOST_WORDS) and not is_question:
        return True
    if not any(character.isalpha() for character in name) or type_of(name) != TEXT:
        return True
    if _ADDRESS.search(name) or _CODE.fullmatch(name) or looks_random(name):
        return True
    digits = sum(character.isdigit() for character in name)
    letters = sum(character.isalpha() for character in name)
    return digits >= letters and not _NUMBERED.fullmatch(name)


def _is_period(name: str) -> bool:
    return _YEAR.fullmatch(name.strip()) is not None or type_of(name) == DATE


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
    """A table of a file; a file with only one may leave out its name."""

    columns: tuple[Column, ...] = ()  # those whose names are known
    name: str = ""
    what: str = "table"
    rows: int | None = None  # None if it is unknown
    estimated: bool = False
    types: tuple[str, ...] = ()  # of all columns, where no names are known
    width: int = 0  # the number of columns, if there are more than were read
    at_least: bool = False


def document(tables: Sequence[Table], format_: str, left_out: int = 0) -> Document:
    """Return a part for each table of a file; ``left_out`` counts further tables, whose names were not read."""
    some = tables[:_MOST_TABLES]
    left_out += len(tables) - len(some)
    if left_out:
        note(f"{count_of(left_out, 'more table')} of the file, beyond the first {len(some):,}, are left out")
    last = f"\n\nThe file has {count_of(left_out, 'more table')}." if left_out else ""
    parts = []
    for table in some:
        width = max(table.width, len(table.columns), len(table.types))
        metadata = {"format": format_, "columns": width}
        counts = ("at least " if table.at_least else "") + count_of(width, "column")
        if table.rows is not None:
            metadata |= {"rows": table.rows, "rows_estimated": table.estimated}
            counts = f"{count_of(table.rows, 'row')}{' (estimated)' if table.estimated else ''}, {counts}"
        location = f"{table.what} {table.name}".rstrip()
        text = "\n".join((f"{format_} {location}: {counts}", *_lines(table, width)))
        text += last if table is some[-1] else ""
        parts.append(Part(text, location, headings=(table.name,) if table.name else (), metadata=metadata))
    return Document(tuple(parts), LANGUAGE)


def _lines(table: Table, width: int) -> Iterable[str]:
    if table.types and not table.columns:
        yield f"The columns have no names. Types: {', '.join(table.types[:_MOST_COLUMNS])}"
        return
    named = [column for column in table.columns if column.name.strip()]
    # Names that look like values are counted and not told, also the years and dates above a pivoted table.
    told = [column for column in named if not is_value(column.name)]
    for column in told[:_MOST_COLUMNS]:
        name = " ".join(column.name.split())
        unit = column.unit or _unit_in(name)
        parts: Sequence[str] = parts_of(name) if " " not in name else ()
        words = f" ({' '.join(parts)})" if len(parts) > 1 and " ".join(parts) != name.lower() else ""
        about = ", ".join(part for part in (column.type, unit and f"unit {unit}") if part)
        yield name + words + (f": {about}" if about else "")
    if unnamed := len(table.columns) - len(named):
        yield f"and {count_of(unnamed, 'column')} without a name"
    hidden = [column for column in named if is_value(column.name)]
    periods = sum(_is_period(column.name) for column in hidden)
    if periods:
        yield f"and {count_of(periods, 'column')} named by years or dates"
    if others := len(hidden) - periods:
        yield f"and {count_of(others, 'column')} named by what looks like a value"
    if more := width - len(table.columns) + max(0, len(told) - _MOST_COLUMNS):
        yield f"and {count_of(more, 'more column')}"


# Whether the first row of a table names its columns. When in doubt it is a row like the others, and is not told.

Row = Sequence[str]

# Rows by which columns are judged.
_JUDGED = 200
# Rows below the first that settle it where one column is of numbers or dates.
_ENOUGH = 3
# Rows above a table that may be its title and notes, and rows by which its width is judged.
_LONGEST_PREAMBLE, _LOOKED_AT = 10, 50
# Names of columns that are written as identifiers: snake_case, camelCase, a.b.
_IDENTIFIER = re.compile(r"[^\W\d_]+(?:[_.][^\W_]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+")
_BRACKETS = re.compile(r"\s*[\[(][^\[\]()]{0,20}[\])]\s*$")


def columns_of(rows: Sequence[Row], width: int) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the columns, if the first row surely names them, and the types of all columns by some rows."""
    header = _header_of(rows[: _JUDGED + 1])
    types = _types_of(rows[1 : _JUDGED + 1] if header else rows[:_JUDGED], width)
    return tuple(map(Column, map(str.strip, header), types)) if header else (), tuple(types)


def _header_of(rows: Sequence[Row]) -> Row | None:
    # The first row if all its cells could be names, each another, and if it is of another kind than the rows below it:
    # text above numbers or dates, or the words and spellings of names above plain text.
    if not rows:
        return None
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    names = [cell.strip() for cell in first]
    written = [name for name in names if name]
    if not written or len(written) < len(names) - 1 or len(set(written)) < len(written):
        return None
    periods = _series_of(names, below)
    written = [name for place, name in enumerate(names) if name and place not in periods]
    # A file of JSON lines may be called a table.
    if any(is_value(name) or name.startswith(("{", '["')) for name in written):
        return None
    if any(row[place].strip() == name for row in below for place, name in enumerate(names) if name):
        return None
    if periods:
        return first
    bare = [_BRACKETS.sub("", name) for name in written]
    words = [re.findall(r"[^\W\d_]+", name.lower()) for name in bare]
    like_names = sum(
        bool(_IDENTIFIER.fullmatch(name)) or "?" in name or (len(of_it) <= 5 and not _COMMON.isdisjoint(of_it))
        for name, of_it in zip(bare, words, strict=True)
    ) / len(written)
    if like_names == 1:
        return first
    types = _types_of(below, len(names))
    if not any(type_ not in (TEXT, EMPTY) for name, type_ in zip(names, types, strict=True) if name):
        return first if like_names >= 0.5 else None
    texts = [place for place, type_ in enumerate(types) if type_ == TEXT and names[place]]
    alike = [place for place in texts if any(_shape(row[place]) == _shape(names[place]) for row in below)]
    reads_as_data = bool(texts) and 2 * len(alike) >= len(texts)
    return first if like_names >= 0.25 or (len(below) >= _ENOUGH and not reads_as_data) else None


def _series_of(names: Row, below: Sequence[Row]) -> frozenset[int]:
    # The places of names that are years in equal steps, or dates, above numbers that are no years: no row is so.
    places = [place for place, name in enumerate(names) if _is_period(name)]
    under = [row[place].strip() for row in below for place in places]
    if len(places) < 2 or type_of_all(map(type_of, under)) not in (INTEGER, NUMBER):
        return frozenset()
    if all(names[place].isdecimal() for place in places):
        years = [int(names[place]) for place in places]
        steps = {later - earlier for earlier, later in pairwise(years)}
        filled = [cell for cell in under if type_of(cell) != EMPTY]
        if len(steps) > 1 or 2 * sum(map(_is_period, filled)) >= len(filled):
            return frozenset()
    return frozenset(places)


def without_preamble(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of a table without a title and notes above it: rows with hardly half as many cells as most."""
    filled = [sum(1 for cell in row if cell.strip()) for row in rows[:_LOOKED_AT]]
    usual = Counter(filled).most_common(1)[0][0] if filled else 0
    begin = next((place for place, count in enumerate(filled) if 2 * count > usual), 0)
    return rows[begin:] if begin <= _LONGEST_PREAMBLE else rows


def _types_of(rows: Sequence[Row], width: int) -> list[str]:
    return [type_of_all(type_of(row[place]) for row in rows if place < len(row)) for place in range(width)]


def _shape(cell: str) -> str:
    shape = re.sub(r"[^\W\d_]", lambda one: "A" if one[0].isupper() else "a", cell.strip())
    return re.sub(r"(.)\1+", r"\1", shape)
