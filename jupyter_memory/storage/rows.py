"""Memories as rows: written, read back, changed and removed, within the caller's transaction."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

import apsw

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.filters import SHOWN_TIER, condition, from_micros, to_micros
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.words import ident_column

_SELECT = f"""
    select
        memories.key, memories.id, texts.text, title, kind, {SHOWN_TIER} as shown_tier, pinned, space,
        source, location, lang,
        (select json_group_array(tag order by tag) from tags where tags.memory = memories.key) as tags,
        severity, domain, event_at, indexed_at, valid_from, valid_until, session, content_hash, metadata, accessed
    from memories join texts on texts.memory = memories.key
"""
_COLUMNS = (
    "source", "kind", "space", "location", "content_hash", "id", "accessed", "tier", "pinned", "lang", "title",
    "severity", "domain", "session", "event_at", "indexed_at", "valid_from", "valid_until", "metadata",
)  # fmt: skip
_INSERT = f"""
    insert into memories ({", ".join(_COLUMNS)}) values ({", ".join("?" * len(_COLUMNS))})
    on conflict (source, kind, space, location, content_hash) do nothing
    returning key
"""
# Browsing shows what people chose to keep before what was indexed; a search ranks the tiers otherwise.
_BROWSE_ORDER = (
    "case shown_tier when 'core' then 0 when 'note' then 1 when 'mcp' then 2 else 3 end, event_at desc, content_hash"
)


def content_hash(draft: Draft) -> str:
    """Return the fingerprint of what a memory says: its title and its text."""
    return blake2b(f"{draft.title}\0{draft.text}".encode(), digest_size=16).hexdigest()


def find_known(connection: apsw.Connection, draft: Draft) -> int | None:
    """Return the key of the memory that already holds this content in the same place, if there is one."""
    row = connection.execute(
        """
        select key from memories
        where source = :source and kind = :kind and space = :space and location = :location
          and content_hash = :content_hash
        """,
        _identity(draft),
    ).fetchone()
    return row[0] if row else None


@dataclass(frozen=True, slots=True)
class Carried:
    """What a memory keeps when its content is replaced: its id, what its user gave it, how often it was read."""

    id: str
    pinned: bool
    tags: tuple[str, ...]
    accessed: int


def insert(connection: apsw.Connection, draft: Draft, now: datetime, carried: Carried | None = None) -> int | None:
    """Write a memory and return its key, None where this content is in the same place already.

    ``carried`` gives it the id of the one before it. Its chunks, their words and vectors are the caller's next steps,
    in the same transaction.
    """
    id_, accessed = secrets.token_hex(8), 0
    if carried is not None:
        id_, accessed = carried.id, carried.accessed
    row = connection.execute(_INSERT, _values(draft, now, id_, accessed)).fetchone()
    if row is None:
        return None
    key: int = row[0]
    connection.execute("insert into texts (memory, text) values (?, ?)", (key, draft.text))
    if draft.tags:
        set_tags(connection, key, draft.tags)
    return key


def carrying_on(draft: Draft, carried: Carried) -> Draft:
    """Return a draft with the pin and the tags that its user gave its memory before."""
    tags = tuple(dict.fromkeys((*draft.tags, *carried.tags)))
    return replace(draft, pinned=draft.pinned or carried.pinned, tags=tags)


def insert_chunks(connection: apsw.Connection, written: Sequence[tuple[int, Draft]]) -> list[int]:
    """Write the chunks of memories, given with their keys, and index their words; return the ids of the chunks."""
    last = connection.execute("select seq from sqlite_sequence where name = 'chunks'").get or 0
    chunks, words = [], []
    for key, draft in written:
        tags = " ".join(sorted(set(draft.tags)))
        for chunk in draft.chunks:
            last += 1
            text = draft.text[chunk.start : chunk.end]
            # Taken out of the whole text again and again, the chunks of a book would cost the square of its length.
            part = text if text != draft.text else None
            ident = ident_column(f"{draft.title}\n{text}")
            chunks.append((last, key, chunk.start, chunk.end, chunk.line, part, chunk.context, ident))
            # The same words that the view chunk_texts will show when the row is taken out again.
            words.append((last, draft.title, chunk.context, text, tags, ident))
    connection.executemany(
        "insert into chunks (id, memory, start, stop, line, text, context, ident) values (?, ?, ?, ?, ?, ?, ?, ?)",
        chunks,
    )
    connection.executemany(
        "insert into keyword (rowid, title, context, text, tags, ident) values (?, ?, ?, ?, ?, ?)", words
    )
    return [row[0] for row in chunks]


def chunks_of(connection: apsw.Connection, keys: Sequence[int]) -> list[int]:
    """Return the ids of the chunks of memories."""
    found = connection.execute(
        "select id from chunks where memory in (select value from json_each(?)) order by id", (json.dumps(list(keys)),)
    )
    return [row[0] for row in found]


def delete_chunks(connection: apsw.Connection, key: int) -> None:
    """Remove the chunks of a memory; the keyword index and the vectors are the caller's."""
    connection.execute("delete from chunks where memory = ?", (key,))


def delete(connection: apsw.Connection, keys: Sequence[int]) -> None:
    """Remove memories and all that hangs on them but keyword rows and vectors, which are the caller's."""
    connection.execute("delete from memories where key in (select value from json_each(?))", (json.dumps(list(keys)),))


def set_tags(connection: apsw.Connection, key: int, tags: Iterable[str]) -> None:
    """Give a memory these tags and no others; its keyword rows are the caller's."""
    connection.execute("delete from tags where memory = ?", (key,))
    connection.executemany("insert into tags (memory, tag) values (?, ?)", ((key, tag) for tag in dict.fromkeys(tags)))


def update_columns(connection: apsw.Connection, key: int, values: Mapping[str, Any]) -> None:
    """Set columns of a memory; names are ours, never a user's."""
    if values:
        assignments = ", ".join(f"{name} = :{name}" for name in values)
        connection.execute(f"update memories set {assignments} where key = :key", {**values, "key": key})


def load(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, Memory]:
    """Return the memories with these keys, all of which must be there."""
    rows = connection.execute(
        f"{_SELECT} where memories.key in (select value from json_each(?))", (json.dumps(list(keys)),)
    )
    memories = {row[0]: _memory(row) for row in rows}
    if len(memories) < len(set(keys)):
        raise apsw.CorruptError("a memory has lost its text")
    return memories


def chunk_spans(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, tuple[int, int, int | None]]:
    """Return where each chunk begins and ends in its memory's text, and its line."""
    found = connection.execute(
        "select id, start, stop, line from chunks where id in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {row[0]: row[1:] for row in found}


def context_of(connection: apsw.Connection, key: int) -> str:
    """Return the structural prefix of a memory's first chunk."""
    row = connection.execute("select context from chunks where memory = ? order by start limit 1", (key,)).fetchone()
    return row[0] if row else ""


def key_of(connection: apsw.Connection, memory_id: str) -> int | None:
    """Return the key of a memory by its id."""
    # An id is what somebody typed, and SQLite takes only what is UTF-8.
    typed = str(memory_id).encode("utf-8", "replace").decode()
    row = connection.execute("select key from memories where id = ?", (typed,)).fetchone()
    return row[0] if row else None


def known_key(connection: apsw.Connection, memory_id: str) -> int:
    """Return the key of a memory by its id.

    Raises:
        UnknownMemory: no memory has this id.
    """
    key = key_of(connection, memory_id)
    if key is None:
        raise UnknownMemory(memory_id)
    return key


def keys_where(connection: apsw.Connection, filters: Filters) -> list[int]:
    """Return the keys of the memories that a filter lets through."""
    where, parameters = condition(filters)
    return [row[0] for row in connection.execute(f"select key from memories where {where}", parameters)]


def browse(connection: apsw.Connection, filters: Filters, limit: int) -> list[Memory]:
    """Return memories without a query: core, note, mcp, file; the newest first within each."""
    where, parameters = condition(filters)
    rows = connection.execute(
        f"{_SELECT} where {where} order by {_BROWSE_ORDER} limit :limit", {**parameters, "limit": limit}
    )
    return [_memory(row) for row in rows]


def _values(draft: Draft, now: datetime, id_: str, accessed: int) -> tuple[Any, ...]:
    """Return what a new memory has in ``_COLUMNS``."""
    return (
        draft.source, draft.kind, draft.space, draft.location, content_hash(draft), id_, accessed, draft.tier,
        int(draft.pinned), draft.lang, draft.title, draft.severity, draft.domain, draft.session,
        to_micros(draft.event_at or now), to_micros(now), _micros(draft.valid_from), _micros(draft.valid_until),
        json.dumps(dict(draft.metadata), ensure_ascii=False) if draft.metadata else "{}",
    )  # fmt: skip


def _identity(draft: Draft) -> dict[str, str]:
    return {
        "source": draft.source,
        "kind": draft.kind,
        "space": draft.space,
        "location": draft.location,
        "content_hash": content_hash(draft),
    }


def _memory(row: Sequence[Any]) -> Memory:
    (_, id_, text, title, kind, tier, pinned, space, source, location, lang, tags, severity, domain, event_at,
     indexed_at, valid_from, valid_until, session, hash_, metadata, accessed) = row  # fmt: skip
    return Memory(
        id=id_,
        text=text,
        title=title,
        kind=kind,
        tier=tier,
        pinned=bool(pinned),
        space=space,
        source=source,
        location=location,
        lang=lang,
        tags=tuple(json.loads(tags)) if tags != "[]" else (),
        severity=severity,
        domain=domain,
        event_at=from_micros(event_at),
        indexed_at=from_micros(indexed_at),
        valid_from=None if valid_from is None else from_micros(valid_from),
        valid_until=None if valid_until is None else from_micros(valid_until),
        session=session,
        content_hash=hash_,
        metadata=json.loads(metadata) if metadata != "{}" else {},
        accessed=accessed,
    )


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
