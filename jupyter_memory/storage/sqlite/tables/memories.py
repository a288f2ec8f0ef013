"""Memories as rows: written, read back, changed and removed, within the caller's transaction."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import apsw

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.cell_matching import Predecessor, content_hash
from jupyter_memory.storage.sqlite import sql
from jupyter_memory.storage.sqlite.filters import SHOWN_TIER, condition
from jupyter_memory.storage.sqlite.sql import from_micros, to_micros
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Draft, Filters, Memory

# Few memories have tags, and to put none in order takes as long as all the rest.
_SELECT = f"""
    select
        memories.key, memories.id, texts.text, title, kind, {SHOWN_TIER} as shown_tier, pinned, space,
        source, location, lang,
        case when exists (select 1 from tags where tags.memory = memories.key)
            then (select json_group_array(tag order by tag) from tags where tags.memory = memories.key) else '[]'
        end as tags,
        severity, domain, event_at, indexed_at, valid_from, valid_until, session, content_hash, metadata, accessed
    from memories join texts on texts.memory = memories.key
"""
_COLUMNS = (
    "source", "kind", "space", "location", "content_hash", "id", "accessed", "tier", "pinned", "lang", "title",
    "severity", "domain", "session", "event_at", "indexed_at", "valid_from", "valid_until", "metadata",
)  # fmt: skip
_ID_BYTES = 8
# What `dumps` would make anew for each memory.
_JSON = json.JSONEncoder(ensure_ascii=False)
# Source, kind, space, location and content hash of a memory.
Identity = tuple[str, str, str, str, str]
# Browsing shows what people chose to keep before what was indexed; a search ranks the tiers otherwise. Cells of one
# time stand as in their file, which is written in one go.
_BROWSE_ORDER = (
    "case shown_tier when 'core' then 0 when 'note' then 1 when 'mcp' then 2 else 3 end, event_at desc, source, "
    "memories.key"
)


def identity(draft: Draft) -> Identity:
    """Return what no two memories share: source, kind, space, location and content hash."""
    return (draft.source, draft.kind, draft.space, draft.location, content_hash(draft))


def find_known(connection: apsw.Connection, identities: Sequence[Identity]) -> list[int | None]:
    """Return for each the key of the memory that already holds this content in the same place, if there is one."""
    known: dict[int, int] = {}
    for start in range(0, len(identities), sql.TOGETHER):
        end = min(start + sql.TOGETHER, len(identities))
        numbered = [(number, *identities[number]) for number in range(start, end)]
        found = connection.execute(
            f"""
            select column1, key from (values {sql.places(numbered)}) cross join memories
            where source = column2 and kind = column3 and space = column4 and location = column5
              and content_hash = column6
            """,
            list(chain.from_iterable(numbered)),
            can_cache=sql.is_usual(numbered),
        )
        known.update(found)
    return [known.get(number) for number in range(len(identities))]


def insert(
    connection: apsw.Connection,
    drafts: Sequence[tuple[Identity, Draft]],
    now: datetime,
    before: Sequence[Predecessor | None] | None = None,
) -> list[int]:
    """Write memories that are not there yet and return their keys.

    ``before`` are those whose ids they take over. Their chunks, their words and vectors are the caller's next
    steps, in the same transaction.
    """
    first = _last(connection, "memories") + 1
    earlier = before if before is not None else [None] * len(drafts)
    indexed = to_micros(now)
    written = [
        (key, *_values(identity_, draft, indexed, id_, one))
        for key, ((identity_, draft), id_, one) in enumerate(
            zip(drafts, _new_ids(len(drafts)), earlier, strict=True), start=first
        )
    ]
    sql.insert(connection, "memories", ("key", *_COLUMNS), written)
    keyed = list(enumerate((draft for _, draft in drafts), start=first))
    sql.insert(connection, "texts", ("memory", "text"), [(key, draft.text) for key, draft in keyed])
    insert_tags(connection, [(key, tag) for key, draft in keyed for tag in dict.fromkeys(draft.tags)])
    return [key for key, _ in keyed]


def insert_tags(connection: apsw.Connection, tags: Sequence[tuple[int, str]]) -> None:
    """Give memories more tags, in pairs of key and tag; their keyword rows are the caller's."""
    sql.insert(connection, "tags", ("memory", "tag"), tags)


def insert_chunks(connection: apsw.Connection, written: Sequence[tuple[int, Draft, Sequence[str]]]) -> list[int]:
    """Write the chunks of memories and index their words; return the ids of the chunks.

    Memories come with their keys and, where they are known, the words of each chunk's column ``ident``.
    """
    last = _last(connection, "chunks")
    chunks, words = [], []
    for key, draft, idents in written:
        tags = " ".join(sorted(set(draft.tags)))
        for chunk, ident in zip(draft.chunks, idents or chunk_idents(draft), strict=True):
            last += 1
            text = draft.text[chunk.start : chunk.end]
            # Taken out of the whole text again and again, the chunks of a book would cost the square of its length.
            part = text if text != draft.text else None
            chunks.append((last, key, chunk.start, chunk.end, chunk.line, part, chunk.context, ident))
            # The same words that the view chunk_texts will show when the row is taken out again.
            words.append((last, draft.title, chunk.context, text, tags, ident))
    columns = ("id", "memory", "start", "stop", "line", "text", "context", "ident")
    sql.insert(connection, "chunks", columns, chunks)
    indexed = ("rowid", "title", "context", "text", "tags", "ident")
    sql.insert(connection, "keyword", indexed, words, together=sql.OF_WORDS)
    return [row[0] for row in chunks]


def chunk_idents(draft: Draft) -> list[str]:
    """Return the words of the column ``ident`` for each chunk of a memory."""
    return [ident_column(f"{draft.title}\n{draft.text[chunk.start : chunk.end]}") for chunk in draft.chunks]


def chunks_of(connection: apsw.Connection, keys: Sequence[int]) -> list[int]:
    """Return the ids of the chunks of memories."""
    found = connection.execute(
        "select id from chunks where memory in (select value from json_each(?)) order by id", (json.dumps(list(keys)),)
    )
    return [row[0] for row in found]


def existing_chunks(connection: apsw.Connection, chunks: Sequence[int]) -> list[int]:
    """Return those of these chunks that are there."""
    found = connection.execute(
        "select id from chunks where id in (select value from json_each(?))", (json.dumps(list(chunks)),)
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
    insert_tags(connection, [(key, tag) for tag in dict.fromkeys(tags)])


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


def chunk_spans(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, tuple[int, int, int | None, str]]:
    """Return where each chunk begins and ends in its memory's text, its line, and its structural prefix."""
    found = connection.execute(
        "select id, start, stop, line, context from chunks where id in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {row[0]: row[1:] for row in found}


def first_contexts(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, str]:
    """Return the structural prefix of the first chunk of memories, by id."""
    found = connection.execute(
        "select memories.id, chunks.context, min(chunks.start) from memories"
        " join chunks on chunks.memory = memories.key"
        " where memories.id in (select value from json_each(?)) group by memories.key",
        (json.dumps(list(ids)),),
    )
    return {row[0]: row[1] for row in found}


def key_of(connection: apsw.Connection, memory_id: str) -> int | None:
    """Return the key of a memory by its id."""
    typed = encodable(str(memory_id))
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


def counts(connection: apsw.Connection, filters: Filters) -> dict[str, dict[str, int]]:
    """Return how many of the memories that a filter lets through have each value of kind, lang, tier and tag."""
    where, parameters = condition(filters)
    found: dict[str, dict[str, int]] = {"kind": {}, "lang": {}, "tier": {}}
    together = f"select kind, lang, {SHOWN_TIER}, count(*) from memories where {where} group by 1, 2, 3"
    for *values, count in connection.execute(together, parameters):
        for of_facet, value in zip(found.values(), values, strict=True):
            of_facet[value] = of_facet.get(value, 0) + count
    tags = f"select tag, count(*) from tags join memories on key = memory where {where} group by tag"
    return {**found, "tag": dict(connection.execute(tags, parameters))}


def _last(connection: apsw.Connection, table: str) -> int:
    """Return the highest key that a table ever gave out."""
    return int(connection.execute("select seq from sqlite_sequence where name = ?", (table,)).get or 0)


def _new_ids(count: int) -> list[str]:
    """Return ids of new memories, all of them with one call of the system."""
    written = secrets.token_hex(_ID_BYTES * count)
    return [written[begin : begin + 2 * _ID_BYTES] for begin in range(0, len(written), 2 * _ID_BYTES)]


def _values(identity_: Identity, draft: Draft, indexed: int, id_: str, before: Predecessor | None) -> tuple[Any, ...]:
    """Return what a new memory has in ``_COLUMNS``; ``indexed`` is in microseconds."""
    accessed = 0
    if before is not None:
        id_, accessed = before.id, before.accessed
    return (
        *identity_, id_, accessed, draft.tier, int(draft.pinned), draft.lang, draft.title, draft.severity,
        draft.domain, draft.session, indexed if draft.event_at is None else to_micros(draft.event_at), indexed,
        _micros(draft.valid_from),
        _micros(draft.valid_until), _JSON.encode(dict(draft.metadata)) if draft.metadata else "{}",
    )  # fmt: skip


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


def passages(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, tuple[str, str, str, str]]:
    """Return title, context, text and tags of chunks, as the keyword index has them, by chunk."""
    rows = connection.execute(
        "select id, title, context, text, tags from chunk_texts where id in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {row[0]: row[1:] for row in rows}


def texts(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, str]:
    """Return the whole texts of memories, by key."""
    rows = connection.execute(
        "select memory, text from texts where memory in (select value from json_each(?))", (json.dumps(list(keys)),)
    )
    return dict(rows)
