"""The vectors of the last thousand questions of each person, of all models together, by a digest of their words.

A repeated question moves to the front, but only from the older half: most searches that find their vector here write
nothing.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from jupyter_memory.storage.postgres.connection.session import Session
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types.protocols import Vectors

KEPT = 1_000
_OWN = "space = %(space)s and who = current_user"
_KEY = f"select key from query_keys where {_OWN}"


class StoredVector(NamedTuple):
    """A stored vector, float32 ``(dimensions,)``, and whether it should move to the front."""

    vector: Vectors
    ageing: bool


def get(session: Session, fingerprint: str, text: str) -> StoredVector | None:
    """Return the stored vector of a question by one model, None where there is none."""
    key = session.value(_KEY, {"space": session.space})
    if key is None:
        return None
    rows = session.rows(
        """
        select embedding, (
            select count(*) from query_vectors as newer
            where newer.space = %(space)s and newer.who = current_user and newer.number > query_vectors.number
        )
        from query_vectors join models on models.id = query_vectors.model
        where query_vectors.space = %(space)s and query_vectors.who = current_user
            and models.fingerprint = %(fingerprint)s and digest = %(digest)s
            and length(embedding) = 4 * models.dimensions
        """,
        {"space": session.space, "fingerprint": fingerprint, "digest": _digest(key, text)},
    )
    return StoredVector(np.frombuffer(rows[0][0], "<f4"), rows[0][1] >= KEPT // 2) if rows else None


def put(session: Session, fingerprint: str, text: str, vector: Vectors) -> None:
    """Store the vector of a question in front of all others; nothing happens for a model that the store dropped."""
    own = {"space": session.space}
    session.execute(
        "insert into query_keys (space, key) values (%(space)s, %(key)s) on conflict do nothing",
        {**own, "key": os.urandom(32)},
    )
    key = session.value(_KEY, own)
    session.execute(
        """
        insert into query_vectors (space, model, digest, embedding)
        select %(space)s, id, %(digest)s, %(embedding)s from models where fingerprint = %(fingerprint)s
        on conflict (space, who, model, digest) do update set
            number = excluded.number, embedding = excluded.embedding
        """,
        {
            **own,
            "digest": _digest(key, text),
            "embedding": vector.astype("<f4").tobytes(),
            "fingerprint": fingerprint,
        },
    )
    session.execute(
        f"""
        delete from query_vectors where {_OWN} and number <= (
            select number from query_vectors where {_OWN} order by number desc limit 1 offset %(kept)s
        )
        """,
        {**own, "kept": KEPT},
    )


def clear(session: Session) -> int:
    """Forget every question of the connected role, and the key of their digests; return how many there were."""
    own = {"space": session.space}
    session.execute(f"delete from query_keys where {_OWN}", own)
    return session.changed(f"delete from query_vectors where {_OWN}", own)


def is_empty(session: Session) -> bool:
    """Return whether no vector is stored."""
    return not session.value(f"select exists (select 1 from query_vectors where {_OWN})", {"space": session.space})


def _digest(key: bytes, text: str) -> bytes:
    return blake2b(encodable(text).encode(), digest_size=16, key=key).digest()
