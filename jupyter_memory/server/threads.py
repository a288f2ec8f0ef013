"""Threads for calls that would block the event loop; a call whose result is no longer awaited is stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from jupyter_memory.server.validation import ClientError


class Ticket:
    """One call on its way through a pool; ``drop`` stops it when its result is no longer awaited."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.future: Future[Any] = Future()
        self.dropped = False
        self._call = call
        self._lock = threading.Lock()
        self._thread: int | None = None

    def run(self) -> None:
        with self._lock:
            if not self.future.set_running_or_notify_cancel():
                return
            self._thread = threading.get_ident()
        try:
            try:
                result = self._call()
            finally:
                with self._lock:
                    self._thread = None
        except BaseException as error:  # noqa: BLE001  it is raised again where the answer is awaited
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    async def result(self) -> Any:
        try:
            return await asyncio.wrap_future(self.future)
        except CancelledError:
            raise asyncio.CancelledError from None

    def drop(self, interrupt: Callable[[int], object]) -> None:
        """Take the call out of the queue, or interrupt what its thread is doing."""
        with self._lock:
            self.dropped = True
            self.future.cancel()
            # Within the lock: a thread that has finished this call may already be at work on another.
            if self._thread is not None:
                interrupt(self._thread)


class Pool:
    """A bounded number of threads, started when they are needed, with a bounded queue before them."""

    def __init__(self, threads: int, waiting: int = 256, name: str = "calls") -> None:
        self._name = name
        self._threads = threads
        self._waiting = waiting
        self._queue: SimpleQueue[Ticket | None] = SimpleQueue()
        self._started = 0
        self._alive: list[threading.Thread] = []
        self._idle = 0
        self._unclaimed = 0
        self._closed = False
        self._lock = threading.Lock()

    def put(self, call: Callable[[], Any]) -> Ticket:
        ticket = Ticket(call)
        with self._lock:
            if self._closed:
                raise _stopping()
            if self._queue.qsize() >= self._waiting:
                raise ClientError(
                    503, "The memory is busy: too many requests are waiting. Try again in a moment.", "Busy"
                )
            self._queue.put(ticket)
            if self._idle:
                self._idle -= 1  # spoken for, before it wakes: the next call needs another thread
            elif self._started == self._threads:
                self._unclaimed += 1
            else:
                self._started += 1
                name = f"jupyter-memory-{self._name}-{self._started}"
                # A daemon: a server that is stopped does not wait for a long search.
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._alive.append(thread)
                thread.start()
        return ticket

    @property
    def waiting(self) -> int:
        with self._lock:
            return self._unclaimed

    @property
    def is_busy(self) -> bool:
        with self._lock:
            return self._idle < self._started or not self._queue.empty()

    def close(self, wait: float = 0, interrupt: Callable[[int], object] | None = None) -> None:
        """Take no more calls: those in the line have ``wait`` seconds, and what still runs is interrupted."""
        with self._lock:
            self._closed = True
            self._started = self._idle = self._unclaimed = 0
            threads, self._alive = self._alive, []
            for _ in threads:
                self._queue.put(None)
        until = monotonic() + wait
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
        with suppress(Empty):
            while True:
                ticket = self._queue.get_nowait()
                if ticket is not None and ticket.future.set_running_or_notify_cancel():
                    ticket.future.set_exception(_stopping())
        for thread in threads:
            self._queue.put(None)  # those before may have been taken out with the line
            if interrupt is not None and thread.ident is not None:
                interrupt(thread.ident)

    def _work(self) -> None:
        # Whichever thread wakes takes whichever call is next; that there are as many as calls is all that counts.
        while (ticket := self._queue.get()) is not None:
            ticket.run()
            with self._lock:
                if self._unclaimed:
                    self._unclaimed -= 1
                else:
                    self._idle += 1


def _stopping() -> ClientError:
    return ClientError(503, "The server is stopping.", "Stopping")
