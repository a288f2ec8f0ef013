"""How long models stay in memory: the first text loads them, and they are released after some idle minutes."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

Read = TypeVar("Read")


class Computing:
    """Lets one computation run at a time, and releases models that are idle: ``with computing:`` around every use.

    Two at a time would need twice the memory and be no faster. Functions decorated with ``kept`` load the models, which
    are released after ``minutes`` without a computation, never during one; 0 keeps them. A forked child keeps what its
    parent had loaded.
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

    def __exit__(self, *_: object) -> None:
        try:
            self._used = monotonic()
            self._watch()
        finally:
            self._lock.release()

    def kept(self, read: Callable[..., Read], most: int = 1) -> _lru_cache_wrapper[Read]:
        """Decorate a function that loads a model: its last ``most`` results are kept until the models are released."""
        cached = lru_cache(maxsize=most)(read)
        self._caches.append(cached)
        return cached

    def release_after(self, minutes: float) -> None:
        """Release all models of this process after so many idle minutes; 0 keeps them."""
        with self._lock:
            if self._seconds == 60 * minutes:
                return
            self._seconds = 60 * minutes
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._watch()

    def release(self) -> None:
        """Release the models now, or as soon as the current computation has ended."""
        with self._lock:
            self._release()

    def _watch(self) -> None:
        """Start the timer that looks whether models are idle; one is enough, and no program waits for it."""
        if self._seconds and self._timer is None:
            self._timer = threading.Timer(max(0.0, self._used + self._seconds - monotonic()), self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._lock:
            # Another timer may have replaced this one while it waited for the lock.
            if self._timer is threading.current_thread():
                self._timer = None
                if monotonic() - self._used >= self._seconds:
                    self._release()
                else:
                    self._watch()

    def _release(self) -> None:
        if not any(cache.cache_info().currsize for cache in self._caches):
            return
        for cache in self._caches:
            cache.cache_clear()
        # A compiled graph and its model hold each other.
        gc.collect()
        clear_cache()


@in_mlx_thread
def clear_cache() -> None:
    """Return to the system what MLX keeps of the arrays that are gone."""
    # MLX is loaded if a model is. A store that searches only words must not load it.
    import mlx.core

    mlx.core.clear_cache()


computing = Computing()
