"""Models in memory: all of MLX in one thread, one computation at a time, released when idle."""

from __future__ import annotations

import atexit
import gc
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import lru_cache, partial, wraps
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

Given = ParamSpec("Given")
Done = TypeVar("Done")

# A batch takes less. A program that ends or forks in the middle of one waits so long, in seconds, and no longer.
_PATIENCE = 5.0


class _Worker:
    # A thread that runs calls one after another; it begins with the first one, and again in a forked child. A caller
    # may be interrupted while it waits: the call is run to its end, so it should be short, and own what it writes to.
    #
    # A fork waits for the calls that were asked for before it, and those that are asked for meanwhile wait for the
    # fork: a child would never get a lock that a call holds, be it MLX's or that of a module that is imported.

    def __init__(self) -> None:
        self._begin()
        # A thread that is stopped within MLX would crash the program: it ends its call and begins no other.
        atexit.register(lambda: self._park(threading.Event()))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork, after_in_parent=self._go_on, after_in_child=self._begin)

    def _begin(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._starting = threading.Lock()
        self._forked = threading.Event()
        self._thread: threading.Thread | None = None

    def _before_fork(self) -> None:
        self._starting.acquire()
        self._forked = threading.Event()
        self._park(self._forked)

    def _go_on(self) -> None:
        self._forked.set()
        self._starting.release()

    def run(self, work: Callable[[], Done]) -> Done:
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    # A queue of its own: a start that was interrupted may have left a thread that waits at the other.
                    self._jobs = SimpleQueue()
                    # No program waits for it to end.
                    thread = threading.Thread(
                        target=self._work, args=(self._jobs,), name="jupyter_memory.mlx", daemon=True
                    )
                    thread.start()
                    self._thread = thread
        if self._thread is threading.current_thread():
            return work()
        found: Future[Done] = Future()
        self._jobs.put((found, work))
        try:
            return found.result()
        finally:
            # An error's traceback holds this frame.
            del found

    @staticmethod
    def _work(jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]]) -> None:
        while True:
            found, work = jobs.get()
            try:
                found.set_result(work())
            except BaseException as error:  # noqa: BLE001  it is the caller's, whatever it is
                found.set_exception(error)
            # Until the next call, nothing holds what this one had.
            del found, work

    def _park(self, until: threading.Event) -> None:
        if self._thread is not None and self._thread is not threading.current_thread():
            parked = threading.Event()

            def park() -> None:
                parked.set()
                until.wait()

            self._jobs.put((Future(), park))
            parked.wait(_PATIENCE)


_worker = _Worker()


def in_mlx_thread(function: Callable[Given, Done]) -> Callable[Given, Done]:
    """Decorate a function that computes with MLX: wherever it is called, it runs in MLX's thread.

    What it returns must be computed, not only described: another thread cannot finish it.
    """

    @wraps(function)
    def handed_over(*args: Given.args, **kwargs: Given.kwargs) -> Done:
        return _worker.run(partial(function, *args, **kwargs))

    return handed_over


class Computing:
    """Lets one computation run at a time, as two would be no faster, and releases models after idle minutes.

    It is a context manager around every use; 0 ``minutes`` keep them. A forked child keeps what its parent had loaded.
    """

    def __init__(self, minutes: float = 15.0) -> None:
        self._seconds = 60 * minutes
        self._used = monotonic()
        self._caches: list[_lru_cache_wrapper[Any]] = []
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
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

    def kept(self, read: Callable[..., Done], most: int = 1) -> _lru_cache_wrapper[Done]:
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
