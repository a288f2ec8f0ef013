"""Which embedder a store uses: the one it was written with, as long as nobody asks for another."""

from __future__ import annotations

from jupyter_memory.embedders import open_embedder
from jupyter_memory.errors import EmbedderError, EmbeddingMismatch
from jupyter_memory.protocols import Embedder
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import Model, VectorIndex, mismatch


class StoreModel:
    """The embedder of one store, opened on first use.

    ``wanted`` is a name, an embedder, ``"auto"`` (the model that the store was written with, else the default), or
    None for a store that is searched by words alone.
    """

    def __init__(
        self,
        database: Database,
        vectors: VectorIndex,
        wanted: str | Embedder | None,
        dimensions: int | None = None,
    ) -> None:
        self._database = database
        self._vectors = vectors
        self._wanted = wanted
        self._dimensions = dimensions
        self._embedder: Embedder | None = None

    def embedder(self) -> Embedder | None:
        """Return the embedder that was asked for, whatever the store was written with.

        Raises:
            EmbedderError: it is unknown, or cannot run here.
        """
        if self._embedder is None and self._wanted is not None:
            self._embedder = self._open()
        return self._embedder

    def for_writing(self) -> Embedder | None:
        """Return the embedder for new chunks.

        Raises:
            EmbeddingMismatch: the store holds the vectors of another model.
        """
        embedder, active = self.embedder(), self._active()
        if embedder is not None and active is not None and active.fingerprint != embedder.fingerprint:
            raise EmbeddingMismatch(mismatch(active, embedder))
        return embedder

    def for_searching(self) -> tuple[Embedder | None, tuple[str, ...]]:
        """Return the embedder for queries, or None with a notice that says why only words are searched."""
        active = self._active()
        if self._wanted is None or active is None:
            return None, ()
        try:
            embedder = self.embedder()
        except EmbedderError as error:
            return None, (str(error),)
        if embedder is not None and active.fingerprint != embedder.fingerprint:
            return None, (mismatch(active, embedder),)
        return embedder, ()

    def _open(self) -> Embedder:
        active = self._active()
        if self._wanted == "auto" and active is not None:
            return open_embedder(active.name, dimensions=active.dimensions)
        return open_embedder(self._wanted, dimensions=self._dimensions)

    def _active(self) -> Model | None:
        with self._database.read() as connection:
            return self._vectors.active(connection)
