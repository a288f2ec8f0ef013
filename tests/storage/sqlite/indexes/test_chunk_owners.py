"""Which memory a chunk belongs to: as the transaction sees it, whatever was read before."""

from __future__ import annotations

from jupyter_memory.storage.sqlite.indexes.top_k import ChunkOwners
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import chunks, memories
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter


def of_memory(connection, memory):
    """Return a memory's key, and its chunks."""
    key = memories.known_key(connection, memory.id)
    return key, chunks.of_memories(connection, [key])


def test_new_chunks_are_found(database, remember):
    """What was remembered since the last look belongs to its memory, and what was there before still does."""
    opened, owners = database(), ChunkOwners()
    [first] = remember(opened, "λ in Zürich")
    with opened.read() as connection:
        owners.of(connection)
    [second] = remember(opened, "prices " * 2000)
    with opened.read() as connection:
        keys = owners.of(connection)
        found = [of_memory(connection, memory) for memory in (first, second)]

    assert [len(chunks) > 1 for _, chunks in found] == [False, True]
    assert all(keys.item(chunk) == key for key, chunks in found for chunk in chunks)


def test_what_is_gone_belongs_to_nobody(database, remember):
    """A chunk that was removed has no memory any more, also for one who knew it."""
    opened, owners = database(), ChunkOwners()
    first, last = remember(opened, "λ in Zürich", "prices")
    with opened.read() as connection:
        _, [chunk] = of_memory(connection, first)
        key, [other] = of_memory(connection, last)
        assert owners.of(connection).item(chunk) != 0
    SqliteWriter(opened, VectorIndex()).forget([first.id])
    with opened.read() as connection:
        assert (owners.of(connection).item(chunk), owners.of(connection).item(other)) == (0, key)


def test_an_empty_store(database):
    """Where there are no chunks, nothing belongs to anybody."""
    with database().read() as connection:
        assert not ChunkOwners().of(connection).any()
