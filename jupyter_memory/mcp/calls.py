"""The record of what connected programs called, among the recent searches of a store."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from jupyter_memory.types.report import Recent

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore

_LONGEST = 500
# Calls that wait for a busy store; more are not expected while another program holds its lock.
_WAITING = 1_000


@dataclass(slots=True)
class Call:
    """One call of a tool while it is answered: what it is about, and the memories that the program was shown."""

    client: str
    tool: str
    about: str = ""
    shown: list[str] = field(default_factory=list)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def noted(self) -> Recent:
        """Return the call as it is noted."""
        return Recent(
            uuid4().hex, self.about[:_LONGEST], "auto", self.at, "mcp", len(self.shown), self.client, self.tool
        )


class CallLog:
    """Notes every call in the store; what a busy store does not take waits for the next call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Recent, list[str]]] = deque(maxlen=_WAITING)

    def note(self, store: MemoryStore, call: Call) -> None:
        """Note a call, and those before it that the store was too busy for."""
        self._waiting.append((call.noted, list(call.shown)))
        with self._lock:
            while self._waiting:
                noted, shown = self._waiting[0]
                if not store.note_call(replace(noted), shown):
                    return
                self._waiting.popleft()
