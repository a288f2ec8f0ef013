"""Files of data: delimited, JSON lines, Arrow, databases, workbooks."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import IO, Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers import tables
from jupyter_memory.ingest.readers.base import Document, Reader
from jupyter_memory.ingest.readers.conversations import is_transcript, transcript
from jupyter_memory.ingest.readers.documents import archive
from jupyter_memory.ingest.readers.isolated import IsolatedReader
from jupyter_memory.ingest.readers.text import MARKS, decoded
from jupyter_memory.text.unicode import clean

# Bytes of a file that are read, and bytes where the first line is longer than those.
_USUAL, _MOST = 256_000, 2_000_000
# The ending of files that are compressed with gzip, and bytes that its header and checksums need.
COMPRESSED, _GZIP_HEADER = ".gz", 65_536


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file."""

    text: str
    characters: int  # about how many the file has
    whole: bool  # these are all
    cut_short: bool = False  # not even the first line fits

    def rows(self, count: int, characters: int) -> int:
        """Return how many rows the file has, if ``count`` of them have so many characters: an estimate of the rest."""
        return count if self.whole else max(count, round(count * self.characters / (characters or 1)))


def sample(path: Path) -> Sample:
    """Return the beginning of a text file; raises InputError if the file is binary."""
    with path.open("rb") as opened:
        # As large as it is now: a file that grows has no end.
        size = os.fstat(opened.fileno()).st_size
        compressed = path.suffix.lower() == COMPRESSED
        data, used = _beginning(opened, _USUAL, compressed)
        if b"\n" not in data and b"\r" not in data:
            opened.seek(0)
            data, used = _beginning(opened, _MOST, compressed)
    whole = used >= size
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "")
    if not encoding and b"\0" in data:
        raise InputError("The file is binary, not text. Leave it out with a line in .jupytermemoryignore.")
    try:
        # Not to its end: the last character may be cut in two.
        decoder = codecs.getincrementaldecoder(encoding or "utf-8")("replace" if encoding else "strict")
        text = clean(decoder.decode(data))
    except UnicodeDecodeError:
        text = clean(decoded(data))
    cut_short = not whole and "\n" not in text
    return Sample(text, len(text) if whole else round(size * len(text) / used), whole, cut_short)


def _beginning(opened: IO[bytes], most: int, compressed: bool) -> tuple[bytes, int]:
    if not compressed:
        plain = opened.read(most)
        return plain, len(plain)
    # What is cut off or damaged further on is not looked at; neither is what would come out of the rest.
    # No more than this goes into that many bytes, whatever is in it.
    rest = opened.read(most + _GZIP_HEADER)
    taken, data = len(rest), bytearray()
    try:
        while rest and len(data) < most:
            member = zlib.decompressobj(wbits=31)
            data += member.decompress(rest, most - len(data))
            rest = member.unused_data if member.eof else member.unconsumed_tail
            if not member.eof:
                # There is more of it: in the rest of the file, or nowhere.
                rest = rest or b"\0"
                break
    except zlib.error:
        pass
    if taken and not data and rest:
        raise InputError("The file is damaged, or it was not compressed with gzip.")
    return bytes(data), taken - len(rest)


# Rows by which the separator is judged.
_FEW = 40
_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class DelimitedReader:
    """Reads tables whose columns are separated by a character: their first bytes, whatever their size."""

    format: str
    suffixes: tuple[str, ...]
    separators: tuple[str, ...] = _SEPARATORS
    version: int = 1
    sampled: int = 65_536

    def read(self, path: Path, /) -> Document:
        begun = sample(path)
        if not begun.text.strip():
            return Document((), "data")
        lines = io.StringIO(begun.text).readlines()
        while lines and (not lines[0].strip() or lines[0].startswith("#")):
            del lines[0]
        if not begun.whole and len(lines) > 1:
            del lines[-1]

        separator = max(self.separators, key=lambda one: _fit(lines[:_FEW], one))
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            raise InputError("A field of the file is too long for a table; perhaps a quote is not closed.") from None
        if not rows:
            raise InputError(f"The file has no row that can be read, so it is no {self.format}.")
        cells = tables.without_preamble(rows)
        width = len(cells[0])
        columns, types = ((), ()) if begun.cut_short else tables.columns_of(cells, width)
        count = begun.rows(len(cells) - bool(columns), sum(map(len, lines)))
        table = tables.Table(
            columns=columns,
            rows=None if begun.cut_short else count,
            estimated=not begun.whole,
            types=types,
            width=width,
            at_least=begun.cut_short,
        )
        return tables.document([table], self.format)


def _fit(lines: Sequence[str], separator: str) -> tuple[bool, float, int]:
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=separator) if row)
    except csv.Error:
        return False, 0.0, 0
    if not widths:
        return False, 0.0, 0
    width, lines_alike = widths.most_common(1)[0]
    return width > 1, lines_alike / widths.total(), width


# Records by which keys are judged, and how deep keys are looked at.
_RECORDS, _DEPTH = 200, 3
# A key belongs to the records if this share of them has it, and of several at least two. Others may be values: the keys
# of a mapping from names to numbers.
_SHARE = 0.2
_TYPES = {
    type(None): tables.EMPTY, bool: tables.BOOLEAN, int: tables.INTEGER, float: tables.NUMBER, str: tables.TEXT,
    list: "list", dict: "object",
}  # fmt: skip


@dataclass(slots=True)
class _Level:
    objects: int = 0
    types: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inside: dict[str, _Level] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JsonLinesReader:
    """Reads one JSON value a line: the keys in the first bytes of a file, whatever its size; all of a transcript."""

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
    version: int = 1
    sampled: int = 65_536

    def read(self, path: Path, /) -> Document:
        begun = sample(path)
        lines = [line for line in begun.text.split("\n") if line.strip()]
        if begun.cut_short:
            raise InputError("The first line is longer than 2 MB, so it is not read. Is this one JSON document?")
        if not lines:
            return Document((), "data")
        if not begun.whole and not begun.text.endswith("\n"):
            del lines[-1]
        try:
            records = [json.loads(line.removeprefix("\ufeff")) for line in lines[:_RECORDS]]
            is_plain = path.suffix.lower() != COMPRESSED
            if is_plain and is_transcript(records) and (said := transcript(path)).parts:
                return said
            top = _Level()
            for record in records:
                _note(record, top, 1)
        except (ValueError, RecursionError):
            raise InputError("A line of the file is not JSON, so it is not a JSON Lines file.") from None
        rows = begun.rows(len(lines), sum(len(line) + 1 for line in lines))
        columns = tuple(_columns(top, "", len(records)))
        table = tables.Table(columns, what="file", rows=rows, estimated=not begun.whole, width=len(columns))
        return tables.document([table], "JSON Lines")


def _note(value: Any, level: _Level, depth: int) -> None:
    for one in value if isinstance(value, list) else (value,):
        if not isinstance(one, dict):
            continue
        level.objects += 1
        for key, inner in one.items():
            level.types[key].append(_TYPES[type(inner)])
            if depth < _DEPTH and isinstance(inner, dict | list):
                _note(inner, level.inside.setdefault(key, _Level()), depth + 1)


def _columns(level: _Level, prefix: str, records: int) -> Iterator[tables.Column]:
    for key, types in level.types.items():
        if not _is_shared(len(types), level.objects, top=not prefix) or tables.is_value(key):
            continue
        name, inner = f"{prefix}{key}", level.inside.get(key)
        is_cell = set(types) <= {tables.BOOLEAN, tables.EMPTY, tables.INTEGER, tables.NUMBER, tables.TEXT}
        other = " or ".join(dict.fromkeys(type_ for type_ in types if type_ != tables.EMPTY))
        yield tables.Column(name, tables.type_of_all(types) if is_cell else other)
        if inner is None or not inner.objects:
            continue
        shared = Counter(_is_shared(len(types), inner.objects, top=False) for types in inner.types.values())
        if shared[True] >= shared[False]:  # else it is a mapping
            yield from _columns(inner, f"{name}.", records)


def _is_shared(times: int, objects: int, *, top: bool) -> bool:
    if objects < 3:
        return top or (objects > 1 and times == objects)
    return times >= 2 and times >= _SHARE * objects


def read_database(path: Path, /) -> Document:
    """Return a part for each table and view of a SQLite or DuckDB file; nothing for a store of ours."""
    # Imported late: only the process that parses needs SQLite.
    from jupyter_memory.storage.foreign import foreign_tables

    found = foreign_tables(path)
    with path.open("rb") as opened:
        format_ = "SQLite" if opened.read(6) == b"SQLite" else "DuckDB"
    told = []
    for one in found.tables:
        columns = []
        for name, declared in one.columns:
            words = declared.lower().split()[:4]
            columns.append(tables.Column(name, " ".join(words) if sum(map(len, words)) <= 40 else ""))
        what = "view" if one.is_view else "table"
        told.append(tables.Table(tuple(columns), one.name, what, one.rows, one.estimated))
    return tables.document(told, format_, found.left_out)


_SHEETS, _SHEET_ROWS, _COLUMNS = 200, 51, 2_000
# What an archive of each kind must have in it; a workbook of Excel before 2007 is no archive.
_ARCHIVES = {
    ".xlsx": "xl/workbook.xml", ".xlsm": "xl/workbook.xml", ".xlsb": "xl/workbook.bin", ".ods": "content.xml",
}  # fmt: skip


def read_workbook(path: Path, /) -> Document:
    from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum

    suffix = path.suffix.lower()
    main = _ARCHIVES.get(suffix)
    what = "Excel workbook" if suffix in (".xlsx", ".xlsm") else "workbook"
    with archive(path, main, what) if main is not None else nullcontext():
        try:
            book = CalamineWorkbook.from_path(path)
        except PasswordError:
            raise InputError("The workbook is protected by a password. Save it without one to have it read.") from None
    told = []
    with book:
        sheets = [one.name for one in book.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
        for name in sheets[:_SHEETS]:
            sheet = book.get_sheet_by_name(name)
            read = [[_cell_text(cell) for cell in row[:_COLUMNS]] for row in islice(sheet.iter_rows(), _SHEET_ROWS)]
            cells = [row for row in read if any(row)]
            if not cells:
                continue
            rows, width = tables.without_preamble(cells), max(map(len, cells))
            columns, types = tables.columns_of(rows, width)
            count = max(sheet.height - len(read) + len(rows), len(rows)) - bool(columns)
            told.append(tables.Table(columns, name, "sheet", count, types=types, width=width))
    return tables.document(told, "OpenDocument" if suffix == ".ods" else "Excel", max(0, len(sheets) - _SHEETS))


def _cell_text(cell: object) -> str:
    # A date stands for all, and so does a flag: they are looked at, and never told.
    if isinstance(cell, str):
        return clean(cell)
    if isinstance(cell, bool):
        return "true"
    if isinstance(cell, datetime | date | time):
        return "2000-01-01"
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


# Bytes at both ends of a file by which its states are told apart: headers, and the footers of Parquet and Arrow.
_SAMPLED = 65_536

DATA_FILES: tuple[Reader, ...] = (
    DelimitedReader("CSV", (".csv", ".csv.gz")),
    DelimitedReader("TSV", (".tsv", ".tab", ".tsv.gz"), ("\t",)),
    JsonLinesReader(),
    IsolatedReader(
        (".parquet", ".pq", ".feather", ".arrow"),
        "Parquet, Feather or Arrow file",
        "jupyter_memory.ingest.readers.arrow:read",
        needs=("pyarrow",),
        extra="data",
        sampled=_SAMPLED,
    ),
    IsolatedReader((".xlsx", ".xlsm"), "Excel workbook", f"{__name__}:read_workbook"),
    IsolatedReader((".xls", ".xlsb", ".ods"), "workbook", f"{__name__}:read_workbook"),
    IsolatedReader((".sqlite", ".sqlite3", ".db", ".db3"), "database", f"{__name__}:read_database", unopened=True),
    IsolatedReader(
        (".duckdb",), "DuckDB database", f"{__name__}:read_database", needs=("duckdb",), extra="data", unopened=True
    ),
)
