"""A bounded pool of connections, made by the thread that needs one: no thread of its own, and safe to fork.

A pool with workers in the background answers "timeout" where the server says what is wrong, and a forked kernel child
has no such workers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from jupyter_memory.errors import StoreClosed, StoreLocked

Begun = TypeVar("Begun")

# Connections of a parent process are never closed here, since that would end the parent's sessions.
_PARENTS: list[psycopg.Connection] = []


class Pool:
    """Up to ``most`` connections at a time; one that fails is closed, the others wait for the next caller."""

    def __init__(self, connect: Callable[[], psycopg.Connection], most: int, patience: float) -> None:
        self._connect = connect
        self._most = most
        self._patience = patience
        self._closed = False
        self._begin()

    @contextmanager
    def connection(self, begin: Callable[[psycopg.Connection], Begun]) -> Iterator[tuple[psycopg.Connection, Begun]]:
        """Lend a connection in which ``begin`` began what the caller does, with what ``begin`` returned.

        A connection whose server went away while nobody used it is replaced by a new one.

        Raises:
            StoreLocked: all of them were in use for too long.
            StoreClosed: the store was closed.
        """
        if self._pid != os.getpid():
            _PARENTS.extend(self._idle)
            self._begin()
        free = self._free
        if not free.acquire(timeout=self._patience):
            raise StoreLocked(f"All {self._most} connections of this process to the store are in use. Try again.")
        try:
            connection, begun = self._begun(begin)
            try:
                yield connection, begun
            finally:
                self._give_back(connection)
        finally:
            free.release()

    def forget_idle(self) -> None:
        """Close the connections that nobody uses: they may be of a server that has gone."""
        with self._lock:
            idle = list(self._idle)
            self._idle.clear()
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close the pool; a connection in use is closed when it is given back."""
        self._closed = True
        if self._pid == os.getpid():
            self.forget_idle()

    def _begun(self, begin: Callable[[psycopg.Connection], Begun]) -> tuple[psycopg.Connection, Begun]:
        waiting = self._waiting()
        if waiting is not None:
            try:
                return waiting, begin(waiting)
            except psycopg.OperationalError:
                if not waiting.closed:
                    waiting.close()
                    raise
            self.forget_idle()
        connection = self._connect()
        try:
            return connection, begin(connection)
        except BaseException:
            # Whatever ended it, also Ctrl-C: nobody else has this connection.
            connection.close()
            raise

    def _waiting(self) -> psycopg.Connection | None:
        with self._lock:
            if self._closed:
                raise StoreClosed("This store was closed. Open it again with open_store() or MemoryStore(path).")
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: psycopg.Connection) -> None:
        idle = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            if idle and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _begin(self) -> None:
        """Start without connections, in a new object or in a forked child."""
        self._pid = os.getpid()
        self._idle: list[psycopg.Connection] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self._most)
