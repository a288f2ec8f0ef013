"""Searches, feedback, vectors of questions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.shared import from_micros, to_micros
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types.protocols import Vectors
from jupyter_memory.types.report import Feedback, Recent

# Searches and feedback are of the role that is connected: what a colleague asked is not seen.

_KEPT_SEARCHES = 200
_KEPT_FEEDBACK = 10_000
# The rows of the connected role, in the store as it was opened.
OWN = "space = :space and who = current_user"
_JUDGED = "memory, accepted, query, query_id, profile, rank, at"


def note_search(session: Session, search: Recent, hits: Sequence[str]) -> None:
    """Note a search; it takes the place of the same question of a person, while calls of programs are a record."""
    noted = {
        "space": session.space,
        "query_id": search.query_id,
        "query": storable(search.query),
        "profile": search.profile,
        "origin": search.origin,
        "at": to_micros(search.at),
        "hits": list(hits),
        "client": search.client,
        "tool": search.tool,
    }
    if not search.client:
        session.execute(
            f"delete from searches where {OWN} and query = :query and profile = :profile and client = ''", **noted
        )
    sql.insert(session, "searches", [noted])
    of_these = f"{OWN} and (client <> '') = :by_program"
    session.execute(
        f"""
        delete from searches where {of_these} and number <= (
            select number from searches where {of_these} order by number desc limit 1 offset :kept
        )
        """,
        space=session.space,
        by_program=bool(search.client),
        kept=_KEPT_SEARCHES,
    )


def judge(session: Session, said: Feedback) -> None:
    """Note feedback on a hit, in place of earlier feedback on it for the same question."""
    noted = {
        "space": session.space,
        "memory": said.memory_id,
        "query": storable(said.query),
        "query_id": storable(said.query_id),
        "profile": storable(said.profile),
        "rank": said.rank,
        "accepted": said.accepted,
        "at": to_micros(said.at),
    }
    session.execute(f"delete from feedback where {OWN} and memory = :memory and md5(query) = md5(:query)", **noted)
    sql.insert(session, "feedback", [noted])
    session.execute(
        f"delete from feedback where {OWN} and at <= "
        f"(select at from feedback where {OWN} order by at desc limit 1 offset :kept)",
        space=session.space,
        kept=_KEPT_FEEDBACK,
    )


def judged(session: Session) -> list[Feedback]:
    rows = session.rows(
        f"select {_JUDGED} from feedback where {OWN} order by at desc, number desc", space=session.space
    )
    return [
        Feedback(memory, accepted, query, query_id, profile, rank, from_micros(at))
        for memory, accepted, query, query_id, profile, rank, at in rows
    ]


def restore_feedback(session: Session, found: Iterable[Feedback]) -> None:
    """Note feedback on memories that are there, unless the same question has feedback on them."""
    for said in found:
        known = session.value(
            f"""
            select not exists (select 1 from memories where {of("memories")} and id = :memory)
                or exists (select 1 from feedback where {OWN} and memory = :memory and query = :query)
            """,
            space=session.space,
            memory=storable(said.memory_id),
            query=storable(said.query),
        )
        if not known:
            judge(session, said)


def clear_searches(session: Session) -> int:
    session.execute(f"delete from feedback where {OWN}", space=session.space)
    return session.changed(f"delete from searches where {OWN}", space=session.space)


def forget_about(session: Session, keys: Sequence[int]) -> None:
    """Forget everybody's searches that showed one of these memories, the feedback, and related questions."""
    session.execute(
        f"""
        select jupyter_memory.forget_asked(
            :spaces::text[], array(select id from memories where {of("memories")} and key = any(:keys))
        )
        """,
        keys=list(keys),
    )


# The vectors of the last thousand questions of each person, of all models together, by a digest of their words.

_KEPT_QUERY_VECTORS = 1_000
_KEY = f"select key from query_keys where {OWN}"


def query_vector(session: Session, fingerprint: str, text: str) -> tuple[Vectors, bool] | None:
    # Whether it should move to the front: only from the older half, so most searches that find it write nothing.
    key = session.value(_KEY, space=session.space)
    if key is None:
        return None
    rows = session.rows(
        """
        select embedding, (
            select count(*) from query_vectors as newer
            where newer.space = :space and newer.who = current_user and newer.number > query_vectors.number
        )
        from query_vectors join models on models.id = query_vectors.model
        where query_vectors.space = :space and query_vectors.who = current_user
            and models.fingerprint = :fingerprint and digest = :digest
            and length(embedding) = 4 * models.dimensions
        """,
        space=session.space,
        fingerprint=fingerprint,
        digest=_digest(key, text),
    )
    return (np.frombuffer(rows[0][0], "<f4"), rows[0][1] >= _KEPT_QUERY_VECTORS // 2) if rows else None


def keep_query_vector(session: Session, fingerprint: str, text: str, vector: Vectors) -> None:
    """Store the vector of a question in front of all others, unless the store dropped its model."""
    own = {"space": session.space}
    session.execute(
        "insert into query_keys (space, key) values (:space, :key) on conflict do nothing",
        **own,
        key=os.urandom(32),
    )
    key = session.value(_KEY, **own)
    session.execute(
        """
        insert into query_vectors (space, model, digest, embedding)
        select :space, id, :digest, :embedding from models where fingerprint = :fingerprint
        on conflict (space, who, model, digest) do update set
            number = excluded.number, embedding = excluded.embedding
        """,
        **own,
        digest=_digest(key, text),
        embedding=vector.astype("<f4").tobytes(),
        fingerprint=fingerprint,
    )
    session.execute(
        f"""
        delete from query_vectors where {OWN} and number <= (
            select number from query_vectors where {OWN} order by number desc limit 1 offset :kept
        )
        """,
        **own,
        kept=_KEPT_QUERY_VECTORS,
    )


def clear_query_vectors(session: Session) -> int:
    """Forget every question of the connected role, and the key of their digests; return how many there were."""
    own = {"space": session.space}
    session.execute(f"delete from query_keys where {OWN}", **own)
    return session.changed(f"delete from query_vectors where {OWN}", **own)


def _digest(key: bytes, text: str) -> bytes:
    return blake2b(encodable(text).encode(), digest_size=16, key=key).digest()
