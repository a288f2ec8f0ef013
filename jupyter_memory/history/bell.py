"""Wakes a thread that waits.

Python's own locks wake a thread that then waits for the interpreter, which the one who woke it still holds. On a busy
machine both may lose their processor over that, for milliseconds. Writing to a pipe gives up the interpreter first.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress


class Bell:
    """A pipe that one thread rings, and another one waits for."""

    def __init__(self) -> None:
        self._heard, self._rung = os.pipe()
        os.set_blocking(self._heard, False)
        os.set_blocking(self._rung, False)
        self._poll = select.poll()
        self._poll.register(self._heard, select.POLLIN)

    def ring(self) -> None:
        """Wake who waits, or who waits next."""
        with suppress(BlockingIOError):  # it has been rung thousands of times already
            os.write(self._rung, b"\0")

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is rung, for so many seconds at most."""
        if self._poll.poll(None if seconds is None else 1000 * seconds):
            with suppress(BlockingIOError):  # another thread was faster
                os.read(self._heard, 4096)

    def close(self) -> None:
        """Give up the pipe."""
        os.close(self._heard)
        os.close(self._rung)
