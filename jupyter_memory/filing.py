"""The catalogue of indexed files, as the indexer sees it: embeds what it is given, then hands it to the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from jupyter_memory.model import StoreModel
from jupyter_memory.prepare import prepare
from jupyter_memory.protocols import Embedder, FileState
from jupyter_memory.storage.library import Library
from jupyter_memory.types import Draft


class Filing:
    """Files of one store, with what they hold put into one space."""

    def __init__(self, library: Library, model: StoreModel, space: str) -> None:
        self._library = library
        self._model = model
        self._space = space

    def files_under(self, root: str, /) -> Mapping[str, FileState]:
        """Return the known files at or below ``root``, by path."""
        return self._library.files_under(root, self._space)

    def rename(self, old: str, new: str, /) -> None:
        """Note that a file has another path now."""
        self._library.rename(old, new)

    def touch(self, state: FileState, /) -> None:
        """Note that a file has a new modification time but the content it had."""
        self._library.touch_file(state, self._space)

    def replace_files(self, files: Sequence[tuple[FileState, Sequence[Draft]]], /) -> int:
        """Store these files in place of what they were; return how many memories they hold now."""
        drafts = [
            draft if draft.space == self._space else replace(draft, space=self._space)
            for _, of_file in files
            for draft in of_file
        ]

        def write(embedder: Embedder | None) -> None:
            # Embedded before the transaction begins, so that the write lock is held for the writing only.
            prepared = iter(prepare(drafts, embedder))
            parts = [(state, list(islice(prepared, len(of_file)))) for state, of_file in files]
            self._library.replace_files(parts, embedder, self._space)

        self._model.writing(write)
        return len(drafts)

    def forget_files(self, paths: Sequence[str], /) -> int:
        """Remove files and their memories; return how many memories went."""
        return self._library.forget_files(paths, self._space)
