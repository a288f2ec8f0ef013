"""The chunks of memories as rows, with their places, words, vectors and tokens, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from jupyter_memory.storage.base import ChunkSpan, ChunkVectors, EmbeddedParts, Model, Passage
from jupyter_memory.storage.sqlite import sql
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Chunk, Draft
from jupyter_memory.types.chunk_tokens import MARK, ChunkTokens


def insert(connection: apsw.Connection, written: Sequence[tuple[int, Draft, Sequence[str]]]) -> list[int]:
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
    """Return the words of the column ``ident`` for each chunk of a memory."""
    return [ident_column(f"{draft.title}\n{draft.text[chunk.start : chunk.end]}") for chunk in draft.chunks]


def first_words(connection: apsw.Connection, memory: int) -> tuple[int, str, str]:
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


def set_idents(connection: apsw.Connection, idents: Mapping[int, str]) -> None:
    """Give chunks another column ``ident``; the caller updates the keyword index."""
    connection.executemany(
        "update chunks set ident = ? where id = ?", ((ident, chunk) for chunk, ident in idents.items())
    )


def delete_of(connection: apsw.Connection, key: int) -> None:
    """Remove the chunks of a memory; the caller updates the keyword index and the vectors."""
    connection.execute("delete from chunks where memory = ?", (key,))


def of_memories(connection: apsw.Connection, keys: Sequence[int]) -> list[int]:
    """Return the ids of the chunks of memories."""
    found = connection.execute(
        "select id from chunks where memory in (select value from json_each(?)) order by id", (json.dumps(list(keys)),)
    )
    return [row[0] for row in found]


def ids_by_memory(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the chunks of each memory, in the order in which they were written."""
    found: dict[int, list[int]] = {key: [] for key in keys}
    for chunk, memory in connection.execute(
        "select id, memory from chunks where memory in (select value from json_each(?)) order by id",
        (json.dumps(list(keys)),),
    ):
        found[memory].append(chunk)
    return found


def existing(connection: apsw.Connection, chunks: Sequence[int]) -> list[int]:
    """Return those of these chunks that are there."""
    found = connection.execute(
        "select id from chunks where id in (select value from json_each(?))", (json.dumps(list(chunks)),)
    )
    return [row[0] for row in found]


def newest(connection: apsw.Connection) -> int:
    """Return the highest id of a chunk, 0 in an empty store."""
    return int(connection.execute("select coalesce(max(id), 0) from chunks").get)


def sample(connection: apsw.Connection, count: int) -> list[int]:
    """Return the ids of up to ``count`` chunks, evenly from the first to the last."""
    last = newest(connection)
    wanted = np.unique(np.linspace(1, last, min(count, last)).astype(np.int64)) if last else np.empty(0, np.int64)
    rows = connection.execute(
        "select id from chunks where id in (select value from json_each(?)) order by id", (json.dumps(wanted.tolist()),)
    )
    return [row[0] for row in rows]


def spans(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, ChunkSpan]:
    """Return where each chunk begins and ends in its memory's text, its line, and its structural prefix."""
    found = connection.execute(
        "select id, start, stop, line, context from chunks where id in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {row[0]: ChunkSpan(*row[1:]) for row in found}


def by_memory(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, list[Chunk]]:
    """Return the chunks of memories, in the order in which they were written."""
    rows = connection.execute(
        "select memory, start, stop, context, line from chunks"
        " where memory in (select value from json_each(?)) order by id",
        (json.dumps(list(keys)),),
    )
    found: dict[int, list[Chunk]] = {}
    for memory, *chunk in rows:
        found.setdefault(memory, []).append(Chunk(*chunk))
    return found


def first_contexts(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, str]:
    """Return the structural prefix of the first chunk of memories, by id."""
    found = connection.execute(
        "select memories.id, chunks.context, min(chunks.start) from memories"
        " join chunks on chunks.memory = memories.key"
        " where memories.id in (select value from json_each(?)) group by memories.key",
        (json.dumps(list(ids)),),
    )
    return {row[0]: row[1] for row in found}


def passages(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, Passage]:
    """Return title, context, text and tags of chunks, as the keyword index has them, by chunk."""
    rows = connection.execute(
        "select id, title, context, text, tags from chunk_texts where id in (select value from json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {row[0]: Passage(*row[1:]) for row in rows}


def embedded_parts(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, EmbeddedParts]:
    """Return what is embedded of chunks, by id."""
    rows = connection.execute(
        """
        select shown.id, memories.kind, shown.title, shown.context, shown.text
        from chunk_texts as shown join chunks on chunks.id = shown.id join memories on memories.key = chunks.memory
        where shown.id in (select value from json_each(?))
        """,
        (json.dumps(list(chunks)),),
    )
    return {row[0]: EmbeddedParts(*row[1:]) for row in rows}


def vectors(connection: apsw.Connection, model: Model, chunks: Sequence[int]) -> ChunkVectors:
    """Return the vectors of those of these chunks that have one."""
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


def keep_tokens(connection: apsw.Connection, tokens: Mapping[int, ChunkTokens]) -> None:
    """Store the tokens of chunks, by chunk."""
    rows = [(chunk, of_it.to_bytes()) for chunk, of_it in tokens.items()]
    sql.insert(connection, "chunk_tokens", ("chunk", "ids"), rows, replacing=True)


def drop_tokens(connection: apsw.Connection, chunks: Sequence[int]) -> None:
    """Remove the tokens of chunks."""
    connection.executemany("delete from chunk_tokens where chunk = ?", ((chunk,) for chunk in chunks))


def tokens_of(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, ChunkTokens]:
    """Return the tokens of those of these chunks that have them."""
    rows = connection.execute(
        "select chunk, ids from chunk_tokens where chunk in (select value from json_each(?)) and substr(ids, 1, 2) = ?",
        (json.dumps(list(chunks)), MARK),
    )
    return {chunk: ChunkTokens.from_bytes(data) for chunk, data in rows}


def without_tokens(connection: apsw.Connection, count: int, after: int) -> list[int]:
    """Return up to ``count`` chunks without tokens, those above ``after``, lowest first."""
    rows = connection.execute(
        """
        select id from chunks
        where id > ? and not exists (select 1 from chunk_tokens where chunk = id and substr(ids, 1, 2) = ?)
        order by id limit ?
        """,
        (after, MARK, count),
    )
    return [row[0] for row in rows]
