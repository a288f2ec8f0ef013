"""Interrupting a thread that reads: its current statement, and the later ones of the same transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import apsw

from jupyter_memory.storage.cache import Lock

# SQLite's instructions between two checks whether somebody stopped the statement, some 50 ms: a check needs the GIL,
# and may have to wait until another thread releases it.
_INSTRUCTIONS = 1_000_000


class Interrupts:
    """The reading transactions of one store's threads, each of which another thread may stop.

    A transaction is registered from its beginning to its end, under a lock: a stop that comes too late finds nothing,
    and never affects what the thread does next.
    """

    def __init__(self) -> None:
        self._reading: dict[int, _Reading] = {}
        self._lock = Lock()

    @contextmanager
    def open_to(self, connection: apsw.Connection) -> Iterator[None]:
        """Let other threads stop what this one reads within.

        Raises:
            apsw.InterruptError: somebody did.
        """
        thread, reading = threading.get_ident(), _Reading(connection)
        with self._lock:
            self._reading[thread] = reading
        connection.exec_trace = reading.check
        connection.set_progress_handler(reading.is_over, _INSTRUCTIONS)
        try:
            yield
        except apsw.Error:
            # An interrupted statement that is being prepared fails with any error.
            if reading.stopped:
                raise apsw.InterruptError("interrupted") from None
            raise
        finally:
            # First the lock: from here on nobody can stop the thread's next steps.
            with self._lock:
                self._reading.pop(thread, None)
            with suppress(apsw.ConnectionClosedError):
                connection.exec_trace = None
                connection.set_progress_handler(None)

    def stop(self, thread: int) -> bool:
        """Stop what a thread is reading; return whether it was reading anything."""
        with self._lock:
            reading = self._reading.get(thread)
            if reading is not None:
                reading.stop()
        return reading is not None


class _Reading:
    """One transaction that reads."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True
        with suppress(apsw.ConnectionClosedError):
            self._connection.interrupt()

    def is_over(self) -> bool:
        """Return whether it was stopped: SQLite forgets an interruption that came before a statement's first step."""
        return self.stopped

    def check(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        """Let a statement begin, unless the transaction was stopped between two of them."""
        if self.stopped:
            raise apsw.InterruptError("interrupted")
        return True
