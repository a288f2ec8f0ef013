"""Searches, feedback, how often memories were used, and the vectors of questions.

In PostgreSQL searches, feedback and questions are of the role that is connected: what a colleague asked is not seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from jupyter_memory.storage.base import NotedSearch, QueryVector, from_micros, to_micros
from jupyter_memory.storage.sql import Session
from jupyter_memory.storage.tables import memories
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types.protocols import Vectors
from jupyter_memory.types.report import Feedback, Recent

_KEPT_SEARCHES = 200
_KEPT_FEEDBACK = 10_000


def note_search(session: Session, search: Recent, hits: Sequence[str]) -> None:
    """Note a search with the ids of its hits as the newest, in place of an earlier search for the same question."""
    # The calls of programs are a record: none replaces another, and no number of them displaces a person's searches.
    own, query = session.dialect.own("searches"), storable(search.query)
    if not search.client:
        session.changed(
            f"delete from searches where {own} and query = :query and profile = :profile and client = ''",
            query=query,
            profile=search.profile,
        )
    noted = {
        "space": session.space,
        "query_id": search.query_id,
        "query": query,
        "profile": search.profile,
        "origin": search.origin,
        "at": to_micros(search.at),
        "hits": json.dumps(list(hits)),
        "client": search.client,
        "tool": search.tool,
    }
    session.insert("searches", [noted])
    of_these = f"{own} and (client <> '') = :by_program"
    session.changed(
        f"""
        delete from searches where {of_these} and number <= (
            select number from searches where {of_these} order by number desc limit 1 offset :kept
        )
        """,
        by_program=bool(search.client),
        kept=_KEPT_SEARCHES,
    )


def recent(session: Session, limit: int) -> list[Recent]:
    """Return the last searches, the newest first."""
    return [noted.search for noted in searches(session, "order by number desc limit :limit", limit=limit)]


def last_search(session: Session, origin: str) -> tuple[Recent, tuple[str, ...]] | None:
    """Return the last search of a person from one place, with the ids of its hits; None where none is kept."""
    last = "and origin = :origin and client = '' order by number desc limit 1"
    return next(((noted.search, noted.hits) for noted in searches(session, last, origin=origin)), None)


def searches(session: Session, /, chosen: str = "order by number", **parameters: Any) -> list[NotedSearch]:
    """Return the searches that are kept, the oldest first unless ``chosen`` says otherwise."""
    rows = session.rows(
        "select query_id, query, profile, at, origin, hits, client, tool from searches "
        f"where {session.dialect.own('searches')} {chosen}",
        **parameters,
    )
    found = []
    for id_, query, profile, at, origin, hits, client, tool in rows:
        ids = tuple(json.loads(hits))
        found.append(NotedSearch(Recent(id_, query, profile, from_micros(at), origin, len(ids), client, tool), ids))
    return found


def query_of(session: Session, query_id: str) -> str:
    """Return the words of a recent search, empty where it is not known."""
    of_id = f"{session.dialect.own('searches')} and query_id = :id"
    return session.value(f"select query from searches where {of_id} order by number limit 1", id=query_id) or ""


def judge(session: Session, said: Feedback, *, taken_back: bool = False) -> None:
    """Note feedback on a hit that is still there, or take back what was said of it for the same question."""
    memories.known_key(session, said.memory_id)
    own = session.dialect.own("feedback")
    if taken_back:
        asked = {"memory": said.memory_id, "query": storable(said.query)}
        session.changed(f"delete from feedback where {own} and memory = :memory and query = :query", **asked)
        return
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
    new = ", ".join(f"{name} = excluded.{name}" for name in ("query_id", "profile", "rank", "accepted", "at"))
    session.insert("feedback", [noted], known=f"do update set {new}")
    session.changed(
        f"delete from feedback where {own} and at <= "
        f"(select at from feedback where {own} order by at desc limit 1 offset :kept)",
        kept=_KEPT_FEEDBACK,
    )


def judged(session: Session) -> list[Feedback]:
    """Return what people said of hits, the newest first."""
    rows = session.rows(
        "select memory, accepted, query, query_id, profile, rank, at from feedback "
        f"where {session.dialect.own('feedback')} order by at desc, memory, query"
    )
    return [
        Feedback(memory, bool(accepted), query, query_id, profile, rank, from_micros(at))
        for memory, accepted, query, query_id, profile, rank, at in rows
    ]


def restore_feedback(session: Session, found: Iterable[Feedback]) -> None:
    """Note feedback on memories that are there, unless the same question has feedback on them."""
    for said in found:
        known = session.value(
            f"""
            select not exists (select 1 from memories where {session.dialect.of("memories")} and id = :memory)
                or exists (
                    select 1 from feedback
                    where {session.dialect.own("feedback")} and memory = :memory and query = :query
                )
            """,
            memory=said.memory_id,
            query=said.query,
        )
        if not known:
            judge(session, said)


def accepted(session: Session) -> tuple[int, int]:
    """Return how many judged hits were what was looked for, and how many were judged."""
    [(yes, judged)] = session.rows(
        f"select count(*) filter (where accepted), count(*) from feedback where {session.dialect.own('feedback')}"
    )
    return yes, judged


def clear_searches(session: Session) -> int:
    """Forget all searches and all feedback; return how many searches there were."""
    session.changed(f"delete from feedback where {session.dialect.own('feedback')}")
    return session.changed(f"delete from searches where {session.dialect.own('searches')}")


def drop_searches(session: Session, hits: Sequence[str]) -> int:
    """Forget the searches that found one of these, by the ids under which they were noted; return how many."""
    found = [noted.search.query_id for noted in searches(session) if not set(hits).isdisjoint(noted.hits)]
    for query_id in found:
        session.changed(f"delete from searches where {session.dialect.own('searches')} and query_id = :id", id=query_id)
    return len(found)


def note_access(session: Session, memory_id: str) -> bool:
    named = f"{session.dialect.of('memories')} and id = :id"
    return session.changed(f"update memories set accessed = accessed + 1 where {named}", id=memory_id) > 0


def clear_accesses(session: Session) -> None:
    session.changed(f"update memories set accessed = 0 where {session.dialect.of('memories')} and accessed > 0")


def is_any(session: Session) -> bool:
    """Return whether there are searches, feedback, or counted uses of memories; every row may be read."""
    own, used = session.dialect.own, f"{session.dialect.of('memories')} and accessed > 0"
    there = (("searches", own("searches")), ("feedback", own("feedback")), ("memories", used))
    found = " or ".join(f"exists (select 1 from {table} where {where})" for table, where in there)
    return bool(session.value(f"select {found}"))


def note_once(session: Session, what: str) -> bool:
    """Note that something was done in this store; return whether this is the first time."""
    return session.insert("done", [{"space": session.space, "what": what}], known="do nothing") > 0


# The vectors of the last thousand questions, of all models together, by a digest of their words.
#
# A repeated question moves to the front, but only from the older half: most searches that find their vector here write
# nothing.

_KEPT_QUERY_VECTORS = 1_000


def query_vector(session: Session, fingerprint: str, text: str) -> tuple[Vectors, bool] | None:
    """Return the stored vector of a question and whether it should move to the front, None where there is none."""
    if (key := _key(session)) is None:
        return None
    own = session.dialect.own("query_vectors")
    rows = session.rows(
        f"""
        select embedding, number <= (select max(number) from query_vectors where {own}) - :newer
        from query_vectors join models on models.id = query_vectors.model
        where {own} and models.fingerprint = :fingerprint and digest = :digest
            and length(embedding) = 4 * models.dimensions
        """,
        newer=_KEPT_QUERY_VECTORS // 2,
        fingerprint=fingerprint,
        digest=_digest(key, text),
    )
    return (np.frombuffer(rows[0][0], "<f4"), bool(rows[0][1])) if rows else None


def keep_query_vectors(session: Session, vectors: Iterable[QueryVector]) -> None:
    """Store the vectors of questions in front of all others, but for those whose model the store dropped."""
    own = session.dialect.own("query_vectors")
    for fingerprint, text, vector in vectors:
        model = session.value("select id from models where fingerprint = :fingerprint", fingerprint=fingerprint)
        if model is None:
            continue
        if (key := _key(session)) is None:
            key = os.urandom(32)
            session.insert("query_keys", [{"space": session.space, "key": key}])
        number = session.value(f"select coalesce(max(number), 0) + 1 from query_vectors where {own}")
        known = {"model": model, "digest": _digest(key, text)}
        session.changed(
            f"delete from query_vectors where {own} and (model = :model and digest = :digest or number <= :last)",
            **known,
            last=number - _KEPT_QUERY_VECTORS,
        )
        embedding = vector.astype("<f4").tobytes()
        session.insert("query_vectors", [{"space": session.space, "number": number, **known, "embedding": embedding}])


def clear_query_vectors(session: Session) -> int:
    """Forget every question, and the key with which the digests were made; return how many there were."""
    session.changed(f"update query_keys set key = :key where {session.dialect.own('query_keys')}", key=os.urandom(32))
    return session.changed(f"delete from query_vectors where {session.dialect.own('query_vectors')}")


def has_query_vectors(session: Session) -> bool:
    kept = f"select 1 from query_vectors where {session.dialect.own('query_vectors')}"
    return bool(session.value(f"select exists ({kept})"))


def _key(session: Session) -> bytes | None:
    key: bytes | None = session.value(f"select key from query_keys where {session.dialect.own('query_keys')}")
    return key


def _digest(key: bytes, text: str) -> bytes:
    return blake2b(encodable(text).encode(), digest_size=16, key=key).digest()
