"""Takes a store from the former static model to today's, in the background, while it is searched."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread

from jupyter_memory.embedders import open_embedder
from jupyter_memory.embedders.registry import opened_by
from jupyter_memory.errors import EmbedderError, StoreError
from jupyter_memory.protocols import Embedder
from jupyter_memory.storage.base import Model, Storage
from jupyter_memory.store.models.backfill import retokenise
from jupyter_memory.store.models.reembedding import reembed


def is_outdated(model: Model) -> bool:
    """Return whether a store's model is the former static one."""
    return opened_by(model.name, model.fingerprint) != model.name


class ModelUpgrade:
    """The change of one store to today's static model; ``done`` is called with the new embedder at the end."""

    def __init__(self, storage: Storage, done: Callable[[Embedder], object]) -> None:
        self._storage = storage
        self._done = done
        self._closed = False
        self._lock = Lock()
        self._problem = ""
        # In a forked child this is the parent's thread, which counts as ended; the parent continues.
        self._thread: Thread | None = None

    def begin(self, old: Model) -> None:
        """Write the new vectors in a thread of their own, once; what fails is tried again when the store is opened."""
        with self._lock:
            if self._thread is None and not self._closed and not self._storage.read_only:
                self._thread = Thread(target=self._in_background, args=(old,), name="jupyter_memory.model", daemon=True)
                self._thread.start()

    def finish(self, old: Model) -> Embedder:
        """Write what is left of the new vectors, and return their embedder.

        Raises:
            EmbedderError: the model's files are missing or damaged.
        """
        thread = self._thread
        if thread is not None:
            thread.join()
        return self._upgraded(old)

    def notice(self, old: Model) -> str:
        """Say why only words are searched at the moment, where the old model cannot be opened."""
        if self._storage.read_only:
            return (
                "This store is read-only and has the vectors of the former static model, so words alone are searched. "
                "Install that model (pip install 'jupyter-memory[wordllama]'), or open the store once where it can be "
                "written."
            )
        if self._problem:
            return (
                "The vectors of this store could not be written for the new static model, so words alone are searched: "
                f"{self._problem} The next opening tries again."
            )
        return (
            f"The vectors of this store ({old.dimensions} dimensions) are being written anew for the new static model. "
            "Until that is done, words alone are searched."
        )

    def close(self) -> None:
        """End the thread after the batch that it is writing; the next opening goes on from there."""
        self._closed = True
        if self._thread is not None:
            self._thread.join()

    def _in_background(self, old: Model) -> None:
        try:
            self._upgraded(old)
        except (EmbedderError, StoreError) as error:
            self._problem = str(error)

    def _upgraded(self, old: Model) -> Embedder:
        embedder = open_embedder("static", dimensions=old.dimensions)
        # The switch of the model comes last: until then, the next opening knows that something is left to do.
        retokenise(self._storage, self._is_closed)
        reembed(self._storage, embedder, progress=False, keep=True, stopped=self._is_closed)
        if not self._closed:
            self._done(embedder)
        return embedder

    def _is_closed(self) -> bool:
        return self._closed
