"""Models in memory: read by the first text, let go when no text has come for a while."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

Read = TypeVar("Read")


class Computing:
    """One computation at a time, and the time of the last: ``with computing:`` around all that uses a model.

    Two at a time would need twice the memory and be no faster. What functions made ``kept`` have read is let go after
    ``minutes`` without a computation, never during one; 0 keeps it for good. A forked child keeps what its parent had
    read.
    """

    def __init__(self, minutes: float = 15.0) -> None:
        self._seconds = 60 * minutes
        self._used = monotonic()
        self._caches: list[_lru_cache_wrapper[Any]] = []
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start without threads, as a new object does and a forked child."""
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            if arrays := sys.modules.get("jupyter_memory.embedders.runtime.mlx"):
                arrays.own_stream()
        except BaseException:  # Ctrl-C may come here, too, and what is not entered is not left
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._used = monotonic()
            self._watch()
        finally:
            self._lock.release()

    def kept(self, read: Callable[..., Read], most: int = 1) -> _lru_cache_wrapper[Read]:
        """Keep the last things a function has read; ``cache_clear()`` of what is returned lets go of them at once."""
        cached = lru_cache(maxsize=most)(read)
        self._caches.append(cached)
        return cached

    def release_after(self, minutes: float) -> None:
        """Let models go after so many minutes without a computation, all of this process; 0 keeps them for good."""
        with self._lock:
            if self._seconds == 60 * minutes:
                return
            self._seconds = 60 * minutes
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._watch()

    def release(self) -> None:
        """Let the models go, as soon as the computation that is going on has ended."""
        with self._lock:
            self._let_go()

    def _watch(self) -> None:
        """Look again when the models may go; one timer is enough, and it keeps no program from ending."""
        if self._seconds and self._timer is None:
            self._timer = threading.Timer(max(0.0, self._used + self._seconds - monotonic()), self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._lock:
            # Another may have taken its place while it waited for the lock.
            if self._timer is threading.current_thread():
                self._timer = None
                if monotonic() - self._used >= self._seconds:
                    self._let_go()
                else:
                    self._watch()

    def _let_go(self) -> None:
        if not any(cache.cache_info().currsize for cache in self._caches):
            return
        # Whoever has read a model has loaded MLX; the settings of a store that only looks up words must not.
        from jupyter_memory.embedders.runtime.mlx import mx

        for cache in self._caches:
            cache.cache_clear()
        # A compiled graph and its model hold each other.
        gc.collect()
        mx.clear_cache()


computing = Computing()
