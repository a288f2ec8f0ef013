"""Files and folders brought into a store: what is new, changed, moved or gone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar

from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders.base import TokenEmbedder
from jupyter_memory.embedders.static import StaticEmbedder
from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import copied, last_commits
from jupyter_memory.ingest.discovery import Walk, own_name, walk
from jupyter_memory.ingest.moves import MissingFiles, use_known_names
from jupyter_memory.ingest.pictures import Quota
from jupyter_memory.ingest.preparation import CAPACITY, NOTES, prepare, read_file, unchanged
from jupyter_memory.ingest.readers.registry import digest, stamp, version_mark
from jupyter_memory.ingest.workers import Task, WorkerPool, prepare_files, workers_for
from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import Prepared
from jupyter_memory.storage.databases import Storage
from jupyter_memory.text.dates import UNKNOWN
from jupyter_memory.text.paths import normal
from jupyter_memory.types import Draft, Filters, IndexReport, PictureReport
from jupyter_memory.types.memory import NO_PICTURES, Thumbnail
from jupyter_memory.types.protocols import REFUSED, UNREAD, Embedder, FileState

# Memories that are embedded and written together: large enough for the model, small enough to lose on Ctrl-C. So many
# characters count for one, since each takes some hundred bytes until it is written.
_BATCH, _ONE = 1024, 2_000
# Bytes of pictures that workers are sent at their start.
_MOST_SENT = 20_000_000
# Files whose pictures are written together.
_TOGETHER = 16

Done = TypeVar("Done")


class EmbedderProvider(Protocol):
    def for_writing(self) -> Embedder | None: ...  # the one for new chunks, None for a store without vectors
    # What ``write`` does with it; it is called again if the store's embedder changed meanwhile.
    def writing(self, write: Callable[[Embedder | None], Done], /) -> Done: ...


class Indexing:
    """One run over files of one space of a store, whose workers ``close`` ends."""

    def __init__(self, storage: Storage, model: EmbedderProvider, settings: JupyterMemory, space: str) -> None:
        self._storage, self._model, self._settings, self._space = storage, model, settings, space
        self._root = Path()
        self._retry = self._anew = False
        self._counts: Counter[str] = Counter()
        self._failed: list[tuple[str, str]] = []
        self._left_out: list[tuple[str, str, str]] = []
        self._batch: list[tuple[FileState, list[Draft]]] = []
        self._waiting = 0
        self._quota: Quota | None = None
        self._pool: WorkerPool | None = None
        self._new: set[Path] = set()
        self._later: list[FileState] = []
        self._ready: list[Prepared] = []
        self._fingerprint = ""
        self._commits: Mapping[Path, datetime] = {}  # ``UNKNOWN`` for copies
        self._undated: set[str] = set()

    def index(
        self,
        root: Path,
        *,
        ignore: Sequence[str] = (),
        progress: Callable[[Sequence[Any], str], Iterable[Any]] | None = None,
        tell: Callable[[int, int | None], None] | None = None,
        named_from: Path | None = None,
        retry: bool = False,
        anew: bool = False,
    ) -> IndexReport:
        """Index a file or a folder: new and changed files are read, deleted ones forgotten, the others left alone.

        Files are written in batches, and the text of one never in part. The pictures of new notebooks follow when all
        texts can be found. After an interruption, the next run continues. What is known of a file stays if it cannot be
        read, or if its drive is not connected. A known file was moved if it is gone and a new file has its content, or
        most of it. ``tell`` receives how many files are done and how many there are; ``named_from`` is the folder from
        which a single file is named.
        """
        begun = perf_counter()
        removed = 0 if self._settings.thumbnails else self._storage.thumbnails.clear()
        root = normal(root) if named_from is None else own_name(normal(root), named_from, ignore=ignore)
        self._root, self._retry, self._anew = named_from or root, retry, anew
        report = tell or (lambda done, files: None)
        report(0, None)
        known = dict(self._files_under(str(root)))
        if known and not root.exists():
            raise InputError(
                f"There is nothing at {root} any more, but {len(known)} indexed files were below it. If it was "
                "renamed, index it under its new name, and their memories move with it. If the files are gone: "
                f"forget --source '{root}'"
            )
        seen, known, missing = self._compared(root, known, ignore)
        self._begin(seen, known, missing)
        report(0, len(seen.files))
        for done, path in enumerate(progress(seen.files, "Indexing") if progress is not None else seen.files, start=1):
            read = self._read(path, known.get(str(path)))
            if read is not None and (old := missing.moved_to(*read)) is not None:
                self._storage.writer.rename(old, read[0].path)
                self._counts["moved"] += 1
            if self._waiting >= _BATCH:
                self._write()
            report(done, len(seen.files))
        self._write()
        report(len(seen.files), len(seen.files))
        unpinned = 0
        if missing.paths:
            with self._storage.snapshot() as snapshot:
                unpinned = snapshot.selection(Filters(source=tuple(missing.paths), space=(self._space,))).pinned
            self._storage.writer.forget_files(list(missing.paths), self._space)
        later = progress(self._later, "Pictures") if progress is not None and self._later else self._later
        # Whoever listens can still end the indexing.
        self._add_pictures(later, lambda: report(len(seen.files), len(seen.files)))
        counts: Mapping[str, Any] = self._counts
        return IndexReport(
            **counts,
            forgotten=len(missing.paths),
            unpinned=unpinned,
            skipped=tuple(seen.skipped),
            failed=tuple(self._failed),
            left_out=(*seen.left_out, *self._left_out),
            pictures=PictureReport(removed=removed) if self._quota is None else self._quota.report,
            seconds=perf_counter() - begun,
        )

    def _compared(
        self, root: Path, known: dict[str, FileState], ignore: Sequence[str]
    ) -> tuple[Walk, dict[str, FileState], MissingFiles]:
        seen = walk(root, ignore=ignore, max_bytes=int(self._settings.max_file_mb * 1_000_000))
        known = use_known_names(seen, known, self._files_under)
        return seen, known, MissingFiles(seen, known, self._files_under, self._held)

    def _begin(self, seen: Walk, known: dict[str, FileState], missing: MissingFiles) -> None:
        # What cannot be read is noted, and a file that took another one's place gets its name; the others are awaited.
        for place, files in missing.unreachable.items():
            them, are = ("an indexed file", "is") if files == 1 else (f"{files:,} indexed files", "are")
            why = f"{them} cannot be reached here and {are} kept. Connect the drive or share; if it no longer exists: "
            self._failed.append((place, f"{why}forget --source '{place}'"))
        for unread, why in seen.failed:
            self._refuse(unread, why, known.get(unread))
        for before, after in missing.displaced():
            self._storage.writer.rename(before, after)
            # Its titles are still those of its earlier name, so it is read whatever it holds.
            known.pop(after, None)
            self._counts["moved"] += 1
        states = [(path, known.get(str(path))) for path in seen.files]
        paths = [
            path
            for path, state in states
            if self._anew or state is None or state.is_incomplete or _differs(state, path)
        ]
        new = [path for path, state in states if state is None]
        self._new = {path for path in new if path.suffix == ".ipynb" and self._settings.thumbnails}
        self._commits = dict.fromkeys(copied(new), UNKNOWN) | last_commits(paths)
        embedder = self._model.for_writing()
        # A pool of workers reads ahead, if there are enough files: one is read here in the time that another process
        # takes to start.
        workers = workers_for(paths) if len(paths) > 1 else 0
        if workers and (embedder is None or isinstance(embedder, StaticEmbedder)):
            # It is quicker to make the others again.
            pictures: dict[Path, Mapping[str, Thumbnail] | None] = {}
            size = 0
            for path in paths:
                shown = self._pictures_of(path) if size < _MOST_SENT or path in self._new else {}
                if shown is None or shown:
                    pictures[path] = shown
                    size += sum(len(one.image) for one in (shown or {}).values())

            self._fingerprint = "" if embedder is None else embedder.fingerprint
            task = Task(
                self._root,
                self._settings.redact,
                self._space,
                dimensions=0 if embedder is None else embedder.dimensions,
                commits=self._commits,
                capacity=self._settings.chunk_tokens,
                pictures=pictures,
            )
            reads = [*((path, False) for path in paths), *((path, True) for path in paths if path in self._new)]
            self._pool = WorkerPool(reads, task, workers, here=lambda some: prepare_files(some, task, embedder))

    def changed(self, root: Path, *, ignore: Sequence[str] = ()) -> int:
        """Return how many files at or below ``root`` are new, gone or changed since they were indexed."""
        known = dict(self._files_under(str(root)))
        if not root.exists():
            return len(known)
        seen, known, missing = self._compared(root, known, ignore)
        different = 0
        for path in seen.files:
            before = known.get(str(path))
            if before is None:
                different += 1
            elif _differs(before, path):
                with suppress(OSError):  # what is known of it stays
                    now = stamp(path)
                    is_same = (before.mtime_ns, before.size) == now
                    different += is_same or before.size != now[1] or before.content_hash != digest(path)
        return different + len(missing.paths)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    def _files_under(self, root: str) -> Mapping[str, FileState]:
        with self._storage.snapshot() as snapshot:
            known = snapshot.files_under(root, self._space)
        self._undated |= {path for path, state in known.items() if state.dated is False}
        notebooks = [path for path in known if path.endswith(".ipynb")]
        if not (notebooks and self._settings.thumbnails):
            return known
        if not Quota(self._storage, self._settings, self._space).has_room():
            return known
        unread = self._storage.thumbnails.unread(notebooks, self._space)
        return known | {path: replace(known[path], pictures=False) for path in unread}

    def _held(self, paths: Sequence[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
        with self._storage.snapshot() as snapshot:
            return snapshot.file_texts(paths, self._space)

    def _pictures_of(self, path: Path) -> Mapping[str, Thumbnail] | None:
        # A notebook is saved many times with the same plots in it.
        if not self._settings.thumbnails or path in self._new:
            return None
        return self._storage.thumbnails.of_file(str(path), self._space) if path.suffix == ".ipynb" else {}

    def _read(self, path: Path, known: FileState | None) -> tuple[FileState, list[Draft]] | None:
        try:
            is_complete = known is not None and not known.is_incomplete and not self._anew
            if (
                known is not None
                and is_complete
                and not _differs(known, path)
                and not (self._retry and known.is_unread)
            ):
                self._counts["failed_before" if known.is_unread else "unchanged"] += 1
                return None
            state = FileState(str(path), *stamp(path), digest(path))
            if known is not None and is_complete and known.content_hash == state.content_hash:
                self._storage.writer.touch_file(state, self._space)
                self._counts["unchanged"] += 1
                return None
            ready = None if self._pool is None else self._pool.prepared(path)
            if ready is not None:
                self._ready += ready
                drafts = [one.draft for one in ready]
            else:
                committed, pictures = self._commits.get(path), self._pictures_of(path)
                redacting = self._settings.redact
                drafts = read_file(path, root=self._root, redacting=redacting, committed=committed, pictures=pictures)
        except OSError as error:
            self._refuse(str(path), error.strerror or type(error).__name__, known)
            return None
        except InputError as error:
            self._failed.append((str(path), str(error)))
            # Noted as unread: until it changes, the next run just counts it.
            self._storage.writer.touch_file(replace(state, content_hash=UNREAD + version_mark(path)), self._space)
            return None
        except (ValueError, OverflowError):
            self._failed.append((str(path), "its date is beyond any calendar; `touch` it"))
            return None
        self._counts["redacted"] += sum(int(draft.metadata.get("redacted", 0)) for draft in drafts)
        self._left_out += [(str(path), what, "") for draft in drafts[:1] for what in draft.metadata.get(NOTES, ())]
        self._batch.append((state, drafts))
        if path in self._new:
            self._later.append(state)
        self._waiting += max(1, len(drafts), sum(len(draft.text) for draft in drafts) // _ONE)
        return state, drafts

    def _refuse(self, path: str, why: str, known: FileState | None) -> None:
        # It is tried again each time, and reported the first time or with ``retry``. A folder is reported each time:
        # what is below it may have changed.
        if known is not None and known.content_hash == REFUSED and not self._retry:
            self._counts["failed_before"] += 1
            return
        self._failed.append((path, why))
        if not os.path.isdir(path):  # noqa: PTH112  Path raises OSError for a name that is too long
            self._storage.writer.touch_file(FileState(path, -1, 0, REFUSED), self._space)

    def _write(self) -> None:
        if not self._batch:
            return
        # Even a very long notebook is written at once: a file is stored as a whole or not at all.
        self._model.writing(self._write_with)
        if self._quota is not None:
            self._quota.written()
        self._counts["files"] += len(self._batch)
        self._counts["cells"] += sum(len(of_file) for _, of_file in self._batch)
        self._ready.clear()
        self._batch.clear()
        self._waiting = 0

    def _write_with(self, embedder: Embedder | None) -> None:
        fits = self._fingerprint == ("" if embedder is None else embedder.fingerprint)
        ready = {id(one.draft): one for one in self._ready} if fits else {}
        # A vector of the static model takes less time to compute than to read.
        slow = None if isinstance(embedder, TokenEmbedder) else embedder
        with self._storage.snapshot() as snapshot:
            earlier = unchanged(snapshot, [state.path for state, _ in self._batch], self._space, slow)
        dated = []
        for state, of_file in self._batch:
            here = [one if one.space == self._space else replace(one, space=self._space) for one in of_file]
            # The date of a commit is new to what an older version read.
            is_new = state.path in self._undated and Path(state.path) in self._commits
            dated.append((replace(state, dated=True), here if is_new else list(map(earlier.dated, here))))
        others = [draft for _, of_file in dated for draft in of_file if id(draft) not in ready]
        # Embedded before the transaction begins, so that the write lock is held for the writing only.
        rest = iter(prepare(others, embedder, earlier.vectors(others), capacity=self._settings.chunk_tokens))
        parts = [
            (state, [ready[id(draft)] if id(draft) in ready else next(rest) for draft in of_file])
            for state, of_file in dated
        ]
        wanted, later = self._settings.thumbnails, {state.path for state in self._later}
        files = [
            (replace(state, pictures=wanted and whole and state.path not in later), of_it)
            for state, of_it, whole in self._fitting(parts)
        ]
        self._storage.writer.replace_files(files, embedder, self._space)

    def _add_pictures(self, states: Iterable[FileState], tell: Callable[[], None]) -> None:
        # For notebooks of which only the text was read; until then, the store says that their pictures are missing.
        task = Task(self._root, self._settings.redact, self._space, 0, self._commits, CAPACITY, {})

        def read() -> Iterator[tuple[FileState, list[Prepared]]]:
            for state in states:
                tell()
                path = Path(state.path)
                with suppress(OSError):
                    ready = None if self._pool is None else self._pool.prepared(path, pictured=True)
                    if ready is None:
                        [found] = prepare_files([(path, True)], task, None)
                        ready = found and found[1]
                    # A file that has changed since its text was read is left for the next run.
                    if ready is not None and stamp(path) == (state.mtime_ns, state.size):
                        yield state, ready

        for shown in batches(read(), _TOGETHER):
            self._storage.thumbnails.add(self._fitting(shown), self._space)
            if self._quota is not None:
                self._quota.written()

    def _fitting(
        self, files: Sequence[tuple[FileState, list[Prepared]]]
    ) -> list[tuple[FileState, list[Prepared], bool]]:
        # With the pictures for which there is room, and whether none of a file lacks room.
        if all(one.draft.pictures == NO_PICTURES for _, memories in files for one in memories):
            return [(state, memories, True) for state, memories in files]
        self._quota = self._quota or Quota(self._storage, self._settings, self._space)
        self._quota.begin([state.path for state, _ in files])
        return [(state, *self._quota.fitting(memories)) for state, memories in files]


def _differs(known: FileState, path: Path) -> bool:
    # From what was read, by the present version of its reader.
    of_reader = known.content_hash != REFUSED and known.content_hash.endswith(version_mark(path))
    with suppress(OSError):
        return not of_reader or (known.mtime_ns, known.size) != stamp(path)
    return True
