"""Brings what a store knows of a folder up to date with the files in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.discovery.walker import Walk, own_name, walk
from jupyter_memory.ingest.moves.missing import MissingFiles
from jupyter_memory.ingest.moves.second_names import use_known_names
from jupyter_memory.ingest.readers.fingerprint import digest, version_mark
from jupyter_memory.text.paths import normal
from jupyter_memory.types import Draft, IndexReport
from jupyter_memory.types.protocols import REFUSED, UNREAD, Catalog, FileState

# Memories that are embedded and written together: large enough for the model, small enough to lose on Ctrl-C.
_BATCH = 1024

# The latest time that SQLite can hold: some tools date files into other millennia.
_LATEST = 2**63 - 1

Progress = Callable[[Sequence[Path]], Iterable[Path]]


@dataclass(slots=True)
class _Counts:
    """What one run has done so far."""

    files: int = 0
    memories: int = 0
    unchanged: int = 0
    redacted: int = 0
    moved: int = 0
    looked_at: int = 0
    failed_before: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)


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

    Files are written in batches, and never in part: after an interruption the store holds every file as it was or as it
    is, and the next run continues from there. What is known of a file stays if the file cannot be read, or if its drive
    is not connected. A known file was moved, also from another folder, if it is gone and a new file has its
    content, or most of it. ``tell`` receives how many files are done and how many there are; ``named_from`` is the
    folder from which a single file is named, its own if left out. A file that could not be read before, and has not
    changed since, is read and reported again with ``retry`` only.

    Raises:
        InputError: there is nothing at ``root``, or it is no file of a known kind.
    """
    begun = perf_counter()
    root = normal(root)
    if named_from is not None:
        root = own_name(root, named_from, ignore=ignore)
    report = tell or _ignore
    report(0, None)
    known = _known_below(root, catalog)
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    known = use_known_names(seen, known, catalog.files_under)
    missing = MissingFiles(seen, known, catalog)
    counts = _Counts(failed=list(_unreachable(missing)))
    for place, why in seen.failed:
        _refuse(place, why, known.get(place), catalog, counts, retry)
    for before, after in missing.displaced():
        catalog.rename(before, after)
        # Its titles are still those of its earlier name, so it is read whatever it holds.
        known.pop(after, None)
        counts.moved += 1
    catalog.expect(_likely_changed(seen.files, known), named_from or root, redacting)
    report(0, len(seen.files))
    batch: list[tuple[FileState, list[Draft]]] = []
    waiting = 0
    for path in progress(seen.files) if progress is not None else seen.files:
        read = _read(path, named_from or root, known.get(str(path)), catalog, counts, redacting, retry)
        counts.looked_at += 1
        if read is not None:
            batch.append(read)
            waiting += max(1, len(read[1]))
            if (old := missing.moved_to(*read)) is not None:
                catalog.rename(old, read[0].path)
                counts.moved += 1
        if waiting >= _BATCH:
            _write(catalog, batch, counts)
            waiting = 0
        report(counts.looked_at, len(seen.files))
    _write(catalog, batch, counts)
    report(counts.looked_at, len(seen.files))
    if missing.paths:
        catalog.forget_files(list(missing.paths))
    return _report(counts, len(missing.paths), seen, perf_counter() - begun)


def _known_below(root: Path, catalog: Catalog) -> dict[str, FileState]:
    """Return what is known of the files at or below a path that still exists."""
    known = dict(catalog.files_under(str(root)))
    if known and not root.exists():
        raise InputError(
            f"There is nothing at {root} any more, but {len(known)} indexed files were below it. If it was renamed, "
            "index it under its new name, and their memories move with it. If the files are gone: forget --source "
            f"'{root}'"
        )
    return known


def _unreachable(missing: MissingFiles) -> Iterator[tuple[str, str]]:
    """Yield the folders whose known files cannot be reached, each with the likely reason."""
    for place, files in missing.unreachable.items():
        them = "an indexed file" if files == 1 else f"{files:,} indexed files"
        yield (
            place,
            f"{them} cannot be reached here and {'is' if files == 1 else 'are'} kept. Connect the drive or share; "
            f"if it no longer exists: forget --source '{place}'",
        )


def _report(counts: _Counts, forgotten: int, seen: Walk, seconds: float) -> IndexReport:
    return IndexReport(
        files=counts.files,
        cells=counts.memories,
        unchanged=counts.unchanged,
        forgotten=forgotten,
        moved=counts.moved,
        redacted=counts.redacted,
        skipped=tuple(seen.skipped),
        failed=tuple(counts.failed),
        seconds=seconds,
        failed_before=counts.failed_before,
        left_out=dict(sorted(seen.left_out.items(), key=lambda one: (-one[1], one[0]))),
    )


def _read(
    path: Path, root: Path, known: FileState | None, catalog: Catalog, counts: _Counts, redacting: bool, retry: bool
) -> tuple[FileState, list[Draft]] | None:
    """Return a file that has to be written, None if it is unchanged or cannot be read."""
    try:
        status = path.stat()
        modified = min(status.st_mtime_ns, _LATEST)
        same = known is not None and (known.mtime_ns, known.size) == (modified, status.st_size)
        complete = known is None or not known.is_incomplete
        if known is not None and same and complete and not (retry and known.is_unread) and _is_of_present_reader(known):
            counts.unchanged += not known.is_unread
            counts.failed_before += known.is_unread
            return None
        state = FileState(str(path), modified, status.st_size, digest(path))
        if known is not None and known.content_hash == state.content_hash and complete:
            catalog.touch(state)
            counts.unchanged += 1
            return None
        drafts = catalog.read(path, root, redacting)
    except OSError as error:
        _refuse(str(path), error.strerror or type(error).__name__, known, catalog, counts, retry)
        return None
    except InputError as error:
        counts.failed.append((str(path), str(error)))
        # Noted as unread: until somebody changes it, the next run just counts it.
        catalog.touch(FileState(str(path), modified, status.st_size, UNREAD + version_mark(path)))
        return None
    except (ValueError, OverflowError):
        counts.failed.append((str(path), "its date is beyond any calendar; `touch` it"))
        return None
    counts.redacted += sum(int(draft.metadata.get("redacted", 0)) for draft in drafts)
    return state, drafts


def _refuse(path: str, why: str, known: FileState | None, catalog: Catalog, counts: _Counts, retry: bool) -> None:
    """Note that the system refused a file. It is tried again each time, and reported the first time or with ``retry``.

    A folder is reported each time: what is below it may have changed.
    """
    if known is not None and known.content_hash == REFUSED and not retry:
        counts.failed_before += 1
        return
    counts.failed.append((path, why))
    if not os.path.isdir(path):  # noqa: PTH112  Path raises OSError for a name that is too long
        catalog.touch(FileState(path, -1, 0, REFUSED))


def _is_of_present_reader(known: FileState) -> bool:
    """Return whether the present version of its reader has read a file, or could not."""
    return known.content_hash != REFUSED and known.content_hash.endswith(version_mark(known.path))


def _ignore(done: int, files: int | None) -> None:
    """Report progress to nobody."""


def _likely_changed(paths: Iterable[Path], known: Mapping[str, FileState]) -> list[Path]:
    """Return the files that will be read, judged by their times and sizes."""
    found = []
    for path in paths:
        before = known.get(str(path))
        with suppress(OSError):
            status = path.stat()
            stamp = (min(status.st_mtime_ns, _LATEST), status.st_size)
            is_same = before is not None and (before.mtime_ns, before.size) == stamp
            if before is None or not is_same or before.is_incomplete or not _is_of_present_reader(before):
                found.append(path)
    return found


def _write(catalog: Catalog, batch: list[tuple[FileState, list[Draft]]], counts: _Counts) -> None:
    # Even a very long notebook is written at once: a file is stored as a whole or not at all.
    if not batch:
        return
    counts.memories += catalog.replace_files(batch)
    counts.files += len(batch)
    batch.clear()


def changed(root: Path, catalog: Catalog, *, ignore: Sequence[str] = (), max_bytes: int) -> int:
    """Return how many files at or below ``root`` are new, gone or changed since they were indexed."""
    known = dict(catalog.files_under(str(root)))
    if not root.exists():
        return len(known)
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    known = use_known_names(seen, known, catalog.files_under)
    different = sum(_differs(path, known.get(str(path))) for path in seen.files)
    return different + len(MissingFiles(seen, known, catalog).paths)


def _differs(path: Path, known: FileState | None) -> bool:
    if known is None:
        return True
    try:
        status = path.stat()
        if (known.mtime_ns, known.size) == (min(status.st_mtime_ns, _LATEST), status.st_size):
            return not _is_of_present_reader(known)
        return known.size != status.st_size or known.content_hash != digest(path)
    except OSError:
        return False  # what is known of it stays
