"""One execution of a cell: what ran, when, where, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Outcome = Literal["ok", "error", "unknown"]


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
