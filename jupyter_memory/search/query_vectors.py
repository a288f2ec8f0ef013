"""The vector of a query: from the store if it was asked before, else from the embedder."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders import checked
from jupyter_memory.errors import StoreError
from jupyter_memory.protocols import Embedder, Vectors
from jupyter_memory.storage.base import QueryVector, Storage

# Vectors that wait to be written: more only while the store is busy, and then the oldest are let go.
_WAITING = 32


class QueryVectors:
    """The query vectors of one store; safe to share between threads."""

    def __init__(self, storage: Storage, settings: JupyterMemory) -> None:
        self._storage = storage
        self._settings = settings
        self._waiting: deque[QueryVector] = deque(maxlen=_WAITING)

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """Return float32 ``(dimensions,)``; writes nothing.

        Raises:
            EmbedderError: the model cannot run here, or gives no vector that can be compared.
        """
        # An embedder that says so is quicker than looking it up.
        if not self._settings.cache_queries or checked.is_quick(embedder):
            return checked.question(embedder, text)
        with self._storage.snapshot() as snapshot:
            stored = snapshot.query_vector(embedder.fingerprint, text)
        vector, is_ageing = (checked.question(embedder, text), True) if stored is None else stored
        if is_ageing:
            self._waiting.append(QueryVector(embedder.fingerprint, text, vector))
        return vector

    def settle(self) -> None:
        """Write what was computed, once its answer is made; what a busy or full store does not take is left out.

        Switched off by the setting, the cache is emptied instead.
        """
        if not self._storage.writes_at_once:
            self._waiting.clear()
        elif not self._settings.cache_queries:
            self._waiting.clear()
            self._empty()
        elif self._waiting:
            self._write()

    def _write(self) -> None:
        with suppress(StoreError):
            self._storage.writer.keep_query_vectors(self._taken())

    def _taken(self) -> Iterator[QueryVector]:
        while self._waiting:
            yield self._waiting.popleft()

    def _empty(self) -> None:
        with self._storage.snapshot() as snapshot:
            stored = snapshot.has_query_vectors()
        if stored:
            with suppress(StoreError):
                self._storage.writer.clear_query_vectors()
