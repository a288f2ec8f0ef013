"""What all statements share: rows in bulk, new numbers, and vectors as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.storage.postgres.connection.session import Session
from jupyter_memory.types.protocols import Vectors

# Rows that one statement writes.
TOGETHER = 5_000
_JSON = json.JSONEncoder(ensure_ascii=False)


def insert(session: Session, table: str, written: Sequence[Mapping[str, Any]], *, conflict: str = "") -> int:
    """Write rows of the same columns; ``conflict`` says what to do with those that are there. Return how many went in.

    They go as one value, JSON, whose types are those of the table: as many parameters as there are values would take
    longer to read than to store.
    """
    count = 0
    for start in range(0, len(written), TOGETHER):
        part = written[start : start + TOGETHER]
        columns = ", ".join(part[0])
        count += session.changed(
            f"insert into {table} ({columns}) "
            f"select {columns} from json_populate_recordset(null::{table}, %(rows)s::json) {conflict}",
            {"rows": _JSON.encode(list(part))},
        )
    return count


def next_numbers(session: Session, sequence: str, count: int) -> list[int]:
    """Return new numbers of a sequence, ascending; other writers have others."""
    rows = session.rows(
        "select nextval(%(sequence)s::regclass) from generate_series(1, %(count)s) order by 1",
        {"sequence": sequence, "count": count},
    )
    return [row[0] for row in rows]


def parts(values: Sequence[Any], size: int = TOGETHER) -> Iterator[Sequence[Any]]:
    """Yield the values in parts that one statement takes."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def as_vector(vector: Vectors) -> str:
    """Return a vector as pgvector reads it: the shortest digits that give every float32 back."""
    return "[" + ",".join(map(str, vector)) + "]"


def from_vectors(written: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """Return vectors, ``(n, dimensions)``, from what ``vector_send`` gives: two numbers of 16 bits, then the values."""
    values = b"".join(one[4:] for one in written)
    return np.frombuffer(values, ">f4").astype(np.float32).reshape(-1, dimensions)
