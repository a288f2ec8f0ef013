"""Publishes the progress of jobs and changes of files as events of the server; events hold counts only."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_events import EventLogger

    from jupyter_memory.server.jobs import Job

SCHEMA = "https://jupyter-memory.readthedocs.io/events/index/v1"
CHANGES = "https://jupyter-memory.readthedocs.io/events/changes/v1"
_FILES = [Path(__file__).parent / "schemas" / name for name in ("event-index.yaml", "event-changes.yaml")]
# Seconds between two events of one job whose state is the same.
_BETWEEN = 0.25


class EventPublisher:
    """Publishes events from any thread, in the loop of the server."""

    def __init__(self, events: EventLogger | None) -> None:
        self._events = events
        self._last: dict[str, tuple[str, float]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        if events is not None:
            for file in _FILES:
                events.register_event_schema(file)

    def job_changed(self, job: Job) -> None:
        """Publish how far a job is: each change of its state, its counts up to four times a second."""
        now = monotonic()
        state, at = self._last.get(job.job_id, ("", 0.0))
        if job.state == state and now - at < _BETWEEN:
            return
        self._last[job.job_id] = (job.state, now)
        if job.is_over:
            del self._last[job.job_id]
        self._publish(SCHEMA, {"job_id": job.job_id, "phase": job.state, "done": job.done, "total": job.total})

    def files_changed(self, changes: int) -> None:
        """Publish that the store holds changes of files that the server was notified of."""
        self._publish(CHANGES, {"changes": changes})

    def _publish(self, schema: str, data: dict[str, object]) -> None:
        if self._events is None or self.loop is None or self.loop.is_closed():
            return
        # Listeners are tasks of the loop: an event can only be made there.
        with suppress(RuntimeError):  # it was closed this moment
            self.loop.call_soon_threadsafe(lambda: self._emit(schema, data))

    def _emit(self, schema: str, data: dict[str, object]) -> None:
        if self._events is not None:
            self._events.emit(schema_id=schema, data=data)
