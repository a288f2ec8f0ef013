"""A worker process: it reads, redacts, chunks and embeds files for the process that writes them.

Workers receive paths, return results through a pipe and exit when it closes.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import accumulate, islice, pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.ingest.reading import read_file
from jupyter_memory.storage.base import Prepared
from jupyter_memory.text.code import Definitions
from jupyter_memory.types import Chunk, Draft
from jupyter_memory.types.chunk_tokens import ChunkTokens
from jupyter_memory.types.memory import Thumbnail

if TYPE_CHECKING:
    from jupyter_memory.types.protocols import Embedder

_DRAFT = attrgetter(*(field.name for field in fields(Draft)[:-1]))
_CHUNK = attrgetter(*(field.name for field in fields(Chunk)))
_draft: Callable[..., Draft] = Draft

# Drafts with their chunks; all vectors; the tokens of each chunk; the words of ``ident``; what each draft defines.
Packed = tuple[list[tuple[Any, ...]], Any, list[bytes], list[str], list[Definitions | None]]

# Which state of a file was read, and what it holds.
Result = tuple[tuple[int, int], Packed]


@dataclass(frozen=True, slots=True)
class Task:
    """What the files of one run have in common; ``dimensions`` are the static model's, 0 without vectors.

    ``commits`` says when files were committed that are as they were committed. ``pictures`` are the thumbnails that are
    known of files, by their origin; None where pictures are not read.
    """

    root: Path
    redacting: bool
    space: str
    dimensions: int
    commits: Mapping[Path, datetime] = field(default_factory=dict)
    pictures: Mapping[Path, Mapping[str, Thumbnail]] | None = None


def stamp(path: Path) -> tuple[int, int]:
    """Return when a file was changed and its size, which differ between two states of it."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def prepare_files(paths: Sequence[Path], task: Task, embedder: Embedder | None) -> list[Result | None]:
    """Return what each file holds, ready to be written; None where something is wrong with it."""
    drafts: list[list[Draft] | None] = []
    stamps = []
    for path in paths:
        stamps.append((0, 0))
        try:
            stamps[-1] = stamp(path)
            found = read_file(
                path,
                root=task.root,
                redacting=task.redacting,
                committed=task.commits.get(path),
                pictures=None if task.pictures is None else task.pictures.get(path, {}),
            )
            drafts.append([replace(one, space=task.space) for one in found] if task.space else found)
        except (JupyterMemoryError, OSError, ValueError, OverflowError):
            # The process that writes reads it again, and reports what is wrong.
            drafts.append(None)
    ready = iter(prepare([one for of_file in drafts for one in of_file or ()], embedder))
    return [
        None if of_file is None else (when, packed(list(islice(ready, len(of_file)))))
        for of_file, when in zip(drafts, stamps, strict=True)
    ]


def serve() -> None:
    """Prepare the files named on standard input until it closes, as it also does when the other process is killed."""
    requests, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    with suppress(EOFError, BrokenPipeError):
        task: Task = pickle.load(requests)  # noqa: S301 - from the process that started this one
        embedder = _embedder(task.dimensions)
        # What is made here is sent or kept, so there is next to nothing to collect.
        gc.freeze()
        gc.set_threshold(100_000)
        while True:
            paths: list[Path] = pickle.load(requests)  # noqa: S301
            # In one piece: the reader would wait for its turn after each of the pieces that pickle makes.
            results.write(pickle.dumps(prepare_files(paths, task, embedder), pickle.HIGHEST_PROTOCOL))
            results.flush()


def _embedder(dimensions: int) -> Embedder | None:
    if not dimensions:
        return None
    from jupyter_memory.embedders.static import StaticEmbedder

    return StaticEmbedder(dimensions)


def packed(prepared: Sequence[Prepared]) -> Packed:
    """Return prepared memories as tuples, strings and an array, which are pickled fast."""
    drafts = [(*_DRAFT(one.draft), [_CHUNK(chunk) for chunk in one.draft.chunks]) for one in prepared]
    parts = [one.vectors for one in prepared if one.vectors is not None]
    return (
        drafts,
        np.concatenate(parts) if parts else None,
        [tokens.to_bytes() for one in prepared for tokens in one.tokens],
        [words for one in prepared for words in one.idents],
        [one.definitions for one in prepared],
    )


def unpacked(given: Packed) -> list[Prepared]:
    """Return the prepared memories that were packed."""
    drafts, vectors, packed_tokens, idents, definitions = given
    tokens = [ChunkTokens.from_bytes(data) for data in packed_tokens]
    ends = accumulate((len(draft[-1]) for draft in drafts), initial=0)
    return [
        Prepared(
            _draft(*draft[:-1], tuple([Chunk(*chunk) for chunk in draft[-1]])),
            None if vectors is None else vectors[begin:end],
            tokens[begin:end],
            idents[begin:end],
            defined,
        )
        for draft, (begin, end), defined in zip(drafts, pairwise(ends), definitions, strict=True)
    ]
