"""Backfill: what an older version did not store with its memories is read from their texts and stored, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from jupyter_memory.embedders.tokenizer.chunks import chunk_tokens
from jupyter_memory.storage.base import Snapshot, Storage
from jupyter_memory.text.code.definitions import definitions

# Memories that are read and written together.
_BATCH = 512
# Chunks whose tokens are written together.
_TOKENS_BATCH = 500

Row = TypeVar("Row")


def lacking(
    storage: Storage,
    keys: Callable[[Snapshot, int], Sequence[int]],
    rows: Callable[[Snapshot, Sequence[int]], Mapping[int, Row]],
) -> Iterator[Mapping[int, Row]]:
    """Yield the rows that lack something, batch by batch, each read in a snapshot of its own.

    ``keys`` returns the next keys above one of those that lack it, ``rows`` what is stored of them. What cannot be
    filled in is passed over, since the keys only go up.
    """
    last = 0
    while True:
        with storage.snapshot() as snapshot:
            batch = keys(snapshot, last)
            found = rows(snapshot, batch)
        if not batch:
            return
        yield found
        last = batch[-1]


def define(storage: Storage) -> int:
    """Store what every memory in Python defines that lacks it; return how many that were."""
    done = 0
    for memories in lacking(
        storage,
        lambda snapshot, last: snapshot.without_definitions(_BATCH, last),
        lambda snapshot, keys: snapshot.memories(keys),
    ):
        found = {key: definitions(one.kind, one.lang, one.text) for key, one in memories.items()}
        done += storage.writer.keep_definitions({key: one for key, one in found.items() if one is not None})
    return done


def retokenise(storage: Storage, stopped: Callable[[], bool] = lambda: False) -> int:
    """Store the tokens of every chunk that lacks them, or has the former model's; return how many that were.

    Where ``stopped`` returns true between two batches, the next call writes what is left.

    Raises:
        EmbedderUnavailable: the vocabulary is missing or damaged.
    """
    done = 0
    for parts in lacking(
        storage,
        lambda snapshot, last: snapshot.chunks_without_tokens(_TOKENS_BATCH, last),
        lambda snapshot, chunks: snapshot.embedded_parts(chunks),
    ):
        if stopped():
            break
        _, kept = chunk_tokens(part.head_and_text() for part in parts.values())
        done += storage.writer.keep_tokens(dict(zip(parts, kept, strict=True)))
    return done
