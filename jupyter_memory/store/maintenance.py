"""What a store says of itself, and what keeps it well."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_memory.config import load_config, store_path
from jupyter_memory.errors import InputError
from jupyter_memory.protocols import Embedder
from jupyter_memory.storage import backup, census
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.store.asking import Asking
from jupyter_memory.store.model import StoreModel
from jupyter_memory.store.reembedding import drop, reembed
from jupyter_memory.store.retokenise import retokenise
from jupyter_memory.text.paths import absolute


class Upkeep:
    """The part of a ``MemoryStore`` that looks after the file."""

    _database: Database
    _vectors: VectorIndex
    _model: StoreModel
    _library: Library
    _asking: Asking

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the store has to say about itself: read-only, no write-ahead log, brought to a new version."""
        return tuple(dict.fromkeys(self._database.notices))

    @property
    def greeting(self) -> str:
        """Return which model a store that was just made chose for itself, empty for a store that was there before."""
        return self._model.choice() if self._database.created else ""

    def stats(self) -> dict[str, Any]:
        """Return what the store holds: counts by kind, tier and space, models, files, bytes on disk."""
        return census.stats(self._database, self._vectors)

    def count(self) -> int:
        """Return how many memories a search can see: those of the store, or of its space if it has one."""
        return census.count(self._database, self._asking.filters(None, None, None, datetime.now(UTC)))

    def known(self, contents: Mapping[str, str]) -> set[str]:
        """Return which memories a search can still see, by their ids: they, or others that say the same.

        ``contents`` are the content hashes of the memories by their ids.
        """
        return census.known(self._database, contents, self._asking.filters(None, None, None, datetime.now(UTC)))

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""
        return census.tags(self._database)

    def doctor(self) -> list[str]:
        """Check the store and return what is wrong, each with what to do; empty when all is well."""
        _, notices = self._model.for_searching()
        return [*census.problems(self._database, self._vectors), *notices, *self.notices]

    def reembed(self, embedder: str | Embedder | None = None, *, progress: bool = True, keep: bool = True) -> int:
        """Write a model's vectors for every chunk that lacks them, then search with that model.

        Searches, here and in other programs, go on with the old vectors meanwhile and change over at the end, all at
        once. Interrupted, it goes on from there the next time.

        Parameters
        ----------
        embedder : str or Embedder, optional
            The model to change to; if left out the store's own, for chunks that were stored without a model.
        keep : bool, default True
            Keep the other models' vectors, so that changing back is a matter of a moment; ``drop_vectors`` removes them
            later.

        Returns
        -------
        int
            How many vectors were written.

        Raises
        ------
        EmbedderError
            The model is unknown, or does not run here; the old one stays in use.
        InputError
            The store was opened with ``embedder=None``, and none is given.
        """
        chosen = self._model.embedder() if embedder is None else self._model.opened(embedder)
        if chosen is None:
            raise InputError("This store was opened with embedder=None. Open it with a model to write vectors.")
        written = reembed(self._database, self._vectors, chosen, progress=progress, keep=keep)
        self._model.adopt(chosen)
        self._model.measure_trust()
        return written

    def drop_vectors(self, name: str | None = None) -> int:
        """Remove the vectors of models that are not in use, those of one name if given; return how many went.

        Raises
        ------
        InputError
            The store has no vectors of that name, or searches with them.
        """
        return drop(self._database, self._vectors, name)

    def rebuild(self) -> None:
        """Build the keyword index anew from the memories, and write the file anew without traces of what is gone.

        Chunks that an older version stored get what searches read since, too.
        """
        retokenise(self._database)
        self._library.rebuild()

    def backup(self, path: str | Path) -> Path:
        """Copy the store as it is at this moment into a new file, and return its path."""
        target = absolute(path)
        backup.backup(self._database, target)
        return target

    @staticmethod
    def restore(path: str | Path, to: str | Path | None = None, overwrite: bool = False) -> Path:
        """Make a store out of a backup at ``to`` (your default store if left out), and return its path.

        Raises
        ------
        StoreOpen
            The store at ``to`` is open, here or in another program.
        InputError
            There is no backup at ``path``, or a store at ``to`` and ``overwrite`` is False.
        """
        target = absolute(to) if to is not None else store_path(load_config()).absolute()
        backup.restore(Path(path), target, overwrite=overwrite)
        return target
