"""Memories as rows: written, read, changed and removed, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from jupyter_memory.errors import StoreReadOnly, UnknownMemory
from jupyter_memory.storage.cell_matching import Predecessor
from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.connection.errors import UnreadableRow
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import SHOWN_TIER, condition
from jupyter_memory.storage.shared.rows import Identity, from_micros, new_ids, to_micros
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Draft, Filters, Memory

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


def digest(identity: Identity) -> bytes:
    """Return what a memory is known by within its space: a path may be too long for an index."""
    source, kind, _, location, content = identity
    return blake2b("\0".join((source, kind, location, content)).encode(), digest_size=16).digest()


def find_known(session: Session, identities: Sequence[Identity]) -> list[int | None]:
    """Return for each the key of the memory that already holds this content in the same place, if there is one."""
    rows = session.rows(
        """
        select wanted.number, memories.key
        from unnest(%(spaces_of)s::text[], %(digests)s::bytea[]) with ordinality as wanted (space, identity, number)
        join memories on memories.space = wanted.space and memories.identity = wanted.identity
        """,
        {"spaces_of": [one[2] for one in identities], "digests": [digest(one) for one in identities]},
    )
    known = dict(rows)
    return [known.get(number + 1) for number in range(len(identities))]


def insert(
    session: Session,
    drafts: Sequence[tuple[Identity, Draft]],
    now: datetime,
    before: Sequence[Predecessor | None] | None = None,
) -> list[int]:
    """Write memories that are not there yet and return their keys.

    ``before`` are those whose ids they take over. The caller then writes their chunks, words and vectors in the same
    transaction.
    """
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
    """Give memories tags, as key, space and tags; the caller updates the keyword rows."""
    rows = [
        {"space": space, "memory": key, "place": place, "tag": tag}
        for key, space, given in tagged
        for place, tag in enumerate(dict.fromkeys(given))
    ]
    sql.insert(session, "tags", rows)


def delete(session: Session, keys: Sequence[int]) -> int:
    """Remove memories and all that depends on them, and return how many were there.

    The caller takes their words out of the index first.
    """
    return session.changed(f"delete from memories where {of('memories')} and key = any(%(keys)s)", {"keys": list(keys)})


def lock(session: Session, keys: Sequence[int]) -> list[int]:
    """Keep others from changing memories until the transaction ends; return those that are there, in order.

    Raises:
        StoreReadOnly: the role may read some of them, but not change them: the server passes over these in silence.
    """
    those = f"from memories where {of('memories')} and key = any(%(keys)s)"
    locked = [row[0] for row in session.rows(f"select key {those} order by key for update", {"keys": list(keys)})]
    refused = set(keys) - set(locked)
    if refused and session.value(f"select exists (select {those})", {"keys": list(refused)}):
        raise StoreReadOnly(
            "Your role may only read some of these memories, so nothing was changed. Name a space into which it may "
            "write, or ask the owner of the store for the right of a writer."
        )
    return locked


def set_text(session: Session, key: int, text: str) -> None:
    """Give a memory another text; the caller updates its chunks."""
    session.execute(
        f"update texts set text = %(text)s where {of('texts')} and memory = %(key)s", {"key": key, "text": text}
    )


def set_tags(session: Session, key: int, given: Iterable[str]) -> None:
    """Give a memory these tags and no others; the caller updates the keyword rows."""
    session.execute(f"delete from tags where {of('tags')} and memory = %(key)s", {"key": key})
    insert_tags(session, [(key, space_of(session, key), list(given))])


def space_of(session: Session, key: int) -> str:
    """Return the space of a memory."""
    return str(session.value(f"select space from memories where {of('memories')} and key = %(key)s", {"key": key}))


def update_columns(session: Session, key: int, values: Mapping[str, Any]) -> None:
    """Set columns of a memory; names are ours, never a user's."""
    if not values:
        return
    assignments = ", ".join(f"{name} = %({name})s" for name in values)
    session.execute(
        f"update memories set {assignments} where {of('memories')} and key = %(key)s", {**values, "key": key}
    )
    if {"source", "kind", "location", "content_hash"} & set(values):
        identify(session, [key])


def identify(session: Session, keys: Sequence[int]) -> None:
    """Write anew what memories are known by, after what they are made of changed."""
    rows = session.rows(
        "select space, key, source, kind, location, content_hash from memories "
        f"where {of('memories')} and key = any(%(keys)s)",
        {"keys": list(keys)},
    )
    found = [
        (key, digest((source, kind, space, location, content))) for space, key, source, kind, location, content in rows
    ]
    session.execute(
        f"""
        update memories set identity = changed.identity
        from unnest(%(keys)s::bigint[], %(identities)s::bytea[]) as changed (key, identity)
        where {of("memories")} and memories.key = changed.key
        """,
        {"keys": [key for key, _ in found], "identities": [identity for _, identity in found]},
    )


def load(session: Session, keys: Sequence[int]) -> dict[int, Memory]:
    """Return the memories with these keys, all of which must be there."""
    rows = session.rows(f"{SELECT} where {of('memories')} and memories.key = any(%(keys)s)", {"keys": list(keys)})
    memories = {row[0]: memory_of(row) for row in rows}
    if len(memories) < len(set(keys)):
        raise UnreadableRow
    return {key: memories[key] for key in sorted(memories)}


def key_of(session: Session, memory_id: str) -> int | None:
    """Return the key of a memory by its id."""
    found = session.value(
        f"select key from memories where {of('memories')} and id = %(id)s", {"id": storable(str(memory_id))}
    )
    return None if found is None else int(found)


def known_key(session: Session, memory_id: str) -> int:
    """Return the key of a memory by its id.

    Raises:
        UnknownMemory: no memory has this id.
    """
    key = key_of(session, memory_id)
    if key is None:
        raise UnknownMemory(memory_id)
    return key


def keys_where(session: Session, filters: Filters, among: Sequence[str] | None = None) -> list[int]:
    """Return the keys of the memories that a filter lets through, of those with the ids ``among`` if given."""
    where, parameters = condition(filters)
    if among is not None:
        where += " and memories.id = any(%(among)s)"
        parameters["among"] = [storable(one) for one in among]
    return [row[0] for row in session.rows(f"select key from memories where {where} order by key", parameters)]


def texts(session: Session, keys: Sequence[int]) -> dict[int, str]:
    """Return the whole texts of memories, by key."""
    return dict(
        session.rows(
            f"select memory, text from texts where {of('texts')} and memory = any(%(keys)s) order by memory",
            {"keys": list(keys)},
        )
    )


def _values(identity_: Identity, draft: Draft, indexed: int, id_: str, before: Predecessor | None) -> dict[str, Any]:
    """Return the columns of a new memory; ``indexed`` is in microseconds."""
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
    """Return a row of ``SELECT`` as a memory."""
    (_, id_, text, title, kind, tier, pinned, space, source, location, lang, tags_, severity, domain, event_at,
     indexed_at, valid_from, valid_until, session, hash_, metadata, accessed, thumbnails) = row  # fmt: skip
    return Memory(
        id=id_,
        text=text,
        title=title,
        kind=kind,
        tier=tier,
        pinned=pinned,
        space=space,
        source=source,
        location=location,
        lang=lang,
        tags=tuple(tags_),
        severity=severity,
        domain=domain,
        event_at=from_micros(event_at),
        indexed_at=from_micros(indexed_at),
        valid_from=None if valid_from is None else from_micros(valid_from),
        valid_until=None if valid_until is None else from_micros(valid_until),
        session=session,
        content_hash=hash_,
        metadata=json.loads(metadata),
        accessed=accessed,
        thumbnails=thumbnails,
    )


def micros(moment: datetime | None) -> int | None:
    """Return a time as a whole number, None where there is none."""
    return None if moment is None else to_micros(moment)
