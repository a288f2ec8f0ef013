"""Checks of vectors, their codes and the tokens of chunks: of the right length, and of the chunks that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import numpy as np

from jupyter_memory.runtime import batches
from jupyter_memory.storage.sqlite.indexes import quantization
from jupyter_memory.types.chunk_tokens import is_damaged

# Rows that are compared at once.
_TOGETHER = 2_048
# How far the length of a vector may be from 1, and in how many bits a code may differ from that of its vector where
# another machine computed it: damage changes more.
_ROUNDING, _BITS = 1e-3, 32
_CODE_BYTES = quantization.BITS // 8


def findings(connection: apsw.Connection) -> Iterator[str]:
    """Yield what is wrong with vectors and tokens, each with what to do."""
    models: list[Any] = connection.execute("select id, name, dimensions from models").fetchall()
    for model, name, dimensions in models:
        if count := len(damaged(connection, model, dimensions)):
            them = "1 vector" if count == 1 else f"{count:,} vectors"
            yield (
                f"{them} of {name} {'is' if count == 1 else 'are'} damaged, or of chunks that are not there. "
                "Compute them anew with store.reembed()."
            )
    if count := len(damaged_tokens(connection)):
        yield f"The tokens of {count:,} chunks are damaged. Compute them anew with store.rebuild()."


def damaged(connection: apsw.Connection, model: int, dimensions: int) -> list[int]:
    """Return the chunks whose vector or code is damaged or without the other, and those that are not there."""
    query = f"""
        select chunk, embedding, code, exists (select 1 from chunks where id = chunk)
        from vectors_{model} full join codes_{model} using (chunk) order by chunk
    """
    return [
        chunk
        for rows in batches(connection.execute(query), _TOGETHER)
        for chunk in _damaged_among(rows, 4 * dimensions)
    ]


def _damaged_among(rows: Sequence[Any], length: int) -> list[int]:
    """Return the chunks of damaged rows of chunk, vector, code, and whether the chunk is there."""
    whole = [row for row in rows if _is_whole(row, length)]
    found = [row[0] for row in rows if not _is_whole(row, length)]
    if whole:
        vectors = np.frombuffer(b"".join(row[1] for row in whole), np.float32).reshape(len(whole), -1)
        codes = np.frombuffer(b"".join(row[2] for row in whole), np.uint8).reshape(len(whole), -1)
        finite = np.asarray(np.isfinite(vectors).all(axis=1, keepdims=True))
        usable = np.where(finite, vectors, np.float32(0))
        lengths = np.linalg.norm(usable.astype(np.float64), axis=1)
        expected = quantization.codes(usable).view(np.uint8).reshape(len(whole), -1)
        differing = np.unpackbits(expected ^ codes, axis=1).sum(axis=1)
        wrong = ~finite.ravel() | (np.abs(lengths - 1) > _ROUNDING) | (differing > _BITS)
        found += [whole[i][0] for i in np.flatnonzero(wrong)]
    return found


def _is_whole(row: Any, length: int) -> bool:
    _, vector, code, is_there = row
    blobs = isinstance(vector, bytes) and isinstance(code, bytes)
    return bool(blobs and len(vector) == length and len(code) == _CODE_BYTES and is_there)


def damaged_tokens(connection: apsw.Connection) -> list[int]:
    """Return the chunks whose tokens are damaged."""
    rows = connection.execute("select chunk, ids from chunk_tokens order by chunk")
    return [chunk for chunk, ids in rows if is_damaged(ids)]
