"""Reads the beginning of a file of JSON Lines: the keys of its records with their types."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.data.sample import Sample, sample
from jupyter_memory.ingest.readers.data.table import Column, Table, document
from jupyter_memory.ingest.readers.data.values import BOOLEAN, EMPTY, INTEGER, NUMBER, TEXT, is_value, type_of_all

_FORMAT = "JSON Lines"
# Records by which keys are judged, and how deep keys are looked at.
_RECORDS, _DEPTH = 200, 3
# A key belongs to the records if this share of them has it, and of several at least two. Others may be values: the keys
# of a mapping from names to numbers.
_SHARE = 0.2


@dataclass(slots=True)
class _Level:
    """The objects at one place of the records: how many there were, and what each key has."""

    objects: int = 0
    types: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inside: dict[str, _Level] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JsonLinesReader:
    """Reads one JSON value a line. The first bytes of a file are read, whatever its size."""

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
    version: int = 1
    sampled: int = 65_536

    def read(self, path: Path, /) -> Document:
        """Return the keys that the records share, without a value; an empty file has none.

        Raises:
            InputError: the file is not JSON Lines, or its first record is too long.
            OSError: the file cannot be read.
        """
        begun = sample(path)
        lines = [line for line in begun.text.split("\n") if line.strip()]
        if begun.cut_short:
            raise InputError("The first line is longer than 2 MB, so it is not read. Is this one JSON document?")
        if not lines:
            return Document((), "data")
        if not begun.whole:
            del lines[-1]
        top, records = _Level(), [_record(line) for line in lines[:_RECORDS]]
        for record in records:
            _note(record, top, 1)
        read = sum(len(line) + 1 for line in lines) or 1
        rows = len(lines) if begun.whole else max(len(lines), round(len(lines) * begun.characters / read))
        return document([_table(top, rows, begun, len(records))], _FORMAT)


def _table(top: _Level, rows: int, begun: Sample, records: int) -> Table:
    columns = tuple(_columns(top, "", records))
    return Table(columns, what="file", rows=rows, estimated=not begun.whole, width=len(columns))


def _record(line: str) -> Any:
    try:
        return json.loads(line.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise InputError("A line of the file is not JSON, so it is no file of JSON Lines.") from None


def _note(value: Any, level: _Level, depth: int) -> None:
    """Note the keys of an object, and of the objects in a list."""
    for one in value if isinstance(value, list) else (value,):
        if not isinstance(one, dict):
            continue
        level.objects += 1
        for key, inner in one.items():
            level.types[key].append(_type(inner))
            if depth < _DEPTH and isinstance(inner, dict | list):
                _note(inner, level.inside.setdefault(key, _Level()), depth + 1)


def _columns(level: _Level, prefix: str, records: int) -> Iterator[Column]:
    """Yield the keys that most objects have, the inner ones as ``address.city``."""
    for key, types in level.types.items():
        if not _is_shared(len(types), level.objects, top=not prefix) or is_value(key):
            continue
        name, inner = f"{prefix}{key}", level.inside.get(key)
        yield Column(name, _said(types))
        if inner is not None and inner.objects and not _is_mapping(inner):
            yield from _columns(inner, f"{name}.", records)


def _is_shared(times: int, objects: int, *, top: bool) -> bool:
    if objects < 3:
        return top or (objects > 1 and times == objects)
    return times >= 2 and times >= _SHARE * objects


def _is_mapping(level: _Level) -> bool:
    """Return whether the keys of these objects are data: many, and few of them in more than one object."""
    shared = Counter(_is_shared(len(types), level.objects, top=False) for types in level.types.values())
    return shared[False] > shared[True]


def _said(types: Sequence[str]) -> str:
    return type_of_all(types) if set(types) <= {BOOLEAN, EMPTY, INTEGER, NUMBER, TEXT} else _mixed(types)


def _mixed(types: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(type_ for type_ in types if type_ != EMPTY))


def _type(value: Any) -> str:
    if value is None:
        return EMPTY
    for kind, name in ((bool, BOOLEAN), (int, INTEGER), (float, NUMBER), (str, TEXT), (list, "list")):
        if isinstance(value, kind):
            return name
    return "object"
