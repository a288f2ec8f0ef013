"""Memories, their texts, tags and chunks, what they define."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import apsw
import numpy as np

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import ChunkVectors, EmbeddedParts, Model
from jupyter_memory.storage.cell_matching import Predecessor
from jupyter_memory.storage.shared import Identity, from_micros, new_ids, to_micros
from jupyter_memory.storage.sql import SHOWN_TIER, SQLITE, condition
from jupyter_memory.storage.sqlite import sql
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.text.code import PYTHON, Definitions
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Chunk, Draft, Filters, Memory, Selection
from jupyter_memory.types.chunk_tokens import MARK, ChunkTokens

# Few memories have tags, and sorting no tags would take as long as all the rest.
_SELECT = f"""
    select
        memories.key, memories.id, texts.text, title, kind, {SHOWN_TIER} as shown_tier, pinned, space,
        source, location, lang,
        case when exists (select 1 from tags where tags.memory = memories.key)
            then (select json_group_array(tag order by tag) from tags where tags.memory = memories.key) else '[]'
        end as tags,
        severity, domain, event_at, indexed_at, valid_from, valid_until, session, content_hash, metadata, accessed,
        (select count(*) from thumbnails where thumbnails.memory = memories.key) as thumbnails
    from memories join texts on texts.memory = memories.key
"""
_COLUMNS = (
    "source", "kind", "space", "location", "content_hash", "id", "accessed", "tier", "pinned", "lang", "title",
    "severity", "domain", "session", "event_at", "indexed_at", "valid_from", "valid_until", "metadata",
)  # fmt: skip
# What `dumps` would make anew for each memory.
_JSON = json.JSONEncoder(ensure_ascii=False)
# Browsing shows what people chose to keep before what was indexed; a search ranks the tiers differently. Cells of one
# time come in the order of their file, whose cells are written together.
_BROWSE_ORDER = (
    "case shown_tier when 'core' then 0 when 'note' then 1 when 'mcp' then 2 else 3 + (kind = 'history') end, "
    "event_at desc, source, memories.key"
)


def find_known(connection: Session, identities: Sequence[Identity]) -> list[int | None]:
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
    connection: Session,
    drafts: Sequence[tuple[Identity, Draft]],
    now: datetime,
    before: Sequence[Predecessor | None] | None = None,
) -> list[int]:
    """Write memories that are not there yet, some with the ids of those ``before`` them; return their keys."""
    first = sql.last_key(connection, "memories") + 1
    earlier = before if before is not None else [None] * len(drafts)
    indexed = to_micros(now)
    written: list[tuple[Any, ...]] = []
    for key, ((identity_, draft), id_, one) in enumerate(
        zip(drafts, new_ids(len(drafts)), earlier, strict=True), start=first
    ):
        id_, accessed = (id_, 0) if one is None else (one.id or id_, one.accessed)
        written.append((
            key, *identity_, id_, accessed, draft.tier, int(draft.pinned), draft.lang, draft.title, draft.severity,
            draft.domain, draft.session, indexed if draft.event_at is None else to_micros(draft.event_at), indexed,
            _micros(draft.valid_from), _micros(draft.valid_until),
            _JSON.encode(dict(draft.metadata)) if draft.metadata else "{}",
        ))  # fmt: skip
    sql.insert(connection, "memories", ("key", *_COLUMNS), written)
    keyed = list(enumerate((draft for _, draft in drafts), start=first))
    sql.insert(connection, "texts", ("memory", "text"), [(key, draft.text) for key, draft in keyed])
    _insert_tags(connection, [(key, tag) for key, draft in keyed for tag in dict.fromkeys(draft.tags)])
    return [key for key, _ in keyed]


def _insert_tags(connection: Session, tags: Sequence[tuple[int, str]]) -> None:
    sql.insert(connection, "tags", ("memory", "tag"), tags)


def delete(connection: Session, keys: Sequence[int]) -> None:
    """Remove memories and all that depends on them; the caller removes keyword rows and vectors."""
    connection.execute("delete from memories where key in (select value from json_each(?))", (json.dumps(list(keys)),))


def set_tags(connection: Session, key: int, tags: Iterable[str]) -> None:
    """Give a memory these tags and no others; the caller updates the keyword rows."""
    connection.execute("delete from tags where memory = ?", (key,))
    _insert_tags(connection, [(key, tag) for tag in dict.fromkeys(tags)])


def update_columns(connection: Session, key: int, values: Mapping[str, Any]) -> None:
    """Set columns of a memory; names are ours, never a user's."""
    if values:
        assignments = ", ".join(f"{name} = :{name}" for name in values)
        connection.execute(f"update memories set {assignments} where key = :key", {**values, "key": key})


def load(connection: Session, keys: Sequence[int]) -> dict[int, Memory]:
    rows = connection.execute(
        f"{_SELECT} where memories.key in (select value from json_each(?))", (json.dumps(list(keys)),)
    )
    memories = {row[0]: _memory(row) for row in rows}
    if len(memories) < len(set(keys)):
        raise apsw.CorruptError("a memory has lost its text")
    return memories


def key_of(connection: Session, memory_id: str) -> int | None:
    typed = encodable(str(memory_id))
    row = connection.execute("select key from memories where id = ?", (typed,)).fetchone()
    return row[0] if row else None


def known_key(connection: Session, memory_id: str) -> int:
    key = key_of(connection, memory_id)
    if key is None:
        raise UnknownMemory(memory_id)
    return key


def keys_where(connection: Session, filters: Filters, among: Sequence[str] | None = None) -> list[int]:
    where, parameters = condition(SQLITE, filters)
    if among is not None:
        where += " and id in (select value from json_each(:among))"
        parameters["among"] = json.dumps([encodable(one) for one in among])
    return [row[0] for row in connection.execute(f"select key from memories where {where}", parameters)]


def selection(connection: Session, filters: Filters) -> Selection:
    where, parameters = condition(SQLITE, filters)
    tagged = "exists (select 1 from tags where memory = key)"
    rows = connection.execute(f"select id, kind, pinned, {tagged} from memories where {where}", parameters).fetchall()
    return Selection(
        ids=tuple(str(row[0]) for row in rows),
        kinds=dict(Counter(str(row[1]) for row in rows).most_common()),
        pinned=sum(bool(row[2]) for row in rows),
        tagged=sum(bool(row[3]) for row in rows),
        filters=filters,
    )


def browse(connection: Session, filters: Filters, limit: int) -> list[Memory]:
    where, parameters = condition(SQLITE, filters)
    rows = connection.execute(
        f"{_SELECT} where {where} order by {_BROWSE_ORDER} limit :limit", {**parameters, "limit": limit}
    )
    return [_memory(row) for row in rows]


def facet_counts(connection: Session, filters: Filters) -> dict[str, dict[str, int]]:
    where, parameters = condition(SQLITE, filters)
    found: dict[str, dict[str, int]] = {"kind": {}, "lang": {}, "tier": {}}
    together = f"select kind, lang, {SHOWN_TIER}, count(*) from memories where {where} group by 1, 2, 3"
    for *values, count in connection.execute(together, parameters):
        for of_facet, value in zip(found.values(), values, strict=True):
            of_facet[value] = of_facet.get(value, 0) + count
    tags = f"select tag, count(*) from tags join memories on key = memory where {where} group by tag"
    return {**found, "tag": dict(connection.execute(tags, parameters))}


def texts(connection: Session, keys: Sequence[int]) -> dict[int, str]:
    rows = connection.execute(
        "select memory, text from texts where memory in (select value from json_each(?))", (json.dumps(list(keys)),)
    )
    return dict(rows)


def count(connection: Session, filters: Filters) -> int:
    where, parameters = condition(SQLITE, filters)
    return int(connection.execute(f"select count(*) from memories where {where}", parameters).get)


def sessions(connection: Session, filters: Filters) -> list[str]:
    where, parameters = condition(SQLITE, filters)
    rows = connection.execute(
        f"select distinct session from memories where session is not null and {where}", parameters
    )
    return [row[0] for row in rows]


def tags(connection: Session) -> list[str]:
    return [row[0] for row in connection.execute("select tag from tags group by tag order by count(*) desc, tag")]


def known_contents(connection: Session, contents: Mapping[str, str], filters: Filters) -> set[str]:
    """Return the ids, among those with these content hashes, that are there, or whose content another memory has."""
    where, parameters = condition(SQLITE, filters)
    rows = connection.execute(
        f"""
        select id, content_hash from memories
        where {where} and (
            id in (select key from json_each(:contents)) or content_hash in (select value from json_each(:contents))
        )
        """,
        {**parameters, "contents": json.dumps(dict(contents))},
    ).fetchall()
    found = [(str(id_), str(content)) for id_, content in rows]
    others = {content for id_, content in found if id_ not in contents}
    return {id_ for id_, _ in found if id_ in contents} | {one for one, of in contents.items() if of in others}


def _memory(row: Sequence[Any]) -> Memory:
    if bytes in map(type, row):
        raise apsw.CorruptError("a text is no text")
    (_, id_, text, title, kind, tier, pinned, space, source, location, lang, tags, severity, domain, event_at,
     indexed_at, valid_from, valid_until, session, hash_, metadata, accessed, thumbnails) = row  # fmt: skip
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
        thumbnails=thumbnails,
    )


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


# The chunks of memories as rows, with their places, words, vectors and tokens, within the caller's transaction.


def insert_chunks(connection: Session, written: Sequence[tuple[int, Draft, Sequence[str]]]) -> list[int]:
    """Write the chunks of memories and index their words; return the ids of the chunks.

    Memories come with their keys and, where they are known, the words of each chunk's column ``ident``.
    """
    last = sql.last_key(connection, "chunks")
    chunks, words = [], []
    for key, draft, idents in written:
        tags = " ".join(sorted(set(draft.tags)))
        for chunk, ident in zip(draft.chunks, idents or idents_of(draft), strict=True):
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


def idents_of(draft: Draft) -> list[str]:
    return [ident_column(f"{draft.title}\n{draft.text[chunk.start : chunk.end]}") for chunk in draft.chunks]


def first_words(connection: Session, memory: int) -> tuple[int, str, str]:
    """Return the first chunk of a memory, the words that its column ``ident`` is made of, and that column."""
    found: Any = connection.execute(
        """
        select chunks.id, title || char(10) || coalesce(chunks.text, texts.text), ident
        from chunks join memories on memories.key = chunks.memory join texts on texts.memory = chunks.memory
        where chunks.memory = ? order by chunks.id limit 1
        """,
        (memory,),
    ).get
    return int(found[0]), str(found[1]), str(found[2] or "")


def set_idents(connection: Session, idents: Mapping[int, str]) -> None:
    """Give chunks another column ``ident``; the caller updates the keyword index."""
    connection.executemany(
        "update chunks set ident = ? where id = ?", ((ident, chunk) for chunk, ident in idents.items())
    )


def delete_chunks(connection: Session, key: int) -> None:
    """Remove the chunks of a memory; the caller updates the keyword index and the vectors."""
    connection.execute("delete from chunks where memory = ?", (key,))


def chunks_of(connection: Session, keys: Sequence[int]) -> list[int]:
    found = connection.execute(
        "select id from chunks where memory in (select value from json_each(?)) order by id", (json.dumps(list(keys)),)
    )
    return [row[0] for row in found]


def chunk_ids_by_memory(connection: Session, keys: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {key: [] for key in keys}
    for chunk, memory in connection.execute(
        "select id, memory from chunks where memory in (select value from json_each(?)) order by id",
        (json.dumps(list(keys)),),
    ):
        found[memory].append(chunk)
    return found


def existing_chunks(connection: Session, chunks: Sequence[int]) -> list[int]:
    found = connection.execute(
        "select id from chunks where id in (select value from json_each(?))", (json.dumps(list(chunks)),)
    )
    return [row[0] for row in found]


def chunks_by_memory(connection: Session, keys: Sequence[int]) -> dict[int, list[Chunk]]:
    rows = connection.execute(
        "select memory, start, stop, context, line from chunks"
        " where memory in (select value from json_each(?)) order by id",
        (json.dumps(list(keys)),),
    )
    found: dict[int, list[Chunk]] = {}
    for memory, *chunk in rows:
        found.setdefault(memory, []).append(Chunk(*chunk))
    return found


def first_contexts(connection: Session, ids: Sequence[str]) -> dict[str, str]:
    found = connection.execute(
        "select memories.id, chunks.context, min(chunks.start) from memories"
        " join chunks on chunks.memory = memories.key"
        " where memories.id in (select value from json_each(?)) group by memories.key",
        (json.dumps(list(ids)),),
    )
    return {row[0]: row[1] for row in found}


def embedded_parts(connection: Session, chunks: Sequence[int]) -> dict[int, EmbeddedParts]:
    rows = connection.execute(
        """
        select shown.id, memories.kind, shown.title, shown.context, shown.text
        from chunk_texts as shown join chunks on chunks.id = shown.id join memories on memories.key = chunks.memory
        where shown.id in (select value from json_each(?))
        """,
        (json.dumps(list(chunks)),),
    )
    return {row[0]: EmbeddedParts(*row[1:]) for row in rows}


def chunk_vectors(connection: Session, model: Model, chunks: Sequence[int]) -> ChunkVectors:
    found: list[Any] = connection.execute(
        f"""
        select chunks.id, chunks.memory, vectors.embedding
        from vectors_{model.id} as vectors join chunks on chunks.id = vectors.chunk
        where vectors.chunk in (select value from json_each(?)) order by chunks.id
        """,
        (json.dumps(list(chunks)),),
    ).fetchall()
    together = np.frombuffer(b"".join(row[2] for row in found), np.float32).reshape(-1, model.dimensions)
    ids = np.array([row[0] for row in found], np.int64)
    return ChunkVectors(ids, np.array([row[1] for row in found], np.int64), together)


def keep_tokens(connection: Session, tokens: Mapping[int, ChunkTokens]) -> None:
    rows = [(chunk, of_it.to_bytes()) for chunk, of_it in tokens.items()]
    sql.insert(connection, "chunk_tokens", ("chunk", "ids"), rows, replacing=True)


def drop_tokens(connection: Session, chunks: Sequence[int]) -> None:
    connection.executemany("delete from chunk_tokens where chunk = ?", ((chunk,) for chunk in chunks))


def tokens_of(connection: Session, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
    rows = connection.execute(
        "select chunk, ids from chunk_tokens where chunk in (select value from json_each(?)) and substr(ids, 1, 2) = ?",
        (json.dumps(list(chunks)), MARK),
    )
    return {chunk: ChunkTokens.from_bytes(data) for chunk, data in rows}


def without_tokens(connection: Session, count: int, after: int) -> list[int]:
    rows = connection.execute(
        """
        select id from chunks
        where id > ? and not exists (select 1 from chunk_tokens where chunk = id and substr(ids, 1, 2) = ?)
        order by id limit ?
        """,
        (after, MARK, count),
    )
    return [row[0] for row in rows]


# The names that memories in Python define as rows, within the caller's transaction.

_DEFINITION_COLUMNS = ("memory", *Definitions._fields)


def insert_definitions(connection: Session, found: Sequence[tuple[int, Definitions]]) -> None:
    """Write what memories define, by key; none of them may have definitions yet."""
    sql.insert(connection, "definitions", _DEFINITION_COLUMNS, [(key, *names) for key, names in found])


def definitions_of(connection: Session, keys: Sequence[int]) -> dict[int, Definitions]:
    rows = connection.execute(
        f"select {', '.join(_DEFINITION_COLUMNS)} from definitions where memory in (select value from json_each(?))",
        (json.dumps(list(keys)),),
    )
    return {row[0]: Definitions(*row[1:]) for row in rows}


def lacking_definitions(connection: Session, count: int, after: int) -> list[int]:
    rows = connection.execute(
        """
        select key from memories
        where key > ? and lang = ? collate nocase and not exists (select 1 from definitions where memory = key)
        order by key limit ?
        """,
        (after, PYTHON, count),
    )
    return [row[0] for row in rows]


def lacking_definitions_among(connection: Session, keys: Sequence[int]) -> list[int]:
    """Return those of these memories that are there, are in Python and have no definitions."""
    rows = connection.execute(
        """
        select key from memories
        where key in (select value from json_each(?)) and lang = ? collate nocase
          and not exists (select 1 from definitions where memory = key)
        """,
        (json.dumps(list(keys)), PYTHON),
    )
    return [row[0] for row in rows]


def drop_definitions(connection: Session, keys: Sequence[int]) -> None:
    connection.executemany("delete from definitions where memory = ?", ((key,) for key in keys))
