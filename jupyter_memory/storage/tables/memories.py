"""Memories, their texts, tags and chunks, what they define, and lists of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

from jupyter_memory.errors import UnknownMemory
from jupyter_memory.storage.base import (
    ChunkSpan,
    ChunkWords,
    EmbeddedParts,
    Identity,
    Passage,
    Predecessor,
    content_hash,
    from_micros,
    micros,
    new_ids,
    to_micros,
)
from jupyter_memory.storage.sql import SHOWN_TIER, Dialect, Session, UnreadableRow, condition
from jupyter_memory.storage.tables import thumbnails
from jupyter_memory.text.code import PYTHON, Definitions
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Chunk, Draft, Filters, Memory, Selection
from jupyter_memory.types.memory import MARK, ChunkTokens, is_damaged

Made = TypeVar("Made")
_JSON = json.JSONEncoder(ensure_ascii=False)  # what `dumps` would make anew for each memory
# Browsing shows what people chose to keep before what was indexed; a search ranks the tiers differently. Cells of one
# time come in the order of their file, whose cells are written together.
_BROWSE_ORDER = (
    f"case {SHOWN_TIER} when 'core' then 0 when 'note' then 1 when 'mcp' then 2 "
    "else case kind when 'history' then 4 else 3 end end, event_at desc, source, memories.key"
)
# A note has no file: each stands alone.
_OF_ONE = "case source when '' then memories.id else source end"
_BY_SOURCE = f"max(event_at) over (partition by {_OF_ONE}) desc, {_OF_ONE}, event_at desc, memories.key"
_FACETS = {
    "tag": "tags.tag", "tier": SHOWN_TIER, "path": "memories.source", "kind": "memories.kind", "lang": "memories.lang",
    "space": "memories.space", "session": "memories.session",
}  # fmt: skip
# Columns of a memory that are what its draft has.
_GIVEN = ("tier", "pinned", "lang", "title", "severity", "domain", "session")


def _chosen(
    session: Session, columns: str, table: str, column: str, values: Sequence[int | str], *, order: str = ""
) -> list[Any]:
    where = f"{session.dialect.of(table)} and {session.dialect.among(column, 'chosen')}"
    return session.rows(f"select {columns} from {table} where {where} order by {order or column}", chosen=values)


def _delete(session: Session, table: str, column: str, values: Sequence[int]) -> int:
    where = f"{session.dialect.of(table)} and {session.dialect.among(column, 'chosen')}"
    return session.changed(f"delete from {table} where {where}", chosen=values)


def find_known(session: Session, identities: Sequence[Identity]) -> list[int | None]:
    """Return for each the key of the memory that already holds this content in the same place, if there is one."""
    dialect = session.dialect
    wanted = dialect.each(
        "wanted", number="bigint", source="text", kind="text", space="text", location="text", content="text"
    )
    rows = session.rows(
        f"""
        select wanted.number, memories.key from {wanted} cross join memories
        where {dialect.of("memories")} and memories.source = wanted.source and memories.kind = wanted.kind
            and memories.space = wanted.space and memories.location = wanted.location
            and memories.content_hash = wanted.content
        """,
        wanted=[(number, *one) for number, one in enumerate(identities)],
    )
    known = dict(rows)
    return [known.get(number) for number in range(len(identities))]


def insert(
    session: Session,
    drafts: Sequence[tuple[Identity, Draft]],
    times: Sequence[datetime],
    before: Sequence[Predecessor | None] | None = None,
) -> list[int]:
    """Write memories, indexed at these times, some with the ids of those ``before`` them; return their keys."""
    for space in {draft.space for _, draft in drafts}:
        session.include(space)
    rows = []
    for (identity_, draft), time, id_, earlier in zip(
        drafts, times, new_ids(len(drafts)), before or [None] * len(drafts), strict=True
    ):
        stored_at = (earlier and earlier.stored_at) or time
        row = columns(identity_, draft, time, stored_at, earlier.accessed if earlier else 0)
        rows.append({**row, "id": (earlier.id or id_) if earlier else id_})
    keys = session.numbered("memories", "key", rows) if rows else []
    keyed = [(key, draft) for key, (_, draft) in zip(keys, drafts, strict=True)]
    session.insert("texts", [{"space": draft.space, "memory": key, "text": draft.text} for key, draft in keyed])
    _insert_tags(session, [(draft.space, key, draft.tags) for key, draft in keyed])
    if shown := [one for one in keyed if one[1].pictures.thumbnails]:
        thumbnails.insert(session, shown)
    return keys


def columns(
    identity_: Identity, draft: Draft, indexed_at: datetime, stored_at: datetime, accessed: int
) -> dict[str, Any]:
    """Return the columns of a memory, those of its identity first, but for its key and id."""
    source, kind, space, location, content = identity_
    return {
        "source": source,
        "kind": kind,
        "space": space,
        "location": location,
        "content_hash": content,
        "accessed": accessed,
        **{name: getattr(draft, name) for name in _GIVEN},
        "event_at": to_micros(draft.event_at or indexed_at),
        "indexed_at": to_micros(indexed_at),
        "stored_at": to_micros(stored_at),
        "valid_from": micros(draft.valid_from),
        "valid_until": micros(draft.valid_until),
        "metadata": _JSON.encode(dict(draft.metadata)) if draft.metadata else "{}",
    }


def differs(session: Session, key: int, wanted: Mapping[str, Any], tags: Sequence[str]) -> bool:
    """Return whether a memory has other values in some columns, or other tags."""
    [held] = session.rows(
        f"select {', '.join(wanted)} from memories where {session.dialect.of('memories')} and key = :key", key=key
    )
    return tuple(held) != tuple(wanted.values()) or set(load(session, [key])[key].tags) != set(tags)


def _insert_tags(session: Session, tagged: Iterable[tuple[str, int, Iterable[str]]]) -> None:
    rows = [{"space": space, "memory": key, "tag": tag} for space, key, given in tagged for tag in dict.fromkeys(given)]
    session.insert("tags", rows)


def delete(session: Session, keys: Sequence[int]) -> int:
    """Remove memories and all that depends on them; the caller removes their words and vectors."""
    return _delete(session, "memories", "key", keys)


def set_tags(session: Session, key: int, tags: Iterable[str]) -> None:
    """Give a memory these tags and no others; the caller updates the keyword index."""
    _delete(session, "tags", "memory", [key])
    _insert_tags(session, [(space_of(session, key), key, tags)])


def space_of(session: Session, key: int) -> str:
    return str(
        session.value(f"select space from memories where {session.dialect.of('memories')} and key = :key", key=key)
    )


def update_columns(session: Session, key: int, values: Mapping[str, Any]) -> None:
    """Set columns of a memory; names are ours, never a user's."""
    if values:
        assignments = ", ".join(f"{name} = :{name}" for name in values)
        of = session.dialect.of("memories")
        session.changed(f"update memories set {assignments} where {of} and key = :key", **values, key=key)


def rewrite(session: Session, key: int, draft: Draft) -> None:
    """Give a memory the title, text and tags of a draft, and no chunks; the caller updates both indexes."""
    _delete(session, "chunks", "memory", [key])
    drop_definitions(session, [key])
    update_columns(session, key, {"title": draft.title, "content_hash": content_hash(draft)})
    of = session.dialect.of("texts")
    session.changed(f"update texts set text = :text where {of} and memory = :key", text=draft.text, key=key)
    set_tags(session, key, draft.tags)


def _metadata(text: str) -> Any:
    if text[:1] != "{":
        raise UnreadableRow("metadata are no object")
    return {} if text == "{}" else json.loads(text)


_READ: Mapping[str, Callable[[Any], Any]] = {
    "pinned": bool,
    "tags": lambda text: () if text == "[]" else tuple(json.loads(text)),
    **dict.fromkeys(("event_at", "indexed_at", "stored_at"), from_micros),
    **dict.fromkeys(("valid_from", "valid_until"), lambda time: None if time is None else from_micros(time)),
    "metadata": _metadata,
}


def load(session: Session, keys: Sequence[int]) -> dict[int, Memory]:
    """Return the memories with these keys, all of which must be there."""
    memories = whole(session, keys)
    if len(memories) < len(set(keys)):
        raise UnreadableRow("a memory has lost its text")
    return memories


def whole(session: Session, keys: Sequence[int]) -> dict[int, Memory]:
    dialect = session.dialect
    where = f"{dialect.of('memories')} and {dialect.among('memories.key', 'keys')} order by memories.key"
    return _read(session, where, keys=keys)


def _read(session: Session, where: str, **parameters: Any) -> dict[int, Memory]:
    dialect = session.dialect
    # Few memories have tags, and sorting no tags would take as long as all the rest.
    tags = f"from tags where {dialect.linked('tags', 'memories', 'tags.memory = memories.key')}"
    pictures = f"from thumbnails where {dialect.linked('thumbnails', 'memories', 'thumbnails.memory = memories.key')}"
    rows = session.rows(
        f"""
        select
            memories.key, memories.id, texts.text, title, kind, {SHOWN_TIER}, pinned, memories.space, source, location,
            lang,
            case when exists (select 1 {tags})
                then (select cast({dialect.json_list}(tag order by tag) as text) {tags}) else '[]'
            end,
            severity, domain, event_at, indexed_at, stored_at, valid_from, valid_until, session, content_hash, metadata,
            accessed, (select count(*) {pictures})
        from memories {dialect.join("texts", "memories", "texts.memory = memories.key")}
        where {where}
        """,
        **parameters,
    )
    if bytes in map(type, chain.from_iterable(rows)):
        raise UnreadableRow("a text is not text")
    if not rows:
        return {}
    # Column by column, in the order of the fields, since a search reads hundreds.
    keys, *columns = zip(*rows, strict=True)
    fields = (
        map(_READ[name], one) if name in _READ else one for name, one in zip(Memory.__slots__, columns, strict=True)
    )
    return dict(zip(keys, map(Memory, *fields), strict=True))


def chunk_size(session: Session) -> tuple[int, int]:
    """Return how many tokens the chunks of what was stored last have, and since when, in microseconds."""
    of = session.dialect.opened("done")
    noted = session.value(f"select max(what) from done where {of} and what like 'chunks %'")
    _, since, tokens = (noted or "chunks 0 448").split()
    return int(tokens), int(since)


def of_other_chunks(session: Session, tokens: int) -> int:
    """Return how many memories of several chunks, or of a longer one, were stored while chunks had another size."""
    dialect, (used, since) = session.dialect, chunk_size(session)
    inside = dialect.linked("chunks", "memories", "chunks.memory = memories.key")
    long = f"exists (select 1 from chunks where {inside} and (start > 0 or stop > {4 * tokens}))"
    where = f"{dialect.of('memories')} and (:all or indexed_at < :since) and {long}"
    # Nothing had, if no other size was ever noted.
    every = {"all": used != tokens, "since": since}
    return session.value(f"select count(*) from memories where {where}", **every) if any(every.values()) else 0


def key_of(session: Session, memory_id: str) -> int | None:
    key: int | None = session.value(
        f"select key from memories where {session.dialect.of('memories')} and id = :id order by key", id=str(memory_id)
    )
    return key


def known_key(session: Session, memory_id: str) -> int:
    key = key_of(session, memory_id)
    if key is None:
        raise UnknownMemory(memory_id)
    return key


def keys_by_id(session: Session, ids: Sequence[str]) -> dict[str, int]:
    # Where several spaces are read, an id is that of the memory that was stored first.
    return dict(reversed(_chosen(session, "id, key", "memories", "id", ids, order="key")))


# Memories that match filters.


def _matching(
    session: Session, filters: Filters, what: str, further: str = "", *, joined: str = "", **parameters: Any
) -> list[Any]:
    where, given = condition(session.dialect, filters)
    return session.rows(f"select {what} from memories {joined} where {where} {further}", **given, **parameters)


def keys_where(session: Session, filters: Filters, among: Sequence[str] | None = None) -> list[int]:
    """Return the keys of the memories that match filters, of those with the ids ``among`` if given."""
    chosen = "" if among is None else f"and {session.dialect.among('memories.id', 'among')}"
    return [key for (key,) in _matching(session, filters, "key", f"{chosen} order by key", among=among)]


def selection(session: Session, filters: Filters) -> Selection:
    tagged = f"select 1 from tags where {session.dialect.linked('tags', 'memories', 'tags.memory = memories.key')}"
    rows = _matching(session, filters, f"id, kind, pinned, exists ({tagged})", "order by key")
    return Selection(
        ids=tuple(str(row[0]) for row in rows),
        kinds=dict(Counter(str(row[1]) for row in rows).most_common()),
        pinned=sum(bool(row[2]) for row in rows),
        tagged=sum(bool(row[3]) for row in rows),
        filters=filters,
    )


def exists(session: Session, filters: Filters) -> bool:
    return bool(_matching(session, filters, "1", "limit 1"))


def covers(session: Session, within: Filters) -> bool:
    where, parameters = condition(session.dialect, within)
    other = f"select 1 from memories where {session.dialect.of('memories')} and not coalesce({where}, false)"
    return not session.value(f"select exists ({other})", **parameters)


def count(session: Session, filters: Filters) -> int:
    """Return how many memories match filters."""
    [(number,)] = _matching(session, filters, "count(*)")
    return int(number)


def browse(session: Session, filters: Filters, limit: int, by_source: bool = False) -> list[Memory]:
    """Return memories without a query: core, note, mcp, file, history; the newest first within each.

    ``by_source`` those of a file stand together, the file with the newest first.
    """
    where, parameters = condition(session.dialect, filters)
    order = _BY_SOURCE if by_source else _BROWSE_ORDER
    return [*_read(session, f"{where} order by {order} limit :limit", **parameters, limit=limit).values()]


def facet_counts(session: Session, filters: Filters) -> dict[str, dict[str, int]]:
    """Return how many of the memories that match filters have each value of kind, lang, tier and tag."""
    found: dict[str, dict[str, int]] = {"kind": {}, "lang": {}, "tier": {}}
    together = f"kind, lang, {SHOWN_TIER}, count(*)"
    for *values, number in _matching(session, filters, together, "group by 1, 2, 3 order by 1, 2, 3"):
        for of_facet, value in zip(found.values(), values, strict=True):
            of_facet[value] = of_facet.get(value, 0) + number
    return {**found, "tag": _tag_counts(session, filters)}


def _tag_counts(session: Session, filters: Filters) -> dict[str, int]:
    where, parameters = condition(session.dialect, filters)
    joined = session.dialect.join("memories", "tags", "memories.key = tags.memory")
    return dict(
        session.rows(f"select tag, count(*) from tags {joined} where {where} group by tag order by tag", **parameters)
    )


def tags(session: Session, within: Filters) -> list[str]:
    """Return every tag, the most used first."""
    counts = _tag_counts(session, within)
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def facet_values(session: Session, facet: str, filters: Filters) -> list[str]:
    joined = session.dialect.join("tags", "memories", "tags.memory = memories.key") if facet == "tag" else ""
    column = _FACETS[facet]
    further = f"and coalesce({column}, '') <> '' order by 1"
    return [value for (value,) in _matching(session, filters, f"distinct {column}", further, joined=joined)]


def event_span(session: Session, within: Filters) -> tuple[datetime, datetime]:
    [(first, last)] = _matching(session, within, "min(nullif(event_at, 0)), max(nullif(event_at, 0))")
    return from_micros(int(first or 0)), from_micros(int(last or 0))


def count_undated(session: Session, filters: Filters) -> int:
    [(number,)] = _matching(session, filters, "count(*)", "and event_at = 0")
    return int(number)


def texts(session: Session, keys: Sequence[int]) -> dict[int, str]:
    return dict(_chosen(session, "memory, text", "texts", "memory", keys))


def tiers(session: Session, keys: Sequence[int]) -> dict[int, str]:
    """Return the tiers with which memories were stored, which a pin hides."""
    return dict(_chosen(session, "key, tier", "memories", "key", keys))


def known_contents(session: Session, contents: Mapping[str, str], filters: Filters) -> set[str]:
    """Return which of these ids have a memory, or another memory says the same; ``contents`` maps ids to hashes."""
    among = session.dialect.among
    rows = _matching(
        session,
        filters,
        "id, content_hash",
        f"and ({among('id', 'ids')} or {among('content_hash', 'hashes')}) order by key",
        ids=list(contents),
        hashes=list(contents.values()),
    )
    others = {content for id_, content in rows if id_ not in contents}
    return {id_ for id_, _ in rows if id_ in contents} | {one for one, of in contents.items() if of in others}


# The chunks of memories, with their places, words and tokens.


def insert_chunks(session: Session, written: Sequence[tuple[int, Draft, Sequence[str]]]) -> list[ChunkWords]:
    """Write the chunks of memories, given with their idents if these are known; return them for the keyword index."""
    rows: list[dict[str, Any]] = []
    worded = []
    for key, draft, idents in written:
        tagged = " ".join(sorted(set(draft.tags)))
        for chunk, ident in zip(draft.chunks, idents or idents_of(draft), strict=True):
            # The same words that the view chunk_texts will show when the chunk is taken out again.
            text = draft.text[chunk.start : chunk.end]
            worded.append((draft.title, chunk.context, text, tagged, ident))
            rows.append(
                {
                    "space": draft.space,
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
    ids = session.numbered("chunks", "id", rows)
    return [ChunkWords(row["space"], row["memory"], id_, *one) for row, id_, one in zip(rows, ids, worded, strict=True)]


def idents_of(draft: Draft) -> list[str]:
    return [ident_column(f"{draft.title}\n{draft.text[chunk.start : chunk.end]}") for chunk in draft.chunks]


def words_of(session: Session, chunks: Sequence[int]) -> list[ChunkWords]:
    """Return what the keyword index has to hold of chunks, as they are now."""
    columns = "space, memory, id, title, context, text, tags, ident"
    return [ChunkWords(*row) for row in _chosen(session, columns, "chunk_texts", "id", chunks)]


def first_words(session: Session, memory: int) -> tuple[int, str, str]:
    """Return the first chunk of a memory, the words that its column ``ident`` is made of, and that column."""
    [(chunk, title, text, ident)] = session.rows(
        f"select id, title, text, ident from chunk_texts where {session.dialect.of('chunk_texts')} "
        "and memory = :memory order by id limit 1",
        memory=memory,
    )
    return chunk, f"{title}\n{text}", ident


def set_idents(session: Session, idents: Mapping[int, str]) -> None:
    """Give chunks another column ``ident``; the caller updates the keyword index."""
    of = session.dialect.of("chunks")
    for chunk, ident in idents.items():
        session.changed(f"update chunks set ident = :ident where {of} and id = :chunk", ident=ident, chunk=chunk)


def chunks_of(session: Session, keys: Sequence[int]) -> list[int]:
    return [row[0] for row in _chosen(session, "id", "chunks", "memory", keys, order="id")]


def count_chunks(session: Session) -> int:
    return int(session.value(f"select count(*) from chunks where {session.dialect.of('chunks')}"))


def chunks_by_memory(session: Session, keys: Sequence[int]) -> dict[int, dict[int, Chunk]]:
    found: dict[int, dict[int, Chunk]] = {key: {} for key in keys}
    columns = "memory, id, start, stop, context, line"
    for memory, id_, *chunk in _chosen(session, columns, "chunks", "memory", keys, order="id"):
        found[memory][id_] = Chunk(*chunk)
    return found


def _by_id(
    made: Callable[..., Made], table: str, columns: str, *, id_: str = "id"
) -> Callable[[Session, Sequence[int]], dict[int, Made]]:
    def read(session: Session, ids: Sequence[int]) -> dict[int, Made]:
        return {row[0]: made(*row[1:]) for row in _chosen(session, f"{id_}, {columns}", table, id_, ids)}

    return read


# Of chunks, by their ids: where they lie, what the keyword index holds of them, and what is embedded of them.
spans = _by_id(ChunkSpan, "chunks", "start, stop, line, context")
passages = _by_id(Passage, "chunk_texts", "title, context, text, tags, ident")
embedded_parts = _by_id(EmbeddedParts, "chunk_texts", "kind, title, context, text")


def first_contexts(session: Session, ids: Sequence[str]) -> dict[str, str]:
    """Return the structural prefix of the first chunk of memories, by memory id."""
    dialect = session.dialect
    rows = session.rows(
        f"""
        select memories.id, chunks.context
        from memories {dialect.join("chunks", "memories", "chunks.memory = memories.key")}
        where {dialect.of("memories")} and {dialect.among("memories.id", "ids")}
        order by memories.key, chunks.start desc
        """,
        ids=ids,
    )
    return dict(rows)


def keep_tokens(session: Session, tokens: Mapping[int, ChunkTokens]) -> int:
    """Store the tokens of those of these chunks that are there; return how many that are."""
    there = _chosen(session, "space, id", "chunk_texts", "id", list(tokens))
    rows = [{"space": space, "chunk": chunk, "ids": tokens[chunk]} for space, chunk in there]
    session.insert("chunk_tokens", rows, known="do update set ids = excluded.ids")
    return len(rows)


def drop_tokens(session: Session, chunks: Sequence[int]) -> None:
    _delete(session, "chunk_tokens", "chunk", chunks)


def damaged_tokens(session: Session) -> list[int]:
    stored = session.rows(
        f"select chunk, ids from chunk_tokens where {session.dialect.of('chunk_tokens')} order by chunk"
    )
    return [chunk for chunk, ids in stored if is_damaged(ids)]


def tokens_of(session: Session, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
    of, among = session.dialect.of("chunk_tokens"), session.dialect.among("chunk", "chunks")
    rows = session.rows(
        f"select chunk, ids from chunk_tokens where {of} and {among} and substr(ids, 1, 2) = :mark order by chunk",
        chunks=chunks,
        mark=MARK,
    )
    return {chunk: ChunkTokens(data) for chunk, data in rows}


def without_tokens(session: Session, count: int, after: int = 0) -> list[int]:
    """Return up to ``count`` chunks above ``after`` whose tokens are not stored, lowest first."""
    dialect = session.dialect
    stored = f"select 1 from chunk_tokens where {dialect.linked('chunk_tokens', 'chunks', 'chunk = chunks.id')}"
    return session.column(
        f"select id from chunks where {dialect.of('chunks')} and id > :after "
        f"and not exists ({stored} and substr(ids, 1, 2) = :mark) order by id limit :count",
        after=after,
        mark=MARK,
        count=count,
    )


# The names that memories in Python define.


def insert_definitions(session: Session, found: Mapping[int, Definitions]) -> int:
    """Write what memories define, for those that are there, are in Python and have no definitions; return how many."""
    if not found:
        return 0
    lacking = session.rows(
        f"select space, key from memories where {_lacking(session.dialect)} "
        f"and {session.dialect.among('key', 'keys')} order by key",
        python=PYTHON,
        keys=list(found),
    )
    return session.insert(
        "definitions", [{"space": space, "memory": key, **found[key]._asdict()} for space, key in lacking]
    )


def _lacking(dialect: Dialect) -> str:
    defined = dialect.linked("definitions", "memories", "definitions.memory = memories.key")
    without = f"not exists (select 1 from definitions where {defined})"
    return f"{dialect.of('memories')} and lower(memories.lang) = lower(:python) and {without}"


def lacking_definitions(session: Session, count: int, after: int = 0) -> list[int]:
    """Return the keys of up to ``count`` memories in Python above ``after`` without definitions, lowest first."""
    return session.column(
        f"select key from memories where {_lacking(session.dialect)} and key > :after order by key limit :count",
        python=PYTHON,
        after=after,
        count=count,
    )


# What memories in Python define, by key, for those for which it is stored.
definitions_of = _by_id(Definitions, "definitions", ", ".join(Definitions._fields), id_="memory")


def drop_definitions(session: Session, keys: Sequence[int]) -> None:
    _delete(session, "definitions", "memory", keys)
