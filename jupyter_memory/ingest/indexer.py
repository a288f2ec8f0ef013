"""Bringing what the store knows of a folder up to date with what is in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from time import perf_counter

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.read import read_file
from jupyter_memory.ingest.walk import Walk, walk
from jupyter_memory.paths import absolute
from jupyter_memory.protocols import Catalogue, FileState
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
    failed: list[tuple[str, str]] = field(default_factory=list)


def index(
    root: Path,
    catalogue: Catalogue,
    *,
    ignore: Sequence[str] = (),
    max_bytes: int,
    redacting: bool = True,
    progress: Progress | None = None,
) -> IndexReport:
    """Index a file or a folder: new and changed files are read, deleted ones forgotten, the others left alone.

    Files are written in batches, each whole: interrupted, the store holds every file as it was or as it is, and
    the next run goes on from there. A file that cannot be read keeps what is known of it.

    Raises:
        InputError: there is nothing at ``root``, or it is no file of a known kind.
    """
    begun = perf_counter()
    root = Path(os.path.normpath(absolute(root)))
    known = dict(catalogue.files_under(str(root)))
    if known and not root.exists():
        raise InputError(
            f"There is nothing at {root} any more, but {len(known)} indexed files were below it. "
            f"Forget them with: forget --source '{root}'"
        )
    seen = walk(root, ignore=ignore, max_bytes=max_bytes)
    tally = _Tally(failed=list(seen.failed))
    batch: list[tuple[FileState, list[Draft]]] = []
    for path in progress(seen.files) if progress is not None else seen.files:
        read = _read(path, root, known.get(str(path)), catalogue, tally, redacting)
        if read is not None:
            batch.append(read)
        if sum(max(1, len(drafts)) for _, drafts in batch) >= _BATCH:
            _write(catalogue, batch, tally)
    _write(catalogue, batch, tally)
    gone = _gone(seen, known)
    if gone:
        catalogue.forget_files(gone)
    return IndexReport(
        files=tally.files,
        cells=tally.memories,
        unchanged=tally.unchanged,
        forgotten=len(gone),
        redacted=tally.redacted,
        skipped=tuple(seen.skipped),
        failed=tuple(tally.failed),
        seconds=perf_counter() - begun,
    )


def _read(
    path: Path, root: Path, known: FileState | None, catalogue: Catalogue, tally: _Tally, redacting: bool
) -> tuple[FileState, list[Draft]] | None:
    """Return a file that has to be written, None when it is unchanged or cannot be read."""
    try:
        status = path.stat()
        modified = min(status.st_mtime_ns, _LATEST)
        if known is not None and (known.mtime_ns, known.size) == (modified, status.st_size):
            tally.unchanged += 1
            return None
        digest = blake2b(path.read_bytes(), digest_size=16).hexdigest()
        state = FileState(str(path), modified, status.st_size, digest)
        if known is not None and known.content_hash == digest:
            catalogue.touch(state)
            tally.unchanged += 1
            return None
        drafts = read_file(path, root=root, redacting=redacting)
    except OSError as error:
        tally.failed.append((str(path), error.strerror or type(error).__name__))
        return None
    except InputError as error:
        tally.failed.append((str(path), str(error)))
        return None
    except (ValueError, OverflowError):
        tally.failed.append((str(path), "its date is beyond any calendar; `touch` it"))
        return None
    tally.redacted += sum(int(draft.metadata.get("redacted", 0)) for draft in drafts)
    return state, drafts


def _write(catalogue: Catalogue, batch: list[tuple[FileState, list[Draft]]], tally: _Tally) -> None:
    # A book of a notebook is written in one go all the same: a file is in whole or not at all.
    if not batch:
        return
    tally.memories += catalogue.replace_files(batch)
    tally.files += len(batch)
    batch.clear()


def _gone(seen: Walk, known: Iterable[str]) -> list[str]:
    """Return known files that are no longer there, or no longer wanted; what could not be looked at stays."""
    present = {str(path) for path in seen.files}
    unreadable = [path for path, _ in seen.failed]
    return [path for path in known if path not in present and not any(_is_below(path, folder) for folder in unreadable)]


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
