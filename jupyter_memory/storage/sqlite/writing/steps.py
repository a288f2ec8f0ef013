"""Which files are written together in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from jupyter_memory.storage.base import Prepared
from jupyter_memory.storage.sqlite.tables import files
from jupyter_memory.types.protocols import FileState

# Memories of new files that are written in one transaction: some 50 ms, in which nobody else can write.
_STEP = 128
# A file that was read, and its memories.
FileRead = tuple[FileState, Sequence[Prepared]]


def in_steps(connection: apsw.Connection, read: Sequence[FileRead], space: str) -> list[Sequence[FileRead]]:
    """Return the files to write in each transaction; those that hold memories together, since cells may move."""
    if files.memories(connection, [state.path for state, _ in read], space):
        return [read]
    steps: list[list[FileRead]] = [[]]
    held = 0
    for one in read:
        steps[-1].append(one)
        held += len(one[1])
        if held >= _STEP:
            steps.append([])
            held = 0
    return [step for step in steps if step]
