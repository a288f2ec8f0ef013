"""Wakes a thread that waits.

A lock of Python wakes a thread while the caller still holds the interpreter, so on a busy machine both can stall for
milliseconds. Writing to a pipe releases the interpreter first.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress
from weakref import finalize


class Bell:
    """A pipe that one thread rings, and another one waits for; it is closed when neither has it any more."""

    def __init__(self) -> None:
        self._heard, self._rung = os.pipe()
        os.set_blocking(self._heard, False)
        os.set_blocking(self._rung, False)
        self._poll = select.poll()
        self._poll.register(self._heard, select.POLLIN)
        # No thread could tell whether another one still rings it, and its number may be that of another file then.
        finalize(self, _close, self._heard, self._rung).atexit = False

    def ring(self) -> None:
        """Wake who waits, or who waits next."""
        with suppress(BlockingIOError):  # it has been rung thousands of times already
            os.write(self._rung, b"\0")

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is rung, for so many seconds at most."""
        if self._poll.poll(None if seconds is None else 1000 * seconds):
            with suppress(BlockingIOError):  # another thread was faster
                os.read(self._heard, 4096)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
