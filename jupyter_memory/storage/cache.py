"""A cache for values of one version of a store, and a lock that is open in a forked child."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_ALL: weakref.WeakSet[Lock] = weakref.WeakSet()


class Cache(Generic[Key, Value]):
    """Values by key that hold for one version of the store; safe to share between threads, and after a fork.

    A value of another version is never returned; the first value of another version takes the place of all others. Of
    more than ``most`` the least recently used go first: ``size`` says how much each value counts.
    """

    def __init__(self, most: int, size: Callable[[Value], int] = lambda _: 1) -> None:
        self._most = most
        self._size_of = size
        self._version = ""
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    @property
    def room(self) -> int:
        """Return how much can be kept before anything goes."""
        return self._most - self._size

    def get(self, version: str, key: Key) -> Value | None:
        """Return the value of a key, None where none is cached for this version."""
        with self._lock:
            if version != self._version or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, version: str, key: Key, value: Value) -> None:
        """Keep a value."""
        with self._lock:
            if version != self._version:
                self._values, self._size, self._version = OrderedDict(), 0, version
            replaced = self._values.pop(key, None)
            self._size += self._size_of(value) - (0 if replaced is None else self._size_of(replaced))
            self._values[key] = value
            # A fork between two of these lines leaves its child a size that is too large, until the next version.
            while self._size > self._most and self._values:
                self._size -= self._size_of(self._values.popitem(last=False)[1])

    def of(self, version: str, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made and cached if there is none."""
        value = self.get(version, key)
        if value is None:
            value = make()
            self.put(version, key, value)
        return value


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
