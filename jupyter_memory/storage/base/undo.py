"""What was forgotten and can be taken back for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from jupyter_memory.types.report import Undoable


class Forgotten(Protocol):
    """What ``Writer.forget`` kept because it was given a time until which that can be taken back.

    No search, list, count, export or backup shows it, but its texts are still in the store's files. A ``space`` is that
    of the stores that forgot; an empty one stands for all of them.
    """

    def pending(self, space: str, /) -> list[Undoable]:
        """Return what can be taken back, the last first, expired or not."""
        ...

    def undo(self, space: str, /) -> int:
        """Take the last forgetting back, all of it; return how many memories came back, 0 where there is nothing.

        They have their ids, pins, tags, vectors, feedback and pictures again. If the same content was remembered
        meanwhile, it becomes one memory, with the id of before and the tags of both.
        """
        ...

    def drop(self, until: datetime | None, /) -> int:
        """Remove for good what can be taken back until this time, or all of it; return how many memories went."""
        ...
