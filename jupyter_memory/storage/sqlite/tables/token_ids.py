"""The different tokens of each chunk, kept with it: reading them takes a hundredth of what tokenising takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import apsw
import numpy as np

from jupyter_memory.storage.base import TokenIds as Ids
from jupyter_memory.storage.sqlite import sql

# The static model's vocabulary has 32,000 tokens. Little-endian, as a file may be carried to another machine.
_STORED = np.dtype("<u2")


def keep(connection: apsw.Connection, ids: Mapping[int, Ids]) -> None:
    """Store the tokens of chunks, each once and ascending, by chunk."""
    rows = [(chunk, of_it.astype(_STORED, copy=False).tobytes()) for chunk, of_it in ids.items()]
    sql.insert(connection, "chunk_tokens", ("chunk", "ids"), rows, replacing=True)


def kept(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, Ids]:
    """Return the tokens of those of these chunks that have them; a store of an older version has none."""
    rows = connection.execute(
        "select chunk, ids from chunk_tokens where chunk in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {chunk: np.frombuffer(ids, _STORED) for chunk, ids in rows}


def lacking(connection: apsw.Connection, count: int, after: int) -> list[int]:
    """Return up to ``count`` chunks without tokens, those above ``after``, lowest first."""
    rows = connection.execute(
        """
        select id from chunks where id > ? and not exists (select 1 from chunk_tokens where chunk = id)
        order by id limit ?
        """,
        (after, count),
    )
    return [row[0] for row in rows]
