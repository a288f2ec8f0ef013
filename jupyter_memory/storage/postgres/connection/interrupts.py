"""Interrupting a thread that reads: its current statement, and the later ones of the same transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from jupyter_memory.storage.cache import Lock


class Stoppable:
    """One transaction that reads, which another thread may stop."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self.stopped = False

    def stop(self) -> None:
        """Cancel the running statement, and every later one."""
        self.stopped = True
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=5.0)

    def check(self) -> None:
        """Refuse the next statement of a transaction that was stopped between two of them."""
        if self.stopped:
            raise psycopg.errors.QueryCanceled


class Interrupts:
    """The reading transactions of one store's threads, each registered from its beginning to its end.

    A stop holds the lock until the server has got the request: one that comes late finds nothing, and never reaches
    what the thread does next.
    """

    def __init__(self) -> None:
        self._reading: dict[int, Stoppable] = {}
        self._lock = Lock()

    @contextmanager
    def open_to(self, connection: psycopg.Connection) -> Iterator[Stoppable]:
        """Let other threads stop what this one reads within."""
        thread, reading = threading.get_ident(), Stoppable(connection)
        with self._lock:
            self._reading[thread] = reading
        try:
            yield reading
        finally:
            with self._lock:
                self._reading.pop(thread, None)

    def stop(self, thread: int) -> bool:
        """Stop what a thread is reading; return whether it was reading anything."""
        with self._lock:
            reading = self._reading.get(thread)
            if reading is not None:
                reading.stop()
        return reading is not None
