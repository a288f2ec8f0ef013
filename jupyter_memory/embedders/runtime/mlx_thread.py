"""The one thread in which MLX computes: it keeps streams, each with a thread of its own, for every thread that uses it.

Notebooks, servers and watchers start threads for a moment, and MLX would never end what it has opened for them.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from functools import partial, wraps
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Done = TypeVar("Done")

# A batch takes less. A program that ends in the middle of one waits so long, in seconds, and no longer.
_PATIENCE = 5.0


class _Job:
    """A call that waits for the thread, and then has a result or an error."""

    __slots__ = ("done", "error", "result", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        # A lock, as an event takes twice as long to make and to wait for.
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.result = self.work()
        except BaseException as error:  # noqa: BLE001  it is the caller's, whatever it is
            self.error = error
        finally:
            self.done.release()


class Worker:
    """A thread that runs calls one after another; it begins with the first one, and again in a forked child.

    A caller may be interrupted while it waits: the call is run to its end, and what it returns is dropped. So calls
    should be short, and own what they write to.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._begin()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start without a thread, as a new object does and a forked child."""
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def run(self, work: Callable[[], Done]) -> Done:
        """Return what ``work`` returns in the thread, or raise what it raises; at once if this is the thread."""
        thread = self._thread or self._started()
        if thread is threading.current_thread():
            return work()
        job = _Job(work)
        self._jobs.put(job)
        job.done.acquire()
        if job.error is None:
            found: Done = job.result
            return found
        try:
            raise job.error
        finally:
            # The error's traceback holds this frame.
            del job

    def _started(self) -> threading.Thread:
        with self._starting:
            if self._thread is None:
                # A queue of its own: a start that was interrupted may have left a thread that waits at the other.
                self._jobs = SimpleQueue()
                # No program waits for it to end.
                thread = threading.Thread(target=self._work, args=(self._jobs,), name=self._name, daemon=True)
                thread.start()
                self._thread = thread
            return self._thread

    @staticmethod
    def _work(jobs: SimpleQueue[_Job]) -> None:
        while True:
            jobs.get().run()

    def _end(self) -> None:
        """Wait for a call that somebody gave up: a thread that is stopped within MLX would crash the program."""
        if self._thread is not None and self._thread is not threading.current_thread():
            last = _Job(lambda: None)
            self._jobs.put(last)
            last.done.acquire(timeout=_PATIENCE)


_worker = Worker("jupyter_memory.mlx")


def in_mlx_thread(function: Callable[Given, Done]) -> Callable[Given, Done]:
    """Decorate a function that computes with MLX: wherever it is called, it runs in MLX's thread.

    What it returns must be computed, not only described: another thread cannot finish it.
    """

    @wraps(function)
    def handed_over(*args: Given.args, **kwargs: Given.kwargs) -> Done:
        return _worker.run(partial(function, *args, **kwargs))

    return handed_over
