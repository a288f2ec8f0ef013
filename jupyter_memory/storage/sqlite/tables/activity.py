"""Searches, feedback, vectors of questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

import numpy as np

from jupyter_memory.storage.shared import from_micros, to_micros
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.writing import NotedSearch
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types.protocols import Vectors
from jupyter_memory.types.report import Feedback, Recent

KEPT_SEARCHES = 200
KEPT_FEEDBACK = 10_000


def note_search(connection: Session, search: Recent, hits: Sequence[str]) -> None:
    """Note a search with the ids of its hits in front of the others; the same question before it is forgotten.

    The calls of programs are a record: none replaces another, and however many there are, a person's searches stay.
    """
    query, by_program = encodable(search.query), bool(search.client)
    if not by_program:
        connection.execute(
            "delete from searches where query = ? and profile = ? and client = ''", (query, search.profile)
        )
    connection.execute(
        "insert into searches (query_id, query, profile, origin, at, hits, client, tool) values "
        "(?, ?, ?, ?, ?, ?, ?, ?)",
        (
            search.query_id, query, search.profile, search.origin, to_micros(search.at), json.dumps(list(hits)),
            search.client, search.tool,
        ),
    )  # fmt: skip
    of_these = "(client <> '') = :by_program"
    connection.execute(
        f"""
        delete from searches where {of_these} and number <= (
            select number from searches where {of_these} order by number desc limit 1 offset :kept
        )
        """,
        {"by_program": by_program, "kept": KEPT_SEARCHES},
    )


def recent(connection: Session, limit: int) -> list[Recent]:
    rows = connection.execute(
        """
        select query_id, query, profile, at, origin, json_array_length(hits), client, tool
        from searches order by number desc limit ?
        """,
        (limit,),
    )
    return [Recent(id_, query, profile, from_micros(at), *said) for id_, query, profile, at, *said in rows]


def every_search(connection: Session) -> Iterator[NotedSearch]:
    rows = connection.execute(
        "select query_id, query, profile, at, origin, hits, client, tool from searches order by number"
    )
    for id_, query, profile, at, origin, hits, client, tool in rows:
        ids = tuple(json.loads(hits))
        yield NotedSearch(Recent(id_, query, profile, from_micros(at), origin, len(ids), client, tool), ids)


def last_search(connection: Session, origin: str) -> tuple[Recent, tuple[str, ...]] | None:
    row = connection.execute(
        "select query_id, query, profile, at, hits from searches where origin = ? and client = '' "
        "order by number desc limit 1",
        (origin,),
    ).fetchone()
    if row is None:
        return None
    id_, query, profile, at, hits = row
    ids = tuple(json.loads(hits))
    return Recent(id_, query, profile, from_micros(at), origin, len(ids)), ids


def query_of(connection: Session, query_id: str) -> str:
    row = connection.execute("select query from searches where query_id = ?", (encodable(query_id),)).fetchone()
    return row[0] if row else ""


def judge(connection: Session, said: Feedback) -> None:
    connection.execute(
        """
        insert or replace into feedback (memory, query, query_id, profile, rank, accepted, at)
        values (?, ?, ?, ?, ?, ?, ?)
        """,
        (
            said.memory_id, encodable(said.query), encodable(said.query_id), encodable(said.profile), said.rank,
            int(said.accepted), to_micros(said.at),
        ),
    )  # fmt: skip
    connection.execute(
        "delete from feedback where at <= (select at from feedback order by at desc limit 1 offset ?)",
        (KEPT_FEEDBACK,),
    )


def judged(connection: Session) -> list[Feedback]:
    rows = connection.execute(
        "select memory, accepted, query, query_id, profile, rank, at from feedback order by at desc"
    )
    return [
        Feedback(memory, bool(accepted), query, query_id, profile, rank, from_micros(at))
        for memory, accepted, query, query_id, profile, rank, at in rows
    ]


def restore_feedback(connection: Session, found: Iterable[Feedback]) -> None:
    """Note feedback on memories that are there, unless the same question has feedback on them."""
    for said in found:
        known = connection.execute(
            "select not exists (select 1 from memories where id = :memory)"
            " or exists (select 1 from feedback where memory = :memory and query = :query)",
            {"memory": encodable(said.memory_id), "query": encodable(said.query)},
        ).get
        if not known:
            judge(connection, said)


def accepted(connection: Session) -> tuple[int, int]:
    rows = connection.execute("select accepted from feedback").fetchall()
    return sum(row[0] == 1 for row in rows), len(rows)


def clear_searches(connection: Session) -> int:
    count: int = connection.execute("select count(*) from searches").get
    connection.execute("delete from searches")
    connection.execute("delete from feedback")
    return count


def has_no_searches(connection: Session) -> bool:
    return not connection.execute("select exists (select 1 from searches) or exists (select 1 from feedback)").get


def forget_about(connection: Session, keys: Sequence[int]) -> bool:
    """Forget the searches that showed one of these memories, and the feedback on them; return whether any did."""
    ids = "select id from memories where key in (select value from json_each(:keys))"
    before = connection.total_changes()
    parameters = {"keys": json.dumps(list(keys))}
    connection.execute(
        f"delete from searches where exists (select 1 from json_each(hits) where value in ({ids}))", parameters
    )
    connection.execute(f"delete from feedback where memory in ({ids})", parameters)
    return connection.total_changes() > before


def note_access(connection: Session, memory_id: str) -> bool:
    connection.execute("update memories set accessed = accessed + 1 where id = ?", (encodable(memory_id),))
    return connection.changes() > 0


def clear_accesses(connection: Session) -> None:
    connection.execute("update memories set accessed = 0 where accessed > 0")


def is_unused(connection: Session) -> bool:
    """Return whether no use of any memory was counted; reads every row."""
    return not connection.execute("select exists (select 1 from memories where accessed > 0)").get


# The vectors of the last thousand questions, of all models together, by a digest of their words.
#
# A repeated question moves to the front, but only from the older half: most searches that find their vector here write
# nothing.

KEPT_QUERY_VECTORS = 1_000


def query_vector(connection: Session, fingerprint: str, text: str) -> tuple[Vectors, bool] | None:
    row = connection.execute(
        """
        select embedding, used <= (select max(used) from query_vectors) - ?
        from query_vectors join models on models.id = query_vectors.model
        where models.fingerprint = ? and digest = ? and length(embedding) = 4 * dimensions
        """,
        (KEPT_QUERY_VECTORS // 2, fingerprint, _digest(connection, text)),
    ).fetchone()
    return None if row is None else (np.frombuffer(row[0], np.float32), bool(row[1]))


def keep_query_vector(connection: Session, fingerprint: str, text: str, vector: Vectors) -> None:
    connection.execute(
        """
        insert or replace into query_vectors (model, digest, embedding)
        select id, ?, ? from models where fingerprint = ?
        """,
        (_digest(connection, text), vector.tobytes(), fingerprint),
    )
    connection.execute(
        "delete from query_vectors where used <= (select max(used) from query_vectors) - ?",
        (KEPT_QUERY_VECTORS,),
    )


def clear_query_vectors(connection: Session) -> int:
    """Forget every question, and the key with which the digests were made; return how many there were."""
    count: int = connection.execute("select count(*) from query_vectors").get
    connection.execute("delete from query_vectors")
    connection.execute("update query_key set key = randomblob(32)")
    return count


def has_no_query_vectors(connection: Session) -> bool:
    return not connection.execute("select exists (select 1 from query_vectors)").get


def _digest(connection: Session, text: str) -> bytes:
    key = connection.execute("select key from query_key").get
    return blake2b(encodable(text).encode(), digest_size=16, key=key).digest()
