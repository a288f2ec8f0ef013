"""The catalog of indexed files: it prepares what the indexer reads, then the store's writer writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from jupyter_memory.embedders.checked import TokenEmbedder
from jupyter_memory.ingest.dates.commits import last_commits
from jupyter_memory.ingest.pictures.quota import Quota
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.ingest.reading import read_file
from jupyter_memory.ingest.unchanged import Unchanged, unchanged
from jupyter_memory.ingest.workers.pool import WorkerPool, workers_for
from jupyter_memory.ingest.workers.process import Task, prepare_files
from jupyter_memory.storage.base import Prepared, Storage
from jupyter_memory.types import Draft
from jupyter_memory.types.memory import Thumbnail
from jupyter_memory.types.protocols import Embedder, FileState

Done = TypeVar("Done")
# Bytes of pictures that workers are sent at their start; it is quicker to make the others again.
_MOST_SENT = 20_000_000
# A file that was read, and its memories.
_FileRead = tuple[FileState, Sequence[Prepared]]


class EmbedderProvider(Protocol):
    """Knows with which embedder a store is written."""

    def for_writing(self) -> Embedder | None:
        """Return the embedder for new chunks, None for a store without vectors."""
        ...

    def writing(self, write: Callable[[Embedder | None], Done], /) -> Done:
        """Return what ``write`` does with the embedder; call it again if the store's embedder changed meanwhile."""
        ...


class FileCatalog:
    """The indexed files of one space of a store; ``quota`` is the room for their pictures, None to read none."""

    def __init__(self, storage: Storage, model: EmbedderProvider, space: str, quota: Quota | None = None) -> None:
        self._storage = storage
        self._model = model
        self._space = space
        self._pool: WorkerPool | None = None
        self._ready: dict[str, list[Prepared]] = {}
        self._fingerprint = ""
        self._commits: Mapping[Path, datetime] = {}
        self._undated: set[str] = set()
        self._quota = quota

    def expect(self, paths: Sequence[Path], root: Path, redacting: bool, /) -> None:
        """Let a pool of workers read these files ahead, if there are enough of them; ask git for their dates."""
        self._commits = last_commits(paths)
        embedder = self._model.for_writing()
        workers = workers_for(paths)
        if workers and (embedder is None or _is_static(embedder)):
            self._fingerprint = "" if embedder is None else embedder.fingerprint
            dimensions = 0 if embedder is None else embedder.dimensions
            task = Task(root, redacting, self._space, dimensions, self._commits, self._known_pictures(paths))
            self._pool = WorkerPool(paths, task, workers, here=lambda some: prepare_files(some, task, embedder))

    def read(self, path: Path, root: Path, redacting: bool, /) -> list[Draft]:
        """Return what a file has to remember.

        Raises:
            InputError: the file cannot be read, or is not what its name says.
        """
        ready = None if self._pool is None else self._pool.prepared(path)
        if ready is None:
            # A notebook is saved many times with the same plots in it.
            known = None if self._quota is None else self._storage.thumbnails.of_file(str(path), self._space)
            committed = self._commits.get(path)
            return read_file(path, root=root, redacting=redacting, committed=committed, pictures=known)
        self._ready[str(path)] = ready
        return [one.draft for one in ready]

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def files_under(self, root: str, /) -> Mapping[str, FileState]:
        """Return the known files at or below ``root``, by path."""
        with self._storage.snapshot() as snapshot:
            known = snapshot.files_under(root, self._space)
        self._undated |= {path for path, state in known.items() if state.dated is False}
        if self._quota is None or not self._quota.has_room():
            return known
        notebooks = [path for path in known if path.endswith(".ipynb")]
        unread = self._storage.thumbnails.unread(notebooks, self._space) if notebooks else ()
        return known | {path: replace(known[path], pictures=False) for path in unread}

    def held(self, paths: Sequence[str], /) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the location and the text of each memory of these files, by path."""
        with self._storage.snapshot() as snapshot:
            return snapshot.file_texts(paths, self._space)

    def rename(self, old: str, new: str, /) -> None:
        """Note that a file has another path now."""
        self._storage.writer.rename(old, new)

    def touch(self, state: FileState, /) -> None:
        """Note that a file has a new modification time but the content it had."""
        self._storage.writer.touch_file(state, self._space)

    def replace_files(self, files: Sequence[tuple[FileState, Sequence[Draft]]], /) -> int:
        """Replace what is stored of these files; return how many memories they hold now."""

        def write(embedder: Embedder | None) -> None:
            fits = self._fingerprint == ("" if embedder is None else embedder.fingerprint)
            ready = {id(one.draft): one for prepared in self._ready.values() for one in prepared} if fits else {}
            earlier = self._unchanged([state.path for state, _ in files], embedder)
            dated = [
                (replace(state, dated=True), [self._dated(self._spaced(draft), earlier) for draft in of_file])
                for state, of_file in files
            ]
            others = [draft for _, of_file in dated for draft in of_file if id(draft) not in ready]
            # Embedded before the transaction begins, so that the write lock is held for the writing only.
            rest = iter(prepare(others, embedder, earlier.vectors(others)))
            parts = [
                (state, [ready[id(draft)] if id(draft) in ready else next(rest) for draft in of_file])
                for state, of_file in dated
            ]
            self._storage.writer.replace_files(self._with_pictures(parts), embedder, self._space)

        self._model.writing(write)
        if self._quota is not None:
            self._quota.written()
        self._ready.clear()
        return sum(len(of_file) for _, of_file in files)

    def _with_pictures(self, files: Sequence[_FileRead]) -> list[_FileRead]:
        """Return files with those of their pictures that there is room for, noted as read where that is all of them."""
        if self._quota is None:
            return [(replace(state, pictures=False), memories) for state, memories in files]
        self._quota.begin([state.path for state, _ in files])
        fitting = [(state, *self._quota.fitting(memories)) for state, memories in files]
        return [(replace(state, pictures=is_whole), memories) for state, memories, is_whole in fitting]

    def _known_pictures(self, paths: Sequence[Path]) -> Mapping[Path, Mapping[str, Thumbnail]] | None:
        """Return the pictures that files had, by their origin, for the workers; None where pictures are not read."""
        if self._quota is None:
            return None
        found: dict[Path, Mapping[str, Thumbnail]] = {}
        size = 0
        for path in paths:
            if path.suffix == ".ipynb" and size < _MOST_SENT:
                found[path] = self._storage.thumbnails.of_file(str(path), self._space)
                size += sum(len(one.image) for one in found[path].values())
        return found

    def _dated(self, draft: Draft, earlier: Unchanged) -> Draft:
        """Return a draft with the date that it keeps; that of a commit is new to what an older version read."""
        if draft.source in self._undated and Path(draft.source) in self._commits:
            return draft
        return earlier.dated(draft)

    def _spaced(self, draft: Draft) -> Draft:
        return draft if draft.space == self._space else replace(draft, space=self._space)

    def _unchanged(self, paths: Sequence[str], embedder: Embedder | None) -> Unchanged:
        # A vector of the static model takes less time to compute than to read.
        slow = None if isinstance(embedder, TokenEmbedder) else embedder
        with self._storage.snapshot() as snapshot:
            return unchanged(snapshot, paths, self._space, slow)

    def forget_files(self, paths: Sequence[str], /) -> int:
        """Remove files and their memories; return how many memories went."""
        return self._storage.writer.forget_files(paths, self._space)


def _is_static(embedder: Embedder) -> bool:
    if not isinstance(embedder, TokenEmbedder):
        return False
    from jupyter_memory.embedders.static import StaticEmbedder

    return isinstance(embedder, StaticEmbedder)
