"""Memories, their texts, tags and chunks, what they define, and lists of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from jupyter_memory.errors import StoreReadOnly, UnknownMemory
from jupyter_memory.runtime import batches
from jupyter_memory.storage.cell_matching import Predecessor
from jupyter_memory.storage.postgres import postings, sql
from jupyter_memory.storage.postgres.database import Session, UnreadableRow, of
from jupyter_memory.storage.shared import Identity, from_micros, new_ids, to_micros
from jupyter_memory.storage.sql import POSTGRES, SHOWN_TIER, condition
from jupyter_memory.text.code import PYTHON, Definitions
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.chunk_tokens import MARK, ChunkTokens

SELECT = f"""
    select
        memories.key, memories.id, texts.text, title, kind, {SHOWN_TIER} as shown_tier, pinned, memories.space,
        source, location, lang,
        array(
            select tag from tags where tags.space = memories.space and tags.memory = memories.key order by tag
        ) as tags,
        severity, domain, event_at, indexed_at, valid_from, valid_until, session, content_hash, metadata, accessed,
        (
            select count(*) from thumbnails
            where thumbnails.space = memories.space and thumbnails.memory = memories.key
        ) as thumbnails
    from memories join texts on texts.space = memories.space and texts.memory = memories.key
"""
# Of a row of ``SELECT``, after its key, by the names that a memory has for them.
_COLUMNS = (
    "id", "text", "title", "kind", "tier", "pinned", "space", "source", "location", "lang", "tags", "severity",
    "domain", "event_at", "indexed_at", "valid_from", "valid_until", "session", "content_hash", "metadata", "accessed",
    "thumbnails",
)  # fmt: skip


def digest(identity: Identity) -> bytes:
    """Return what a memory is known by within its space: a path may be too long for an index."""
    source, kind, _, location, content = identity
    return blake2b("\0".join((source, kind, location, content)).encode(), digest_size=16).digest()


def find_known(session: Session, identities: Sequence[Identity]) -> list[int | None]:
    """Return for each the key of the memory that already holds this content in the same place, if there is one."""
    rows = session.rows(
        """
        select wanted.number, memories.key
        from unnest(:spaces_of::text[], :digests::bytea[]) with ordinality as wanted (space, identity, number)
        join memories on memories.space = wanted.space and memories.identity = wanted.identity
        """,
        spaces_of=[one[2] for one in identities],
        digests=[digest(one) for one in identities],
    )
    known = dict(rows)
    return [known.get(number + 1) for number in range(len(identities))]


def insert(
    session: Session,
    drafts: Sequence[tuple[Identity, Draft]],
    now: datetime,
    before: Sequence[Predecessor | None] | None = None,
) -> list[int]:
    """Write memories that are not there yet, with the ids of those ``before`` them, and return their keys."""
    if not drafts:
        return []
    keys = sql.next_numbers(session, "memory_keys", len(drafts))
    earlier = before if before is not None else [None] * len(drafts)
    indexed = to_micros(now)
    for space in {draft.space for _, draft in drafts}:
        session.include(space)
    written = [
        {"key": key, **_values(identity_, draft, indexed, id_, one)}
        for key, (identity_, draft), id_, one in zip(keys, drafts, new_ids(len(drafts)), earlier, strict=True)
    ]
    # In one order, so that two writers of the same memories wait for each other rather than in a circle.
    sql.insert(session, "memories", sorted(written, key=lambda row: (row["space"], row["identity"])))
    keyed = [(key, draft) for key, (_, draft) in zip(keys, drafts, strict=True)]
    texts_ = [{"space": draft.space, "memory": key, "text": draft.text} for key, draft in keyed]
    sql.insert(session, "texts", texts_)
    insert_tags(session, [(key, draft.space, draft.tags) for key, draft in keyed])
    return keys


def insert_tags(session: Session, tagged: Iterable[tuple[int, str, Sequence[str]]]) -> None:
    rows = [
        {"space": space, "memory": key, "place": place, "tag": tag}
        for key, space, given in tagged
        for place, tag in enumerate(dict.fromkeys(given))
    ]
    sql.insert(session, "tags", rows)


def delete(session: Session, keys: Sequence[int]) -> int:
    return session.changed(f"delete from memories where {of('memories')} and key = any(:keys)", keys=list(keys))


def lock(session: Session, keys: Sequence[int]) -> list[int]:
    """Keep others from changing memories until the transaction ends; return those that are there, in order."""
    those = f"from memories where {of('memories')} and key = any(:keys)"
    locked = [row[0] for row in session.rows(f"select key {those} order by key for update", keys=list(keys))]
    refused = set(keys) - set(locked)
    if refused and session.value(f"select exists (select {those})", keys=list(refused)):
        raise StoreReadOnly(
            "Your role may only read some of these memories, so nothing was changed. Name a space into which it may "
            "write, or ask the owner of the store for the right of a writer."
        )
    return locked


def set_tags(session: Session, key: int, given: Iterable[str]) -> None:
    session.execute(f"delete from tags where {of('tags')} and memory = :key", key=key)
    insert_tags(session, [(key, space_of(session, key), list(given))])


def space_of(session: Session, key: int) -> str:
    return str(session.value(f"select space from memories where {of('memories')} and key = :key", key=key))


def update_columns(session: Session, key: int, values: Mapping[str, Any]) -> None:
    if not values:
        return
    assignments = ", ".join(f"{name} = :{name}" for name in values)
    session.execute(f"update memories set {assignments} where {of('memories')} and key = :key", **values, key=key)
    if {"source", "kind", "location", "content_hash"} & set(values):
        identify(session, [key])


def identify(session: Session, keys: Sequence[int]) -> None:
    """Write anew what memories are known by, after what they are made of changed."""
    rows = session.rows(
        "select space, key, source, kind, location, content_hash from memories "
        f"where {of('memories')} and key = any(:keys)",
        keys=list(keys),
    )
    found = [
        (key, digest((source, kind, space, location, content))) for space, key, source, kind, location, content in rows
    ]
    session.execute(
        f"""
        update memories set identity = changed.identity
        from unnest(:keys::bigint[], :identities::bytea[]) as changed (key, identity)
        where {of("memories")} and memories.key = changed.key
        """,
        keys=[key for key, _ in found],
        identities=[identity for _, identity in found],
    )


def load(session: Session, keys: Sequence[int]) -> dict[int, Memory]:
    """Return the memories with these keys, all of which must be there."""
    rows = session.rows(f"{SELECT} where {of('memories')} and memories.key = any(:keys)", keys=list(keys))
    memories = {row[0]: memory_of(row) for row in rows}
    if len(memories) < len(set(keys)):
        raise UnreadableRow
    return {key: memories[key] for key in sorted(memories)}


def known_key(session: Session, memory_id: str) -> int:
    key = session.value(f"select key from memories where {of('memories')} and id = :id", id=storable(str(memory_id)))
    if key is None:
        raise UnknownMemory(memory_id)
    return int(key)


def keys_where(session: Session, filters: Filters, among: Sequence[str] | None = None) -> list[int]:
    where, parameters = condition(POSTGRES, filters)
    if among is not None:
        where += " and memories.id = any(:among)"
        parameters["among"] = [storable(one) for one in among]
    return [row[0] for row in session.rows(f"select key from memories where {where} order by key", **parameters)]


def texts(session: Session, keys: Sequence[int]) -> dict[int, str]:
    return dict(
        session.rows(
            f"select memory, text from texts where {of('texts')} and memory = any(:keys) order by memory",
            keys=list(keys),
        )
    )


def _values(identity_: Identity, draft: Draft, indexed: int, id_: str, before: Predecessor | None) -> dict[str, Any]:
    accessed = 0
    if before is not None:
        id_, accessed = before.id or id_, before.accessed
    source, kind, space, location, content = identity_
    return {
        "space": space,
        "id": id_,
        "identity": "\\x" + digest(identity_).hex(),
        "source": source,
        "kind": kind,
        "location": location,
        "content_hash": content,
        "accessed": accessed,
        "tier": draft.tier,
        "pinned": draft.pinned,
        "lang": draft.lang,
        "title": draft.title,
        "severity": draft.severity,
        "domain": draft.domain,
        "session": draft.session,
        "event_at": indexed if draft.event_at is None else to_micros(draft.event_at),
        "indexed_at": indexed,
        "valid_from": micros(draft.valid_from),
        "valid_until": micros(draft.valid_until),
        "metadata": json.dumps(dict(draft.metadata), ensure_ascii=False),
    }


def memory_of(row: Sequence[Any]) -> Memory:
    found = dict(zip(_COLUMNS, row[1:], strict=True))
    for name in ("event_at", "indexed_at", "valid_from", "valid_until"):
        found[name] = None if found[name] is None else from_micros(found[name])
    return Memory(**{**found, "tags": tuple(found["tags"]), "metadata": json.loads(found["metadata"])})


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


# The chunks of memories as rows, with their places, words and tokens, within the caller's transaction.

_ALL = Filters()


def insert_chunks(session: Session, written: Sequence[tuple[int, Draft, Sequence[str]]]) -> list[int]:
    """Write the chunks of memories and index their words; return the ids of the chunks."""
    ids = iter(sql.next_numbers(session, "chunk_ids", sum(len(draft.chunks) for _, draft, _ in written)))
    rows: list[dict[str, object]] = []
    words: list[postings.Words] = []
    for key, draft, idents in written:
        tags = " ".join(sorted(set(draft.tags)))
        for chunk, ident in zip(draft.chunks, idents or idents_of(draft), strict=True):
            text = draft.text[chunk.start : chunk.end]
            indexed = postings.Words(draft.space, next(ids), (draft.title, chunk.context, text, tags, ident))
            rows.append(
                {
                    "space": draft.space,
                    "id": indexed.chunk,
                    "memory": key,
                    "start": chunk.start,
                    "stop": chunk.end,
                    "line": chunk.line,
                    # Taken out of the whole text again and again, the chunks of a book cost the square of its length.
                    "text": text if text != draft.text else None,
                    "context": chunk.context,
                    "ident": ident,
                }
            )
            words.append(indexed)
    sql.insert(session, "chunks", rows)
    postings.put_in(session, words)
    return [one.chunk for one in words]


def idents_of(draft: Draft) -> list[str]:
    return [ident_column(f"{draft.title}\n{draft.text[chunk.start : chunk.end]}") for chunk in draft.chunks]


def chunks_of(session: Session, keys: Sequence[int]) -> list[int]:
    rows = session.rows(
        f"select id from chunks where {of('chunks')} and memory = any(:keys) order by id", keys=list(keys)
    )
    return [row[0] for row in rows]


def sample_chunks(session: Session, count: int, total: int, within: Filters = _ALL) -> list[int]:
    """Return the ids of up to ``count`` of the ``total`` chunks of what matches filters, evenly from first to last."""
    places = np.unique(np.linspace(1, total, min(count, total)).astype(np.int64)) if total else np.empty(0, np.int64)
    joined = "join memories on memories.space = chunks.space and memories.key = chunks.memory" if within else ""
    where, parameters = condition(POSTGRES, within) if within else (of("chunks"), {})
    rows = session.rows(
        f"""
        with placed as (
            select chunks.id, row_number() over (order by chunks.id) as place from chunks {joined} where {where}
        )
        select id from placed where place = any(:places) order by id
        """,
        **parameters,
        places=places.tolist(),
    )
    return [row[0] for row in rows]


def keep_tokens(session: Session, tokens: Mapping[int, ChunkTokens]) -> int:
    """Store the tokens of those of these chunks that are there; return how many that are."""
    written = 0
    for some in batches(tokens, sql.TOGETHER):
        written += session.changed(
            f"""
            insert into chunk_tokens (space, chunk, ids)
            select chunks.space, chunks.id, kept.ids
            from unnest(:chunks::bigint[], :ids::bytea[]) as kept (chunk, ids)
            join chunks on chunks.id = kept.chunk where {of("chunks")}
            on conflict (space, chunk) do update set ids = excluded.ids
            """,
            chunks=some,
            ids=[tokens[chunk].to_bytes() for chunk in some],
        )
    return written


def tokens_of(session: Session, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
    rows = session.rows(
        f"""
        select chunk, ids from chunk_tokens
        where {of("chunk_tokens")} and chunk = any(:chunks) and substr(ids, 1, 2) = :mark
        order by chunk
        """,
        chunks=list(chunks),
        mark=MARK,
    )
    return {chunk: ChunkTokens.from_bytes(data) for chunk, data in rows}


# The names that memories in Python define as rows, within the caller's transaction.

LACKING = f"""
    {of("memories")} and lower(memories.lang) = lower(:python) and not exists (
        select 1 from definitions where definitions.space = memories.space and definitions.memory = memories.key
    )
"""


def insert_definitions(session: Session, found: Mapping[int, Definitions]) -> int:
    """Write what memories define, for those that are there, are in Python and have no definitions; return how many."""
    if not found:
        return 0
    names = list(found.values())
    return session.changed(
        f"""
        insert into definitions (space, memory, defined, assigned, nested)
        select memories.space, memories.key, held.defined, held.assigned, held.nested
        from unnest(:keys::bigint[], :defined::text[], :assigned::text[], :nested::text[])
            as held (key, defined, assigned, nested)
        join memories on memories.key = held.key
        where {LACKING}
        """,
        python=PYTHON,
        keys=list(found),
        defined=[one.defined for one in names],
        assigned=[one.assigned for one in names],
        nested=[one.nested for one in names],
    )


def definitions_of(session: Session, keys: Sequence[int]) -> dict[int, Definitions]:
    rows = session.rows(
        "select memory, defined, assigned, nested from definitions "
        f"where {of('definitions')} and memory = any(:keys) order by memory",
        keys=list(keys),
    )
    return {row[0]: Definitions(*row[1:]) for row in rows}


def drop_definitions(session: Session, keys: Sequence[int]) -> None:
    session.execute(f"delete from definitions where {of('definitions')} and memory = any(:keys)", keys=list(keys))


def facet_counts(session: Session, filters: Filters) -> dict[str, dict[str, int]]:
    where, parameters = condition(POSTGRES, filters)
    found: dict[str, dict[str, int]] = {"kind": {}, "lang": {}, "tier": {}}
    together = (
        f"select kind, lang, {SHOWN_TIER}, count(*) from memories where {where} group by 1, 2, 3 order by 1, 2, 3"
    )
    for *values, number in session.rows(together, **parameters):
        for of_facet, value in zip(found.values(), values, strict=True):
            of_facet[value] = of_facet.get(value, 0) + number
    tagged = f"""
        select tag, count(*) from tags join memories on memories.space = tags.space and memories.key = tags.memory
        where {where} group by tag order by tag
    """
    return {**found, "tag": dict(session.rows(tagged, **parameters))}
