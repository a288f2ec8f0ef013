"""A lock that a forked child finds open, whoever held it in the parent."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

_ALL: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """A lock for ``with`` blocks; what it guards must be whole at every step, since a fork may come between two."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _ALL.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def _open_all() -> None:
    for lock in list(_ALL):
        lock._lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # where there is no fork, nothing is to be done
    os.register_at_fork(after_in_child=_open_all)
