"""Finds what memories define that an older version stored: nothing else of them is touched."""

from __future__ import annotations

from jupyter_memory.storage.base import Storage
from jupyter_memory.text.definitions import definitions

# Memories that are read and written together.
_BATCH = 512


def define(storage: Storage) -> int:
    """Store what every memory in Python defines that lacks it, read from its stored text; return how many that were."""
    last = done = 0
    while True:
        with storage.snapshot() as snapshot:
            keys = snapshot.without_definitions(_BATCH, last)
            memories = snapshot.memories(keys)
        if not keys:
            return done
        found = {key: definitions(one.kind, one.lang, one.text) for key, one in memories.items()}
        done += storage.writer.keep_definitions({key: one for key, one in found.items() if one is not None})
        last = keys[-1]
