"""Wakes a thread that waits.

A lock of Python wakes a thread while the caller still holds the interpreter, so on a busy machine both can stall for
milliseconds. Writing to a pipe releases the interpreter first.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress
from weakref import finalize


class WakeupPipe:
    """A pipe that one thread writes to, to wake another one that waits; it is closed when neither has it any more."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self._poll = select.poll()
        self._poll.register(self._read_end, select.POLLIN)
        # Neither thread knows when the other one is done with it, and a closed descriptor may soon be another file's.
        finalize(self, _close, self._read_end, self._write_end).atexit = False

    def wake(self) -> None:
        """Wake the thread that waits, or that waits next."""
        with suppress(BlockingIOError):  # the pipe is full, so the other thread will wake anyway
            os.write(self._write_end, b"\0")

    def wait(self, seconds: float | None = None) -> None:
        """Wait until another thread wakes this one, for so many seconds at most."""
        if self._poll.poll(None if seconds is None else 1000 * seconds):
            with suppress(BlockingIOError):  # another thread was faster
                os.read(self._read_end, 4096)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
