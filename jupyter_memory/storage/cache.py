"""What searches keep of a store from one to the next: one class, and what tells two states of the store apart.

There are two such states. ``version`` differs between any two states of the chunks and their index. ``removals``
stays the same while chunks are only added, so that what was read of the others can be extended instead of read anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import apsw

from jupyter_memory.storage.locks import Lock

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def version(connection: apsw.Connection) -> str:
    """Return what differs between any two states of the keyword index, and with it of the chunks."""
    # FTS5 writes its averages (1) and its structure (10) anew with every change. An index built anew may look just
    # like an earlier one, so rebuilding counts as a removal.
    return str(
        connection.execute(
            """
            select group_concat(part) from (
                select hex(block) as part from keyword_data where id in (1, 10)
                union all select value from counters where name = 'removals'
            )
            """
        ).get
    )


def removals(connection: apsw.Connection) -> str:
    """Return what differs between two states of the store unless chunks were only added in between."""
    return str(connection.execute("select value from counters where name = 'removals'").get)


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
        """Return the value of a key, None where none is kept for this version."""
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
        """Return the value of a key, made and kept if there is none."""
        value = self.get(version, key)
        if value is None:
            value = make()
            self.put(version, key, value)
        return value
