"""One execution of a cell: what ran, when, where, how it ended, and which later one mended it if it failed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from typing import Any, Literal

Outcome = Literal["ok", "error", "unknown"]
FixKind = Literal["history", "cell", "note"]


@dataclass(frozen=True, slots=True)
class RunError:
    """The exception that ended a run: its name and message, and its traceback as plain text, without colours."""

    name: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a cell.

    ``started`` is aware and in UTC; ``seconds`` is how long the run took, None while it is unknown. The outcome is
    "unknown" until the run ends, and for ever if the kernel dies first. ``session`` is the kernel's session, in which
    ``number`` counts the runs from 1. ``notebook`` is a path, ``cell_id`` the id of the cell in it; either is empty
    where the kernel does not know it. ``characters`` is the length of a source that was shortened. ``memory_id`` names
    the memory of its text, once a store has noted the run; until then, ``space`` is the space that it goes into.
    """

    source: str
    started: datetime
    session: str
    number: int
    outcome: Outcome = "unknown"
    seconds: float | None = None
    error: RunError | None = None
    notebook: str = ""
    cell_id: str = ""
    language: str = "python"
    environment: str = ""
    characters: int = 0
    memory_id: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """A run that mended an error: the run that had failed, and how alike its error and the new one are, up to 1.

    Both are of the ``history``, or each is a ``cell`` of a saved notebook. Of a ``note`` that tells of an error,
    ``mended`` has the text, and the source of ``failed`` is empty.
    """

    failed: Run
    mended: Run
    strength: float
    kind: FixKind = "history"

    @property
    def error(self) -> str:
        """Return the error of the run that failed: its name, and the first line of its message."""
        error = self.failed.error
        if error is None:
            return ""
        return ": ".join(part for part in (error.name, error.message.strip().partition("\n")[0]) if part)

    @property
    def diff(self) -> str:
        """Return the difference between the cell that failed and the one that mended it, as a unified diff."""
        if not self.failed.source:
            return ""
        old, new = (run.source.strip("\n").split("\n") for run in (self.failed, self.mended))
        return "\n".join(unified_diff(old, new, "failed", "mended", lineterm=""))

    def to_json(self) -> dict[str, Any]:
        """Return the fix as JSON values."""
        return {
            "memory_id": self.mended.memory_id,
            "failed_id": self.failed.memory_id,
            "error": self.error,
            "strength": self.strength,
            "kind": self.kind,
            "failed": self.failed.source,
            "fix": self.mended.source,
            "diff": self.diff,
            "notebook": self.mended.notebook,
            "when": self.mended.started.isoformat(),
            "lang": self.mended.language,
        }
