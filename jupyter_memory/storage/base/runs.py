"""The history of a store: what its user ran, a row for each run, and a memory of kind history for each text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from jupyter_memory.storage.base.values import Prepared
from jupyter_memory.types import Draft, Outcome, Run
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import HistoryStatus


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to read: those that fit everything that is given, in the space if it is not empty.

    ``after`` and ``before`` bound the start: ``after < started < before``.
    """

    space: str = ""
    error: str | None = None
    outcome: Outcome | None = None
    session: str | None = None
    notebook: str | None = None
    memory_id: str | None = None
    after: datetime | None = None
    before: datetime | None = None


class Noted(NamedTuple):
    """What noting runs did: how many were new or got their outcome, and the places of those without a text."""

    changed: int
    left: Sequence[int]


class RunLog(Protocol):
    """What a store holds of the history. Each method is one transaction."""

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        """Return for each draft whether history has a memory of its text, in its space."""
        ...

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        """Note runs, each with the draft of its text; ``fresh`` has the texts that the store may lack.

        A run is known by session, number and start: one that was noted without an outcome gets it, and otherwise
        stays as it is. A memory keeps its id, pin and tags when its text runs again, and its metadata tell of all its
        runs. A run whose text is neither in the store nor in ``fresh``, since somebody forgot it meanwhile, is left.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        ...

    def find(self, wanted: RunFilter, limit: int, /, *, oldest_first: bool = False) -> list[Run]:
        """Return runs with the texts of their memories, the newest first unless asked otherwise."""
        ...

    def numbers(self, session: str, /) -> set[int]:
        """Return the numbers of the runs that are noted of a session."""
        ...

    def status(self, space: str, /) -> HistoryStatus:
        """Return how many runs there are in a space, in the whole store if it is empty."""
        ...

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        """Remove the runs that began before ``since``, and all but the ``most`` newest; return how many went.

        Memories go with the last of their runs. Those with a pin or a tag stay, with all their runs.
        """
        ...
