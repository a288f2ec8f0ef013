"""Bringing what the store knows of a folder up to date with what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.moves import Gone
from jupyter_memory.ingest.walker import digest, own_name, walk
from jupyter_memory.protocols import UNREAD, Catalogue, FileState
from jupyter_memory.text.paths import normal
from jupyter_memory.types import Draft, IndexReport

# Memories that are embedded and written together: large enough for the model, small enough to lose on Ctrl-C.
_BATCH = 1024

_LATEST = 2**63 - 1  # what SQLite can hold: some tools date files into other millennia

Progress = Callable[[Sequence[Path]], Iterable[Path]]


@dataclass(slots=True)
class _Tally:
    """What one run did so far."""

    files: int = 0
    memories: int = 0
    unchanged: int = 0
    redacted: int = 0
    moved: int = 0
    looked_at: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)


def index(
    root: Path,
    catalogue: Catalogue,
    *,
    ignore: Sequence[str] = (),
    max_bytes: int,
    redacting: bool = True,
    progress: Progress | None = None,
    tell: Callable[[int, int | None], None] | None = None,
    named_from: Path | None = None,
) -> IndexReport:
    """Index a file or a folder: new and changed files are read, deleted ones forgotten, the others left alone.

    Files are written in batches, each whole: interrupted, the store holds every file as it was or as it is, and
    the next run goes on from there. A file that cannot be read keeps what is known of it. A known file that is gone
    while a new one has its content, or most of it, was moved, also from another folder; on a drive that is not
    connected now it is not gone. ``tell`` hears how many files are done, and how
    many there are; ``named_from`` is the folder from which a single file is named, its own if left out.

    Raises:
        InputError: there is nothing at ``root``, or it is no file of a known kind.
    """
    begun = perf_counter()
    root = normal(root)
    if named_from is not None:
        root = own_name(root, named_from, ignore=ignore)
    told = tell or _unheard
    told(0, None)
    known = _known_below(root, catalogue)
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    gone = Gone(seen, known, catalogue)
    tally = _Tally(failed=[*seen.failed, *_out_of_reach(gone)])
    for before, after in gone.displaced():
        catalogue.rename(before, after)
        tally.moved += 1
    catalogue.expect(_touched(seen.files, known), named_from or root, redacting)
    told(0, len(seen.files))
    batch: list[tuple[FileState, list[Draft]]] = []
    waiting = 0
    for path in progress(seen.files) if progress is not None else seen.files:
        read = _read(path, named_from or root, known.get(str(path)), catalogue, tally, redacting)
        tally.looked_at += 1
        if read is not None:
            batch.append(read)
            waiting += max(1, len(read[1]))
            if (old := gone.moved_to(*read)) is not None:
                catalogue.rename(old, read[0].path)
                tally.moved += 1
        if waiting >= _BATCH:
            _write(catalogue, batch, tally)
            waiting = 0
        told(tally.looked_at, len(seen.files))
    _write(catalogue, batch, tally)
    told(tally.looked_at, len(seen.files))
    if gone.paths:
        catalogue.forget_files(list(gone.paths))
    return _report(tally, forgotten=len(gone.paths), skipped=seen.skipped, seconds=perf_counter() - begun)


def _known_below(root: Path, catalogue: Catalogue) -> dict[str, FileState]:
    """Return what is known of the files at or below a place that is still there, by path."""
    known = dict(catalogue.files_under(str(root)))
    if known and not root.exists():
        raise InputError(
            f"There is nothing at {root} any more, but {len(known)} indexed files were below it. Was it renamed? Then "
            f"index it by its new name, and they move along. If they are gone: forget --source '{root}'"
        )
    return known


def _out_of_reach(gone: Gone) -> Iterator[tuple[str, str]]:
    """Yield the folders whose files are known and cannot be reached, each with what may be the reason."""
    for place, files in gone.away.items():
        them = "an indexed file" if files == 1 else f"{files:,} indexed files"
        yield (
            place,
            f"{them} cannot be reached here and {'is' if files == 1 else 'are'} kept. Connect the drive or share; "
            f"if there is none any more: forget --source '{place}'",
        )


def _report(tally: _Tally, *, forgotten: int, skipped: Sequence[tuple[str, str]], seconds: float) -> IndexReport:
    return IndexReport(
        files=tally.files,
        cells=tally.memories,
        unchanged=tally.unchanged,
        forgotten=forgotten,
        moved=tally.moved,
        redacted=tally.redacted,
        skipped=tuple(skipped),
        failed=tuple(tally.failed),
        seconds=seconds,
    )


def _read(
    path: Path, root: Path, known: FileState | None, catalogue: Catalogue, tally: _Tally, redacting: bool
) -> tuple[FileState, list[Draft]] | None:
    """Return a file that has to be written, None when it is unchanged or cannot be read."""
    try:
        status = path.stat()
        modified = min(status.st_mtime_ns, _LATEST)
        same = known is not None and (known.mtime_ns, known.size) == (modified, status.st_size)
        if known is not None and same and known.content_hash != UNREAD:
            tally.unchanged += 1
            return None
        state = FileState(str(path), modified, status.st_size, digest(path))
        if known is not None and known.content_hash == state.content_hash:
            catalogue.touch(state)
            tally.unchanged += 1
            return None
        drafts = catalogue.read(path, root, redacting)
    except OSError as error:
        tally.failed.append((str(path), error.strerror or type(error).__name__))
        return None
    except InputError as error:
        tally.failed.append((str(path), str(error)))
        # Noted as it is: until somebody writes it, it has not changed. The next run reads it again, and says so again.
        catalogue.touch(FileState(str(path), modified, status.st_size, UNREAD))
        return None
    except (ValueError, OverflowError):
        tally.failed.append((str(path), "its date is beyond any calendar; `touch` it"))
        return None
    tally.redacted += sum(int(draft.metadata.get("redacted", 0)) for draft in drafts)
    return state, drafts


def _unheard(done: int, files: int | None) -> None:
    """Hear how far an indexing is that nobody follows."""


def _touched(paths: Iterable[Path], known: Mapping[str, FileState]) -> list[Path]:
    """Return the files that will be read as far as their times and sizes tell."""
    found = []
    for path in paths:
        before = known.get(str(path))
        with suppress(OSError):
            status = path.stat()
            stamp = (min(status.st_mtime_ns, _LATEST), status.st_size)
            if before is None or (before.mtime_ns, before.size) != stamp:
                found.append(path)
    return found


def _write(catalogue: Catalogue, batch: list[tuple[FileState, list[Draft]]], tally: _Tally) -> None:
    # A book of a notebook is written in one go all the same: a file is in whole or not at all.
    if not batch:
        return
    tally.memories += catalogue.replace_files(batch)
    tally.files += len(batch)
    batch.clear()


def changed(root: Path, catalogue: Catalogue, *, ignore: Sequence[str] = (), max_bytes: int) -> int:
    """Return how many files at or below ``root`` are new, gone or have other content than is known of them."""
    known = dict(catalogue.files_under(str(root)))
    if not root.exists():
        return len(known)
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    different = sum(_differs(path, known.get(str(path))) for path in seen.files)
    return different + len(Gone(seen, known, catalogue).paths)


def _differs(path: Path, known: FileState | None) -> bool:
    if known is None:
        return True
    try:
        status = path.stat()
        if (known.mtime_ns, known.size) == (min(status.st_mtime_ns, _LATEST), status.st_size):
            return False
        return known.size != status.st_size or known.content_hash != digest(path)
    except OSError:
        return False  # it keeps what is known of it
