"""The vector of a query: from the store if it was asked before, else from the embedder."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import NamedTuple

from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders import checked
from jupyter_memory.errors import StoreError
from jupyter_memory.protocols import Embedder, Vectors
from jupyter_memory.storage import query_cache
from jupyter_memory.storage.sqlite import Database

# Vectors that wait to be written: more only while the store is busy, and then the oldest are let go.
_WAITING = 32


class _Asked(NamedTuple):
    fingerprint: str
    text: str
    vector: Vectors


class QueryVectors:
    """The query vectors of one store; safe to share between threads."""

    def __init__(self, database: Database, settings: JupyterMemory) -> None:
        self._database = database
        self._settings = settings
        self._waiting: deque[_Asked] = deque(maxlen=_WAITING)

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """Return float32 ``(dimensions,)``; writes nothing.

        Raises:
            EmbedderError: the model cannot run here, or gives no vector that can be compared.
        """
        # An embedder that says so is quicker than looking it up.
        if not self._settings.cache_queries or checked.is_quick(embedder):
            return checked.question(embedder, text)
        with self._database.read() as connection:
            kept = query_cache.get(connection, embedder.fingerprint, text)
        vector = checked.question(embedder, text) if kept is None else kept.vector
        if kept is None or kept.ageing:
            self._waiting.append(_Asked(embedder.fingerprint, text, vector))
        return vector

    def settle(self) -> None:
        """Write what was computed, once its answer is made; what a busy or full store does not take is left out.

        Switched off by the setting, the cache is emptied instead.
        """
        if not self._database.writes_at_once:
            self._waiting.clear()
        elif not self._settings.cache_queries:
            self._waiting.clear()
            self._empty()
        elif self._waiting:
            self._write()

    def _write(self) -> None:
        with suppress(StoreError), self._database.write_at_once() as connection:
            while self._waiting:
                query_cache.put(connection, *self._waiting.popleft())

    def _empty(self) -> None:
        with self._database.read() as connection:
            empty = query_cache.is_empty(connection)
        if not empty:
            with suppress(StoreError), self._database.write_at_once() as connection:
                query_cache.clear(connection)
