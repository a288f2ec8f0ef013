"""How often a program may write: so many times in a minute, and in an hour."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jupyter_memory.mcp.errors import ToolError

# Seconds, and how many writes they may see: no agent has that much to say, but one in a loop has.
LIMITS = ((60.0, 20), (3600.0, 200))


class WriteLimit:
    """Counts the writes of one server, whatever its clients call themselves."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._times: deque[float] = deque(maxlen=max(most for _, most in LIMITS))

    @contextmanager
    def one_write(self) -> Iterator[None]:
        """Count what is done within as one write, unless it fails.

        Raises:
            ToolError: there were too many; it says when there may be another one.
        """
        taken = self._take()
        try:
            yield
        except BaseException:
            with self._lock:
                self._times.remove(taken)
            raise

    def _take(self) -> float:
        with self._lock:
            now, times = self._clock(), list(self._times)
            for seconds, most in LIMITS:
                first = times[-most] if len(times) >= most else None
                if first is not None and (wait := first + seconds - now) > 0:
                    every = "a minute" if seconds == 60 else "an hour"
                    raise ToolError(
                        f"Nothing was changed: at most {most} changes in {every}. Try again in {round(wait) + 1} s."
                    )
            self._times.append(now)
            return now
