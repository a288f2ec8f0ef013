"""The vectors of the last thousand questions, of all models together, by a digest of their words.

A repeated question moves to the front, but only from the older half: most searches that find their vector here write
nothing.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import apsw
import numpy as np

from jupyter_memory.text.unicode import encodable
from jupyter_memory.types.protocols import Vectors

KEPT = 1_000


class StoredVector(NamedTuple):
    """A stored vector, float32 ``(dimensions,)``, and whether it should move to the front."""

    vector: Vectors
    ageing: bool


def get(connection: apsw.Connection, fingerprint: str, text: str) -> StoredVector | None:
    """Return the stored vector of a question by one model, None where there is none."""
    row = connection.execute(
        """
        select embedding, used <= (select max(used) from query_vectors) - ?
        from query_vectors join models on models.id = query_vectors.model
        where models.fingerprint = ? and digest = ? and length(embedding) = 4 * dimensions
        """,
        (KEPT // 2, fingerprint, _digest(connection, text)),
    ).fetchone()
    return None if row is None else StoredVector(np.frombuffer(row[0], np.float32), bool(row[1]))


def put(connection: apsw.Connection, fingerprint: str, text: str, vector: Vectors) -> None:
    """Store the vector of a question in front of all others; nothing happens for a model that the store dropped."""
    connection.execute(
        """
        insert or replace into query_vectors (model, digest, embedding)
        select id, ?, ? from models where fingerprint = ?
        """,
        (_digest(connection, text), vector.tobytes(), fingerprint),
    )
    connection.execute(
        "delete from query_vectors where used <= (select max(used) from query_vectors) - ?",
        (KEPT,),
    )


def clear(connection: apsw.Connection) -> int:
    """Forget every question, and the key with which the digests were made; return how many there were."""
    count: int = connection.execute("select count(*) from query_vectors").get
    connection.execute("delete from query_vectors")
    connection.execute("update query_key set key = randomblob(32)")
    return count


def is_empty(connection: apsw.Connection) -> bool:
    """Return whether no vector is stored."""
    return not connection.execute("select exists (select 1 from query_vectors)").get


def _digest(connection: apsw.Connection, text: str) -> bytes:
    key = connection.execute("select key from query_key").get
    return blake2b(encodable(text).encode(), digest_size=16, key=key).digest()
