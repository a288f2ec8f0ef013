"""The vectors of questions asked before, by a digest of their words: the last thousand, of all models together.

A question that is asked again moves to the front, but only from the rear half of the thousand: most searches that find
their vector here write nothing.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import apsw
import numpy as np

from jupyter_memory.protocols import Vectors
from jupyter_memory.text.unicode import encodable

KEPT = 1_000


class StoredVector(NamedTuple):
    """A vector of the cache, float32 ``(dimensions,)``, and whether it is worth moving to the front."""

    vector: Vectors
    ageing: bool


def get(connection: apsw.Connection, fingerprint: str, text: str) -> StoredVector | None:
    """Return what is kept of a question for one model."""
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
    """Keep the vector of a question in front of all others; nothing happens for a model that the store left."""
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
    asked: int = connection.execute("select count(*) from query_vectors").get
    connection.execute("delete from query_vectors")
    connection.execute("update query_key set key = randomblob(32)")
    return asked


def is_empty(connection: apsw.Connection) -> bool:
    """Return whether nothing is kept."""
    return not connection.execute("select exists (select 1 from query_vectors)").get


def _digest(connection: apsw.Connection, text: str) -> bytes:
    key = connection.execute("select key from query_key").get
    return blake2b(encodable(text).encode(), digest_size=16, key=key).digest()
