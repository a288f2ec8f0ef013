"""A background thread that reads the same state of the store while a search reads something else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

import apsw

from jupyter_memory.errors import StoreError
from jupyter_memory.storage.cache import Lock
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.sql import version

Result = TypeVar("Result")
# Work of a few milliseconds that returns whether there is more of it.
Step = Callable[[apsw.Connection], bool]


class BackgroundReader:
    """Reads part of what a search needs in another thread, while the search reads the rest.

    Between searches the thread does other work in steps, such as caching the scores of frequent words.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._process = 0
        self._threads: ThreadPoolExecutor | None = None
        self._lock = Lock()
        self._searches = 0
        self._turn: object = None

    def begin(self, connection: apsw.Connection, work: Callable[[apsw.Connection], Result]) -> Callable[[], Result]:
        """Begin ``work``, and return what waits for its result.

        The other thread's snapshot may be of another state if somebody wrote in between, or the thread may be busy with
        another search: then the caller's connection does the work.
        """
        state = version(connection)
        begun = self._executor().submit(self._read, state, work)

        def result() -> Result:
            if begun.cancel():
                return work(connection)
            found = begun.result()
            return work(connection) if found is None else found[0]

        return result

    @contextmanager
    def searching(self, afterwards: Callable[[], Step | None]) -> Iterator[None]:
        """Context manager for one search; ``afterwards`` returns the work that the thread does until the next one."""
        with self._lock:
            self._searches += 1
            self._turn = None
        try:
            yield
        finally:
            with self._lock:
                self._searches -= 1
                turn = self._turn = None if self._searches else object()
            if turn is not None and (step := afterwards()) is not None:
                self._go_on(turn, step)

    def close(self) -> None:
        """Let the thread end."""
        self._turn = None
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _go_on(self, turn: object, step: Step) -> None:
        threads = self._threads
        # Only a thread that is there already, in this process, takes steps.
        if threads is not None and self._process == os.getpid():
            with suppress(RuntimeError):
                threads.submit(self._step, turn, step)

    def _step(self, turn: object, step: Step) -> None:
        if self._turn is not turn:
            return
        with suppress(StoreError), self._database.read() as connection:
            more = step(connection)
            if more:
                self._go_on(turn, step)

    def _read(self, state: str, work: Callable[[apsw.Connection], Result]) -> tuple[Result] | None:
        try:
            with self._database.read() as connection:
                return (work(connection),) if version(connection) == state else None
        except StoreError:
            return None  # the caller meets the same error and reports it

    def _executor(self) -> ThreadPoolExecutor:
        # A forked child has no threads.
        if self._threads is None or self._process != os.getpid():
            self._threads, self._process = ThreadPoolExecutor(1, "jupyter-memory-read"), os.getpid()
        return self._threads
