"""The vector of a query: from the store if it was asked before, else from the embedder."""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders import checked
from jupyter_memory.errors import StoreError
from jupyter_memory.storage.base import QueryVector, Storage
from jupyter_memory.types.protocols import Embedder, Vectors

# Vectors that wait to be written: more only while the store is busy, and then the oldest are dropped.
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
            kept = snapshot.query_vector(embedder.fingerprint, text)
        vector, ageing = (checked.question(embedder, text), True) if kept is None else kept
        if ageing:
            self._waiting.append(QueryVector(embedder.fingerprint, text, vector))
        return vector

    def flush(self) -> None:
        """Write what was computed, once its answer is made; what a busy or full store does not take is left out.

        If the setting is off, the stored vectors are removed instead.
        """
        if not self._storage.writes_at_once:
            self._waiting.clear()
        elif not self._settings.cache_queries:
            self._waiting.clear()
            self._empty()
        elif self._waiting:
            waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
            try:
                self._storage.writer.keep_query_vectors(waiting)
            except StoreError:
                self._waiting.extendleft(reversed(waiting))

    def _empty(self) -> None:
        with self._storage.snapshot() as snapshot:
            stored = snapshot.has_query_vectors()
        if stored:
            with suppress(StoreError):
                self._storage.writer.clear_query_vectors()
