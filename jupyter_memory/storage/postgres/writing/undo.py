"""Forgetting on a server is for good: nothing is kept that could be taken back."""

from __future__ import annotations

from datetime import datetime

from jupyter_memory.types.report import Undoable


class NothingForgotten:
    """What can be taken back of a store that keeps nothing; `storage.base.Forgotten` says what each method does."""

    def pending(self, space: str, /) -> list[Undoable]:
        return []

    def undo(self, space: str, /) -> int:
        return 0

    def drop(self, until: datetime | None, /) -> int:
        return 0
