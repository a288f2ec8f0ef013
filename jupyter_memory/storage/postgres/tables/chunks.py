"""The chunks of memories as rows, with their places, words and tokens, within the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jupyter_memory.storage.base import ChunkSpan, EmbeddedParts, Passage
from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import condition
from jupyter_memory.storage.postgres.indexes import postings
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Chunk, Draft, Filters
from jupyter_memory.types.chunk_tokens import MARK, ChunkTokens

_ALL = Filters()


def insert(session: Session, written: Sequence[tuple[int, Draft, Sequence[str]]]) -> list[int]:
    """Write the chunks of memories and index their words; return the ids of the chunks.

    Memories come with their keys and, where they are known, the words of each chunk's column ``ident``.
    """
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
    """Return the words of the column ``ident`` for each chunk of a memory."""
    return [ident_column(f"{draft.title}\n{draft.text[chunk.start : chunk.end]}") for chunk in draft.chunks]


def first_words(session: Session, memory: int) -> tuple[int, str, str]:
    """Return the first chunk of a memory, the words that its column ``ident`` is made of, and that column."""
    [row] = session.rows(
        "select id, title || chr(10) || text, ident from chunk_texts "
        f"where {of('chunk_texts')} and memory = %(memory)s order by id limit 1",
        {"memory": memory},
    )
    return int(row[0]), str(row[1]), str(row[2])


def set_idents(session: Session, idents: Mapping[int, str]) -> None:
    """Give chunks another column ``ident``; the caller updates the keyword index."""
    session.execute(
        f"""
        update chunks set ident = changed.ident
        from unnest(%(ids)s::bigint[], %(idents)s::text[]) as changed (id, ident)
        where {of("chunks")} and chunks.id = changed.id
        """,
        {"ids": list(idents), "idents": list(idents.values())},
    )


def delete_of(session: Session, key: int) -> None:
    """Remove the chunks of a memory; the caller takes their words out of the index first."""
    session.execute(f"delete from chunks where {of('chunks')} and memory = %(key)s", {"key": key})


def of_memories(session: Session, keys: Sequence[int]) -> list[int]:
    """Return the ids of the chunks of memories."""
    rows = session.rows(
        f"select id from chunks where {of('chunks')} and memory = any(%(keys)s) order by id", {"keys": list(keys)}
    )
    return [row[0] for row in rows]


def ids_by_memory(session: Session, keys: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the chunks of each memory, in the order in which they were written."""
    found: dict[int, list[int]] = {key: [] for key in keys}
    for chunk, memory in session.rows(
        f"select id, memory from chunks where {of('chunks')} and memory = any(%(keys)s) order by id",
        {"keys": list(keys)},
    ):
        found[memory].append(chunk)
    return found


def newest(session: Session) -> int:
    """Return the highest id of a chunk, 0 in an empty store."""
    # Space by space, each from the end of the index: the highest of several spaces at once is found by reading all.
    highest = session.value(
        """
        select max(of_space.id) from unnest(%(spaces)s::text[]) as wanted (space) cross join lateral (
            select chunks.id from chunks where chunks.space = wanted.space order by chunks.id desc limit 1
        ) as of_space
        """
    )
    return int(highest or 0)


def sample(session: Session, count: int, total: int, within: Filters = _ALL) -> list[int]:
    """Return the ids of up to ``count`` of the ``total`` chunks of what filters let through, evenly from first to last.

    They are counted, since ids have gaps.
    """
    places = np.unique(np.linspace(1, total, min(count, total)).astype(np.int64)) if total else np.empty(0, np.int64)
    joined = "join memories on memories.space = chunks.space and memories.key = chunks.memory" if within else ""
    where, parameters = condition(within) if within else (of("chunks"), {})
    rows = session.rows(
        f"""
        with placed as (
            select chunks.id, row_number() over (order by chunks.id) as place from chunks {joined} where {where}
        )
        select id from placed where place = any(%(places)s) order by id
        """,
        {**parameters, "places": places.tolist()},
    )
    return [row[0] for row in rows]


def spans(session: Session, chunks: Sequence[int]) -> dict[int, ChunkSpan]:
    """Return where each chunk begins and ends in its memory's text, its line, and its structural prefix."""
    rows = session.rows(
        f"select id, start, stop, line, context from chunks where {of('chunks')} and id = any(%(chunks)s) order by id",
        {"chunks": list(chunks)},
    )
    return {row[0]: ChunkSpan(*row[1:]) for row in rows}


def by_memory(session: Session, keys: Sequence[int]) -> dict[int, list[Chunk]]:
    """Return the chunks of memories, in the order in which they were written."""
    rows = session.rows(
        "select memory, start, stop, context, line from chunks "
        f"where {of('chunks')} and memory = any(%(keys)s) order by id",
        {"keys": list(keys)},
    )
    found: dict[int, list[Chunk]] = {}
    for memory, *chunk in rows:
        found.setdefault(memory, []).append(Chunk(*chunk))
    return found


def first_contexts(session: Session, ids: Sequence[str]) -> dict[str, str]:
    """Return the structural prefix of the first chunk of memories, by id."""
    return dict(
        session.rows(
            f"""
            select distinct on (memories.key) memories.id, chunks.context
            from memories join chunks on chunks.space = memories.space and chunks.memory = memories.key
            where {of("memories")} and memories.id = any(%(ids)s)
            order by memories.key, chunks.start
            """,
            {"ids": list(ids)},
        )
    )


def passages(session: Session, chunks: Sequence[int]) -> dict[int, Passage]:
    """Return title, context, text and tags of chunks, as the keyword index has them, by chunk."""
    rows = session.rows(
        "select id, title, context, text, tags from chunk_texts "
        f"where {of('chunk_texts')} and id = any(%(chunks)s) order by id",
        {"chunks": list(chunks)},
    )
    return {row[0]: Passage(*row[1:]) for row in rows}


def embedded_parts(session: Session, chunks: Sequence[int]) -> dict[int, EmbeddedParts]:
    """Return what is embedded of chunks, by id."""
    rows = session.rows(
        "select id, kind, title, context, text from chunk_texts "
        f"where {of('chunk_texts')} and id = any(%(chunks)s) order by id",
        {"chunks": list(chunks)},
    )
    return {row[0]: EmbeddedParts(*row[1:]) for row in rows}


def keep_tokens(session: Session, tokens: Mapping[int, ChunkTokens]) -> int:
    """Store the tokens of those of these chunks that are there; return how many that are."""
    written = 0
    for some in sql.parts(list(tokens)):
        written += session.changed(
            f"""
            insert into chunk_tokens (space, chunk, ids)
            select chunks.space, chunks.id, kept.ids
            from unnest(%(chunks)s::bigint[], %(ids)s::bytea[]) as kept (chunk, ids)
            join chunks on chunks.id = kept.chunk where {of("chunks")}
            on conflict (space, chunk) do update set ids = excluded.ids
            """,
            {"chunks": list(some), "ids": [tokens[chunk].to_bytes() for chunk in some]},
        )
    return written


def drop_tokens(session: Session, chunks: Sequence[int]) -> None:
    """Remove the tokens of chunks."""
    session.execute(
        f"delete from chunk_tokens where {of('chunk_tokens')} and chunk = any(%(chunks)s)", {"chunks": list(chunks)}
    )


def tokens_of(session: Session, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
    """Return the tokens of those of these chunks that have them."""
    rows = session.rows(
        f"""
        select chunk, ids from chunk_tokens
        where {of("chunk_tokens")} and chunk = any(%(chunks)s) and substr(ids, 1, 2) = %(mark)s
        order by chunk
        """,
        {"chunks": list(chunks), "mark": MARK},
    )
    return {chunk: ChunkTokens.from_bytes(data) for chunk, data in rows}


def without_tokens(session: Session, count: int, after: int) -> list[int]:
    """Return up to ``count`` chunks without tokens, those above ``after``, lowest first."""
    rows = session.rows(
        f"""
        select id from chunks
        where {of("chunks")} and id > %(after)s and not exists (
            select 1 from chunk_tokens
            where chunk_tokens.space = chunks.space and chunk_tokens.chunk = chunks.id and substr(ids, 1, 2) = %(mark)s
        )
        order by id limit %(count)s
        """,
        {"after": after, "count": count, "mark": MARK},
    )
    return [row[0] for row in rows]
