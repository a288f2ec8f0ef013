"""Which embedder a store uses: the one it was written with, unless another is asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from jupyter_memory.embedders import damage, default_name, open_embedder
from jupyter_memory.errors import EmbedderError, EmbedderUnavailable, EmbeddingMismatch, InputError, StoreError
from jupyter_memory.storage.base import Model, mismatch
from jupyter_memory.storage.writing import Storage
from jupyter_memory.store.models.offer import offer
from jupyter_memory.types.protocols import Embedder

Done = TypeVar("Done")

# How often another program may switch the model while one batch is being written.
_SWITCHES = 8


class ModelChoice:
    """The embedder of one store, opened on first use.

    ``wanted`` is a name, an embedder, ``"auto"`` (the model that the store searches with at the moment, whoever chose
    it, else the default), or None for a store that is searched by words alone. ``calibrate`` measures how far an
    embedder can be trusted in this store.
    """

    def __init__(
        self,
        storage: Storage,
        wanted: str | Embedder | None,
        dimensions: int | None = None,
        models: Path | None = None,
        *,
        calibrate: Callable[[Embedder], object],
    ) -> None:
        self._storage = storage
        self._calibrate = calibrate
        self._wanted = wanted
        self._dimensions = dimensions
        self._models = models
        self._embedder: Embedder | None = None

    @property
    def is_wanted(self) -> bool:
        """Return whether there is an embedder, whichever: without one, words alone are searched."""
        return self._wanted is not None

    def embedder(self) -> Embedder | None:
        """Return the embedder that was asked for, whatever the store was written with.

        Raises:
            EmbedderError: it is unknown, or cannot run here.
        """
        return self._fitting(self._active())

    def opened(self, wanted: str | Embedder) -> Embedder:
        """Return another embedder than the one that was asked for, without changing the store's choice.

        Raises:
            EmbedderError: it is unknown, or cannot run here.
        """
        return open_embedder(wanted, dimensions=self._dimensions, models=self._models)

    def adopt(self, embedder: Embedder) -> None:
        """Use this embedder from now on: the store was just written with it."""
        self._embedder = embedder
        if self._wanted != "auto":
            self._wanted = embedder

    def choice(self) -> str:
        """Return what ``"auto"`` will be in a store without vectors, as a sentence; empty where nothing is open."""
        if self._wanted != "auto" or self._active() is not None:
            return ""
        if default_name(self._models) == "nomic":
            return "This store searches by meaning with nomic, whose weights are on this machine."
        return (
            "This store searches by meaning with the bundled static model; `model use nomic` or `model use minilm` "
            "fetches a better one."
        )

    def offer(self) -> str:
        """Return one line that offers a better model, empty where it is not due or a model was asked for by name."""
        if self._wanted != "auto":
            return ""
        with suppress(StoreError):
            return offer(self._storage, self._models)
        return ""

    def for_writing(self) -> Embedder | None:
        """Return the embedder for new chunks.

        Raises:
            EmbedderUnavailable: the store holds the vectors of a model that cannot be opened here.
            EmbeddingMismatch: the store holds the vectors of another model than the one that was asked for.
        """
        active = self._active()
        embedder = self._fitting(active)
        if embedder is not None and active is not None and active.fingerprint != embedder.fingerprint:
            raise EmbeddingMismatch(self._unlike(active, embedder))
        return embedder

    def writing(self, write: Callable[[Embedder | None], Done]) -> Done:
        """Return what ``write`` does with the embedder for new chunks; again, if the store's changed meanwhile.

        Raises:
            EmbedderError: as ``for_writing`` does.
        """
        for _ in range(_SWITCHES):
            embedder = self.for_writing()
            # Another program may switch the model between the embedding and the transaction, which then writes nothing.
            with suppress(EmbeddingMismatch):
                return write(embedder)
        return write(self.for_writing())

    def for_searching(self) -> tuple[Embedder | None, tuple[str, ...]]:
        """Return the embedder for queries, or None with a notice that says why only words are searched."""
        active = self._active()
        if self._wanted is None or active is None:
            return None, ()
        try:
            embedder = self._fitting(active)
            if embedder is not None and active.fingerprint != embedder.fingerprint:
                return None, (self._unlike(active, embedder),)
        except EmbedderError as error:
            return None, (str(error),)
        return embedder, ()

    def calibrate(self) -> None:
        """Measure how far the model can be trusted in this store, if that is due; a failure here does not matter."""
        embedder, _ = self.for_searching()
        if embedder is not None and not self._storage.read_only:
            with suppress(EmbedderError, StoreError):
                self._calibrate(embedder)

    def _fitting(self, active: Model | None) -> Embedder | None:
        """Return what was asked for; ``"auto"`` follows the store when another program gives it another model."""
        if self._wanted is None:
            return None
        embedder = self._embedder
        if active is not None and self._wanted == "auto":
            if embedder is None or embedder.fingerprint != active.fingerprint:
                embedder = _open(active, self._models)
        elif embedder is None:
            embedder = self.opened(self._wanted)
        self._embedder = embedder
        return embedder

    def _unlike(self, active: Model, embedder: Embedder) -> str:
        """Return why a store and an embedder do not go together, and what to do."""
        # Files that were cut short or changed make another model of the same name.
        damaged = damage(embedder.name, self._models) if embedder.name == active.name else ""
        return f"{damaged}." if damaged else mismatch(active, embedder)

    def _active(self) -> Model | None:
        with self._storage.snapshot() as snapshot:
            return snapshot.active_model()


def _open(model: Model, models: Path | None) -> Embedder:
    """Open the embedder that a store was written with.

    Raises:
        EmbedderUnavailable: it is unknown here, or cannot run.
    """
    try:
        return open_embedder(model.name, dimensions=model.dimensions, models=models)
    except (EmbedderError, InputError) as error:
        raise EmbedderUnavailable(
            f"This store was written with {model.name} ({model.dimensions} dimensions), which cannot be opened here: "
            f"{error} To go on with the bundled model, type %memory model use static, in a terminal "
            "jupyter-memory model use static, or in Python store.reembed('static')."
        ) from error
