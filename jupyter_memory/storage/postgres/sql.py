"""SQL in pieces: parameters, filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.runtime import batches
from jupyter_memory.storage.postgres.database import Session
from jupyter_memory.types.protocols import Vectors

# Rows that one statement writes.
TOGETHER = 5_000
_JSON = json.JSONEncoder(ensure_ascii=False)


def insert(session: Session, table: str, written: Sequence[Mapping[str, Any]], *, conflict: str = "") -> int:
    """Write rows of the same columns; ``conflict`` says what to do with known ones. Return how many went in."""
    # As one value, JSON: as many parameters as there are values would take longer to read than to store.
    count = 0
    for part in batches(written, TOGETHER):
        columns = ", ".join(part[0])
        count += session.changed(
            f"insert into {table} ({columns}) "
            f"select {columns} from json_populate_recordset(null::{table}, :rows::json) {conflict}",
            rows=_JSON.encode(part),
        )
    return count


def next_numbers(session: Session, sequence: str, count: int) -> list[int]:
    rows = session.rows(
        "select nextval(:sequence::regclass) from generate_series(1, :count) order by 1",
        sequence=sequence,
        count=count,
    )
    return [row[0] for row in rows]


def as_vector(vector: Vectors) -> str:
    """Return a vector as pgvector reads it: the shortest digits that give every float32 back."""
    return "[" + ",".join(map(str, vector)) + "]"


def from_vectors(written: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """Return vectors, ``(n, dimensions)``, from what ``vector_send`` gives: two numbers of 16 bits, then the values."""
    values = b"".join(one[4:] for one in written)
    return np.frombuffer(values, ">f4").astype(np.float32).reshape(-1, dimensions)
