"""Chunks from all over the store, and what else a search is compared with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray


def spread(connection: apsw.Connection, count: int) -> list[int]:
    """Return the ids of up to ``count`` chunks, evenly from the first to the last."""
    last = newest(connection)
    wanted = np.unique(np.linspace(1, last, min(count, last)).astype(np.int64)) if last else np.empty(0, np.int64)
    rows = connection.execute(
        "select id from chunks where id in (select value from json_each(?)) order by id", (json.dumps(wanted.tolist()),)
    )
    return [row[0] for row in rows]


def newest(connection: apsw.Connection) -> int:
    """Return the highest id of a chunk, 0 in an empty store."""
    return int(connection.execute("select coalesce(max(id), 0) from chunks").get)


def owned_vectors(
    connection: apsw.Connection, model: int, dimensions: int, chunks: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the chunks that have a vector: their ids and the keys of their memories, ``(n,)``, and the vectors."""
    found: list[Any] = connection.execute(
        f"""
        select chunks.id, chunks.memory, vectors.embedding
        from vectors_{model} as vectors join chunks on chunks.id = vectors.chunk
        where vectors.chunk in (select value from json_each(?)) order by chunks.id
        """,
        (json.dumps(list(chunks)),),
    ).fetchall()
    together = np.frombuffer(b"".join(row[2] for row in found), np.float32).reshape(-1, dimensions)
    ids = np.array([row[0] for row in found], np.int64)
    return ids, np.array([row[1] for row in found], np.int64), together


def embedded_parts(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, tuple[str, str, str, str]]:
    """Return kind, title, context and text of chunks, by id."""
    rows = connection.execute(
        """
        select shown.id, memories.kind, shown.title, shown.context, shown.text
        from chunk_texts as shown join chunks on chunks.id = shown.id join memories on memories.key = chunks.memory
        where shown.id in (select value from json_each(?))
        """,
        (json.dumps(list(chunks)),),
    )
    return {row[0]: row[1:] for row in rows}


def trust(connection: apsw.Connection, model: int) -> tuple[int, float] | None:
    """Return how many chunks there were when trust was measured, and the trust; None if it never was."""
    row = connection.execute("select chunks, value from trust where model = ?", (model,)).fetchone()
    return (row[0], row[1]) if row else None


def keep_trust(connection: apsw.Connection, model: int, chunks: int, value: float) -> None:
    """Note how far a model can be trusted in a store of so many chunks."""
    connection.execute("insert or replace into trust (model, chunks, value) values (?, ?, ?)", (model, chunks, value))


def sessions(connection: apsw.Connection, where: str, parameters: dict[str, object]) -> list[str]:
    """Return the names of all sessions of the memories that a condition lets through."""
    rows = connection.execute(
        f"select distinct memories.session from memories where memories.session is not null and {where}", parameters
    )
    return [row[0] for row in rows]
