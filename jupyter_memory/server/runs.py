"""What the panel is told of the history: the runs of one text, and whether kernels record theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_memory.storage.journal import recording

if TYPE_CHECKING:
    from jupyter_memory.text.paths import StorePath
    from jupyter_memory.types import Memory
    from jupyter_memory.types.report import HistoryStatus


def run_of(memory: Memory) -> dict[str, Any]:
    """Return how often a text of the history ran, and how the last run ended, as ``IRun``.

    An entry that somebody added by hand may tell anything of itself, or nothing: then it ran once.
    """
    told = memory.metadata
    count = told.get("runs")
    return {
        "count": count if isinstance(count, int) and count > 0 else 1,
        "first": _text(told.get("first_run")) or None,
        "last": memory.event_at.isoformat(),
        "outcome": memory.outcome,
        "error": memory.error,
        "environment": _text(told.get("environment")),
    }


def history(store: StorePath, held: HistoryStatus | None) -> dict[str, Any]:
    """Return how many kernels record for a store, and what it holds of the history, as ``IHistory``."""
    since = None if held is None else held.since
    return {
        "kernels": recording(store),
        "runs": 0 if held is None else held.runs,
        "texts": 0 if held is None else held.texts,
        "since": None if since is None else since.isoformat(),
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
