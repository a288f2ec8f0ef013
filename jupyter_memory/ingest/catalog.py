"""The catalogue of indexed files, as the indexer sees it: embeds what it is given, then hands it to the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from jupyter_memory.embedders.checked import TokenEmbedder
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.ingest.reading import read_file
from jupyter_memory.ingest.worker_process import Task, prepared
from jupyter_memory.ingest.workers import Ahead, helpers_for
from jupyter_memory.protocols import Embedder, FileState
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.prepared import Prepared
from jupyter_memory.store.model import StoreModel
from jupyter_memory.types import Draft


class Filing:
    """Files of one store, with what they hold put into one space."""

    def __init__(self, library: Library, model: StoreModel, space: str) -> None:
        self._library = library
        self._model = model
        self._space = space
        self._ahead: Ahead | None = None
        self._ready: dict[str, list[Prepared]] = {}
        self._fingerprint = ""

    def expect(self, paths: Sequence[Path], root: Path, redacting: bool, /) -> None:
        """Let processes of their own read these files ahead, if there are enough of them."""
        embedder = self._model.for_writing()
        helpers = helpers_for(paths)
        if helpers and (embedder is None or _is_static(embedder)):
            self._fingerprint = "" if embedder is None else embedder.fingerprint
            task = Task(root, redacting, self._space, 0 if embedder is None else embedder.dimensions)
            self._ahead = Ahead(paths, task, helpers, here=lambda some: prepared(some, task, embedder))

    def read(self, path: Path, root: Path, redacting: bool, /) -> list[Draft]:
        """Return what a file has to remember.

        Raises:
            InputError: the file cannot be read, or is not what its name says.
        """
        ready = None if self._ahead is None else self._ahead.prepared(path)
        if ready is None:
            return read_file(path, root=root, redacting=redacting)
        self._ready[str(path)] = ready
        return [one.draft for one in ready]

    def close(self) -> None:
        """Let the helpers end."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def files_under(self, root: str, /) -> Mapping[str, FileState]:
        """Return the known files at or below ``root``, by path."""
        return self._library.files_under(root, self._space)

    def held(self, paths: Sequence[str], /) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the location and the text of each memory of these files, by path."""
        return self._library.held(paths, self._space)

    def rename(self, old: str, new: str, /) -> None:
        """Note that a file has another path now."""
        self._library.rename(old, new)

    def touch(self, state: FileState, /) -> None:
        """Note that a file has a new modification time but the content it had."""
        self._library.touch_file(state, self._space)

    def replace_files(self, files: Sequence[tuple[FileState, Sequence[Draft]]], /) -> int:
        """Store these files in place of what they were; return how many memories they hold now."""

        def write(embedder: Embedder | None) -> None:
            fits = self._fingerprint == ("" if embedder is None else embedder.fingerprint)
            ready = {state.path: self._ready[state.path] for state, _ in files if fits and state.path in self._ready}
            drafts = [
                draft if draft.space == self._space else replace(draft, space=self._space)
                for state, of_file in files
                for draft in (of_file if state.path not in ready else ())
            ]
            # Embedded before the transaction begins, so that the write lock is held for the writing only.
            rest = iter(prepare(drafts, embedder))
            parts = [(state, ready.get(state.path) or list(islice(rest, len(of_file)))) for state, of_file in files]
            self._library.replace_files(parts, embedder, self._space)

        self._model.writing(write)
        self._ready.clear()
        return sum(len(of_file) for _, of_file in files)

    def forget_files(self, paths: Sequence[str], /) -> int:
        """Remove files and their memories; return how many memories went."""
        return self._library.forget_files(paths, self._space)


def _is_static(embedder: Embedder) -> bool:
    if not isinstance(embedder, TokenEmbedder):
        return False
    from jupyter_memory.embedders.static import StaticEmbedder

    return isinstance(embedder, StaticEmbedder)
