"""Files and folders brought into a store: what is new, changed, moved or gone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar

from jupyter_memory.embedders.base import TokenEmbedder
from jupyter_memory.embedders.static import StaticEmbedder
from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import last_commits
from jupyter_memory.ingest.discovery import Walk, own_name, walk
from jupyter_memory.ingest.moves import MissingFiles, use_known_names
from jupyter_memory.ingest.pictures import Quota
from jupyter_memory.ingest.preparation import prepare, read_file, unchanged
from jupyter_memory.ingest.readers.registry import digest, version_mark
from jupyter_memory.ingest.workers import Task, WorkerPool, prepare_files, workers_for
from jupyter_memory.storage.base import Prepared
from jupyter_memory.storage.databases import Storage
from jupyter_memory.text.paths import normal
from jupyter_memory.types import Draft, IndexReport
from jupyter_memory.types.memory import NO_PICTURES, Thumbnail
from jupyter_memory.types.protocols import REFUSED, UNREAD, Catalog, Embedder, FileState

# Memories that are embedded and written together: large enough for the model, small enough to lose on Ctrl-C.
_BATCH = 1024

Progress = Callable[[Sequence[Path]], Iterable[Path]]


def index(
    root: Path,
    catalog: Catalog,
    *,
    ignore: Sequence[str] = (),
    max_bytes: int,
    redacting: bool = True,
    progress: Progress | None = None,
    tell: Callable[[int, int | None], None] | None = None,
    named_from: Path | None = None,
    retry: bool = False,
) -> IndexReport:
    """Index a file or a folder: new and changed files are read, deleted ones forgotten, the others left alone.

    Files are written in batches, and never in part: after an interruption, the next run continues. What is known of a
    file stays if it cannot be read, or if its drive is not connected. A known file was moved if it is gone and a new
    file has its content, or most of it. ``tell`` receives how many files are done and how many there are;
    ``named_from`` is the folder from which a single file is named. Only with ``retry``, a file that could not be read
    before and has not changed since is read and reported again.

    Raises:
        InputError: there is nothing at ``root``, or it is no file of a known kind.
    """
    begun = perf_counter()
    root = normal(root)
    if named_from is not None:
        root = own_name(root, named_from, ignore=ignore)
    report = tell or (lambda done, files: None)
    report(0, None)
    known = dict(catalog.files_under(str(root)))
    if known and not root.exists():
        raise InputError(
            f"There is nothing at {root} any more, but {len(known)} indexed files were below it. If it was renamed, "
            "index it under its new name, and their memories move with it. If the files are gone: forget --source "
            f"'{root}'"
        )
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    known = use_known_names(seen, known, catalog.files_under)
    missing = MissingFiles(seen, known, catalog)
    run = _Indexing(catalog, named_from or root, redacting, retry)
    run.refuse_all(seen, missing, known)
    for before, after in missing.displaced():
        catalog.rename(before, after)
        # Its titles are still those of its earlier name, so it is read whatever it holds.
        known.pop(after, None)
        run.moved += 1
    states = ((path, known.get(str(path))) for path in seen.files)
    likely = [path for path, state in states if state is None or state.is_incomplete or not _is_current(state, path)]
    catalog.expect(likely, named_from or root, redacting)
    report(0, len(seen.files))
    for done, path in enumerate(progress(seen.files) if progress is not None else seen.files, start=1):
        read = run.read(path, known.get(str(path)))
        if read is not None and (old := missing.moved_to(*read)) is not None:
            catalog.rename(old, read[0].path)
            run.moved += 1
        run.write(at_least=_BATCH)
        report(done, len(seen.files))
    run.write()
    report(len(seen.files), len(seen.files))
    if missing.paths:
        catalog.forget_files(list(missing.paths))
    return run.report(len(missing.paths), seen, perf_counter() - begun)


@dataclass(slots=True)
class _Indexing:
    catalog: Catalog
    root: Path
    redacting: bool
    retry: bool
    files: int = 0
    memories: int = 0
    unchanged: int = 0
    redacted: int = 0
    moved: int = 0
    failed_before: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    _batch: list[tuple[FileState, list[Draft]]] = field(default_factory=list)
    _waiting: int = 0

    def read(self, path: Path, known: FileState | None) -> tuple[FileState, list[Draft]] | None:
        try:
            is_complete = known is not None and not known.is_incomplete
            if known is not None and is_complete and _is_current(known, path) and not (self.retry and known.is_unread):
                self.unchanged += not known.is_unread
                self.failed_before += known.is_unread
                return None
            state = FileState(str(path), *_stamp(path), digest(path))
            if known is not None and is_complete and known.content_hash == state.content_hash:
                self.catalog.touch(state)
                self.unchanged += 1
                return None
            drafts = self.catalog.read(path, self.root, self.redacting)
        except OSError as error:
            self._refuse(str(path), error.strerror or type(error).__name__, known)
            return None
        except InputError as error:
            self.failed.append((str(path), str(error)))
            # Noted as unread: until it changes, the next run just counts it.
            self.catalog.touch(replace(state, content_hash=UNREAD + version_mark(path)))
            return None
        except (ValueError, OverflowError):
            self.failed.append((str(path), "its date is beyond any calendar; `touch` it"))
            return None
        self.redacted += sum(int(draft.metadata.get("redacted", 0)) for draft in drafts)
        self._batch.append((state, drafts))
        self._waiting += max(1, len(drafts))
        return state, drafts

    def refuse_all(self, seen: Walk, missing: MissingFiles, known: Mapping[str, FileState]) -> None:
        for place, files in missing.unreachable.items():
            them, are = ("an indexed file", "is") if files == 1 else (f"{files:,} indexed files", "are")
            why = f"{them} cannot be reached here and {are} kept. Connect the drive or share; if it no longer exists: "
            self.failed.append((place, f"{why}forget --source '{place}'"))
        for place, why in seen.failed:
            self._refuse(place, why, known.get(place))

    def _refuse(self, path: str, why: str, known: FileState | None) -> None:
        # It is tried again each time, and reported the first time or with ``retry``. A folder is reported each time:
        # what is below it may have changed.
        if known is not None and known.content_hash == REFUSED and not self.retry:
            self.failed_before += 1
            return
        self.failed.append((path, why))
        if not os.path.isdir(path):  # noqa: PTH112  Path raises OSError for a name that is too long
            self.catalog.touch(FileState(path, -1, 0, REFUSED))

    def write(self, at_least: int = 1) -> None:
        # Even a very long notebook is written at once: a file is stored as a whole or not at all.
        if self._waiting >= at_least:
            self.memories += self.catalog.replace_files(self._batch)
            self.files += len(self._batch)
            self._batch.clear()
            self._waiting = 0

    def report(self, forgotten: int, seen: Walk, seconds: float) -> IndexReport:
        return IndexReport(
            files=self.files,
            cells=self.memories,
            unchanged=self.unchanged,
            forgotten=forgotten,
            moved=self.moved,
            redacted=self.redacted,
            skipped=tuple(seen.skipped),
            failed=tuple(self.failed),
            seconds=seconds,
            failed_before=self.failed_before,
            left_out=dict(sorted(seen.left_out.items(), key=lambda one: (-one[1], one[0]))),
        )


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    # The latest time that SQLite can hold: some tools date files into other millennia.
    return min(status.st_mtime_ns, 2**63 - 1), status.st_size


def _is_current(known: FileState, path: Path) -> bool:
    # Unchanged since it was read, by the present version of its reader.
    of_reader = known.content_hash != REFUSED and known.content_hash.endswith(version_mark(path))
    with suppress(OSError):
        return of_reader and (known.mtime_ns, known.size) == _stamp(path)
    return False


def changed(root: Path, catalog: Catalog, *, ignore: Sequence[str] = (), max_bytes: int) -> int:
    """Return how many files at or below ``root`` are new, gone or changed since they were indexed."""
    known = dict(catalog.files_under(str(root)))
    if not root.exists():
        return len(known)
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    known = use_known_names(seen, known, catalog.files_under)
    different = 0
    for path in seen.files:
        before = known.get(str(path))
        if before is None:
            different += 1
        elif not _is_current(before, path):
            with suppress(OSError):  # what is known of it stays
                stamp = _stamp(path)
                is_same = (before.mtime_ns, before.size) == stamp
                different += is_same or before.size != stamp[1] or before.content_hash != digest(path)
    return different + len(MissingFiles(seen, known, catalog).paths)


Done = TypeVar("Done")
# Bytes of pictures that workers are sent at their start.
_MOST_SENT = 20_000_000


class EmbedderProvider(Protocol):
    """Knows with which embedder a store is written."""

    def for_writing(self) -> Embedder | None:
        """Return the embedder for new chunks, None for a store without vectors."""

    def writing(self, write: Callable[[Embedder | None], Done], /) -> Done:
        """Return what ``write`` does with the embedder; call it again if the store's embedder changed meanwhile."""


class FileCatalog:
    """The indexed files of one space of a store; ``quota`` is the room for their pictures, None to read none."""

    def __init__(self, storage: Storage, model: EmbedderProvider, space: str, quota: Quota | None = None) -> None:
        self._storage, self._model, self._space, self._quota = storage, model, space, quota
        self._pool: WorkerPool | None = None
        self._ready: list[Prepared] = []
        self._fingerprint = ""
        self._commits: Mapping[Path, datetime] = {}
        self._undated: set[str] = set()

    def expect(self, paths: Sequence[Path], root: Path, redacting: bool, /) -> None:
        # A pool of workers reads ahead, if there are enough files.
        self._commits = last_commits(paths)
        embedder = self._model.for_writing()
        # One file is read here in the time that another process takes to start.
        workers = workers_for(paths) if len(paths) > 1 else 0
        if workers and (embedder is None or isinstance(embedder, StaticEmbedder)):
            # It is quicker to make the others again.
            pictures: dict[Path, Mapping[str, Thumbnail]] = {}
            size = 0
            for path in paths:
                if size < _MOST_SENT and (known := self._pictures_of(path)):
                    pictures[path] = known
                    size += sum(len(one.image) for one in known.values())

            self._fingerprint = "" if embedder is None else embedder.fingerprint
            dimensions = 0 if embedder is None else embedder.dimensions
            sent = None if self._quota is None else pictures
            task = Task(root, redacting, self._space, dimensions, self._commits, sent)
            self._pool = WorkerPool(paths, task, workers, here=lambda some: prepare_files(some, task, embedder))

    def read(self, path: Path, root: Path, redacting: bool, /) -> list[Draft]:
        ready = None if self._pool is None else self._pool.prepared(path)
        if ready is None:
            committed, known = self._commits.get(path), self._pictures_of(path)
            return read_file(path, root=root, redacting=redacting, committed=committed, pictures=known)
        self._ready += ready
        return [one.draft for one in ready]

    def _pictures_of(self, path: Path) -> Mapping[str, Thumbnail] | None:
        # A notebook is saved many times with the same plots in it.
        if self._quota is None:
            return None
        return self._storage.thumbnails.of_file(str(path), self._space) if path.suffix == ".ipynb" else {}

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def files_under(self, root: str, /) -> Mapping[str, FileState]:
        with self._storage.snapshot() as snapshot:
            known = snapshot.files_under(root, self._space)
        self._undated |= {path for path, state in known.items() if state.dated is False}
        notebooks = [path for path in known if path.endswith(".ipynb")]
        if not notebooks or self._quota is None or not self._quota.has_room():
            return known
        unread = self._storage.thumbnails.unread(notebooks, self._space)
        return known | {path: replace(known[path], pictures=False) for path in unread}

    def held(self, paths: Sequence[str], /) -> Mapping[str, Sequence[tuple[str, str]]]:
        with self._storage.snapshot() as snapshot:
            return snapshot.file_texts(paths, self._space)

    def rename(self, old: str, new: str, /) -> None:
        self._storage.writer.rename(old, new)

    def touch(self, state: FileState, /) -> None:
        self._storage.writer.touch_file(state, self._space)

    def replace_files(self, files: Sequence[tuple[FileState, Sequence[Draft]]], /) -> int:
        def write(embedder: Embedder | None) -> None:
            fits = self._fingerprint == ("" if embedder is None else embedder.fingerprint)
            ready = {id(one.draft): one for one in self._ready} if fits else {}
            # A vector of the static model takes less time to compute than to read.
            slow = None if isinstance(embedder, TokenEmbedder) else embedder
            with self._storage.snapshot() as snapshot:
                earlier = unchanged(snapshot, [state.path for state, _ in files], self._space, slow)
            dated = []
            for state, of_file in files:
                here = [one if one.space == self._space else replace(one, space=self._space) for one in of_file]
                # The date of a commit is new to what an older version read.
                is_new = state.path in self._undated and Path(state.path) in self._commits
                dated.append((replace(state, dated=True), here if is_new else list(map(earlier.dated, here))))
            others = [draft for _, of_file in dated for draft in of_file if id(draft) not in ready]
            # Embedded before the transaction begins, so that the write lock is held for the writing only.
            rest = iter(prepare(others, embedder, earlier.vectors(others)))
            parts = [
                (state, [ready[id(draft)] if id(draft) in ready else next(rest) for draft in of_file])
                for state, of_file in dated
            ]
            if self._quota is not None and any(one.draft.pictures != NO_PICTURES for _, them in parts for one in them):
                self._quota.begin([state.path for state, _ in parts])
                fitting = [(state, *self._quota.fitting(memories)) for state, memories in parts]
                files_read = [(replace(state, pictures=is_whole), memories) for state, memories, is_whole in fitting]
            else:
                is_whole = self._quota is not None
                files_read = [(replace(state, pictures=is_whole), memories) for state, memories in parts]
            self._storage.writer.replace_files(files_read, embedder, self._space)

        self._model.writing(write)
        if self._quota is not None:
            self._quota.written()
        self._ready.clear()
        return sum(len(of_file) for _, of_file in files)

    def forget_files(self, paths: Sequence[str], /) -> int:
        return self._storage.writer.forget_files(paths, self._space)
