"""Reads the schema of a Parquet, Feather or Arrow file with pyarrow: its footer and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.tables import Column, Table, document, stated_unit

_PARQUET, _ARROW, _OLD_FEATHER, _ENCRYPTED = b"PAR1", b"ARROW1", b"FEA1", b"PARE"
# How deep the fields of a struct are looked at.
_DEPTH = 3
# Bytes of a batch that are read for its length, at most.
_BATCH = 200_000_000
_ONE_COLUMN = ipc.IpcReadOptions(included_fields=[0])


def read(path: Path, /) -> Document:
    """Return the columns of the table in a file, whose format its first bytes tell."""
    with path.open("rb") as opened:
        first = opened.read(6)
    if first.startswith(_ENCRYPTED):
        raise InputError("The Parquet file is encrypted, so its columns are unknown.")
    if first.startswith(_OLD_FEATHER):
        raise InputError("The file is in version 1 of Feather, whose columns cannot be read alone. Write it anew.")
    if first.startswith(_PARQUET):
        # Not with `pre_buffer` or as a dataset: only the footer is read.
        with parquet.ParquetFile(path) as opened:
            rows, schema = opened.metadata.num_rows, opened.schema_arrow
        return _document("Parquet", schema, rows)
    if first == _ARROW:
        format_ = "Feather" if path.suffix.lower() == ".feather" else "Arrow"
        with pa.OSFile(str(path)) as source, ipc.open_file(source) as opened:
            schema = opened.schema
        return _document(format_, schema, *_rows(path))
    if path.suffix.lower() not in (".arrow", ".arrows"):
        raise InputError("The file is damaged, or neither Parquet nor Feather; its first bytes are of another format.")
    with pa.OSFile(str(path)) as source, ipc.open_stream(source) as opened:
        return _document("Arrow", opened.schema, None)


def _rows(path: Path) -> tuple[int | None, bool]:
    try:
        # Of a batch, one column is enough to know its length.
        with pa.OSFile(str(path)) as source, ipc.open_file(source, options=_ONE_COLUMN) as opened:
            batches = opened.num_record_batches
            if path.stat().st_size > _BATCH * max(1, batches):
                return None, False
            ends = [opened.get_batch(place).num_rows for place in (0, batches - 1)] if batches else [0, 0]
    except (pa.ArrowException, MemoryError):
        return None, False
    return ends[0] * max(0, batches - 1) + ends[1], batches > 2


def _document(format_: str, schema: pa.Schema, rows: int | None, estimated: bool = False) -> Document:
    columns = tuple(column for field in schema for column in _columns(field, "", 1))
    return document([Table(columns, rows=rows, estimated=estimated)], format_)


def _columns(field: pa.Field, prefix: str, depth: int) -> Iterator[Column]:
    name, type_ = f"{prefix}{field.name}", field.type
    units = [value for key, value in (field.metadata or {}).items() if key.lower() in (b"unit", b"units")]
    yield Column(name, _type(type_), stated_unit(units[0].decode("utf-8", "replace")) if units else "")
    inner = _items(type_)
    if pa.types.is_struct(inner) and depth < _DEPTH:
        for place in range(inner.num_fields):
            yield from _columns(inner.field(place), f"{name}.", depth + 1)


def _type(type_: pa.DataType) -> str:
    if pa.types.is_dictionary(type_):
        return f"category of {_type(type_.value_type)}"
    if _items(type_) is not type_:
        return f"list of {_type(_items(type_))}"
    if pa.types.is_nested(type_):
        return "struct" if pa.types.is_struct(type_) else "nested"
    return str(type_) if not isinstance(type_, pa.BaseExtensionType) else _type(type_.storage_type)


def _items(type_: Any) -> Any:
    is_list = pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_)
    return type_.value_type if is_list else type_
