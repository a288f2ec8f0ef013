"""Processes that prepare files side by side."""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, islice
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.ingest.preparation import prepare, read_file
from jupyter_memory.ingest.readers.isolated import Child
from jupyter_memory.ingest.readers.registry import known_readers, stamp
from jupyter_memory.runtime import portions
from jupyter_memory.storage.base import Prepared
from jupyter_memory.types import Draft
from jupyter_memory.types.memory import NO_PICTURES, Thumbnail

if TYPE_CHECKING:
    from jupyter_memory.types.protocols import Embedder

# A file, and whether only its pictures are wanted.
Read = tuple[Path, bool]
# Which state of a file was read, and what it holds.
Result = tuple[tuple[int, int], list[Prepared]]


@dataclass(frozen=True, slots=True)
class Task:
    root: Path
    redacting: bool
    space: str
    dimensions: int  # 0 without vectors
    commits: Mapping[Path, datetime]
    capacity: int  # tokens of a chunk
    pictures: Mapping[Path, Mapping[str, Thumbnail] | None]  # known ones by origin; None: not read with the text


def prepare_files(reads: Sequence[Read], task: Task, embedder: Embedder | None) -> list[Result | None]:
    """Return what each file holds, ready to be written; None where something is wrong with it.

    If only the pictures are wanted, these are the memories that have any, not embedded.
    """
    read: list[tuple[tuple[int, int], list[Draft]] | None] = []
    for path, pictured in reads:
        try:
            when = stamp(path)
            found = read_file(
                path,
                root=task.root,
                redacting=task.redacting,
                committed=task.commits.get(path),
                pictures={} if pictured else task.pictures.get(path, {}),
            )
            if pictured:
                found = [one for one in found if one.pictures != NO_PICTURES]
            read.append((when, [replace(one, space=task.space) for one in found] if task.space else found))
        except (JupyterMemoryError, OSError, ValueError, OverflowError):
            # The process that writes reads it again, and reports what is wrong.
            read.append(None)
    texts = [
        one
        for (_, pictured), of_file in zip(reads, read, strict=True)
        if of_file and not pictured
        for one in of_file[1]
    ]
    ready = iter(prepare(texts, embedder, capacity=task.capacity))
    return [
        of_file
        and (
            of_file[0],
            [Prepared(one, None) for one in of_file[1]] if pictured else list(islice(ready, len(of_file[1]))),
        )
        for (_, pictured), of_file in zip(reads, read, strict=True)
    ]


def serve() -> None:
    """Prepare the files named on standard input until it closes, as it also does when the other process is killed."""
    requests, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    with suppress(EOFError, BrokenPipeError):
        task: Task = pickle.load(requests)  # noqa: S301 - from the process that started this one
        embedder = None
        if task.dimensions:
            from jupyter_memory.embedders.static import StaticEmbedder

            embedder = StaticEmbedder(task.dimensions)
        # What is made here is sent or kept, so there is next to nothing to collect.
        gc.freeze()
        gc.set_threshold(100_000)
        while True:
            reads: list[Read] = pickle.load(requests)  # noqa: S301
            # In one piece: the reader would wait for its turn after each of the pieces that pickle makes.
            results.write(pickle.dumps(prepare_files(reads, task, embedder), pickle.HIGHEST_PROTOCOL))
            results.flush()


# Bytes of files from which on workers are worth their start, which takes each some 0.4 s.
_WORTH_IT = 3_000_000
# Bytes of files that a worker gets at once, and after how many bytes no further portion is begun.
_PORTION = 100_000
_AHEAD = 8_000_000
_MOST_WORKERS = 3
# Bytes that a database counts for, of which the schema is read.
_UNOPENED = 100_000
# Bytes of a pipe and of what is read from it at once: three results.
_PIPE = 1 << 20


def _send(worker: Child, request: object) -> None:
    worker.requests.write(pickle.dumps(request))
    worker.requests.flush()


class WorkerPool:
    """Hands out what was prepared of each file, in the order in which the files were named.

    A file that no worker could read is None, and so is one whose worker was killed: the caller reads it. While it would
    have to wait, the caller prepares portions itself, with ``here``.
    """

    def __init__(
        self, reads: Sequence[Read], task: Task, workers: int, here: Callable[[Sequence[Read]], list[Result | None]]
    ) -> None:
        self._portions = list(portions(reads, _read_of, _PORTION))
        # The bytes of all portions before each.
        self._before = list(accumulate((sum(map(_read_of, part)) for part in self._portions), initial=0))
        self._place = {read: place for place, part in enumerate(self._portions) for read in part}
        self._here = here
        self._news = Condition()
        self._next = 0  # the portion that is given out next
        self._wanted = 0  # the portion that the caller wants; those before it are no longer needed
        self._ready: dict[int, dict[Read, Result | None]] = {}
        self._ended = False
        self._workers: list[Child] = []
        for _ in range(min(workers, len(self._portions))):
            with suppress(OSError):
                worker = Child.start(__name__, _PIPE)
                self._workers.append(worker)
                if sys.platform == "linux":
                    import fcntl

                    # More than a user may have of it is refused.
                    with suppress(OSError):
                        fcntl.fcntl(worker.results, fcntl.F_SETPIPE_SZ, _PIPE)
                _send(worker, task)
        self._running = len(self._workers)
        for worker in self._workers:
            Thread(target=self._feed, args=(worker,), name="jupyter-memory-worker", daemon=True).start()

    def prepared(self, path: Path, *, pictured: bool = False) -> list[Prepared] | None:
        """Return what was prepared of a file, once it is ready; None for a file that was passed by."""
        place = self._place.get((path, pictured))
        if place is None:
            return None
        with self._news:
            if place < self._wanted:
                return None
            self._wanted = place
            for before in [one for one in self._ready if one < place]:
                del self._ready[before]
            self._news.notify_all()
        while place not in self._ready and self._running:
            if (own := self._taken(wait=False, pictured=pictured)) is None:
                break
            self._put(own, self._here(self._portions[own]))
        with self._news:
            self._news.wait_for(lambda: place in self._ready or not self._running)
            found = self._ready.get(place, {}).pop((path, pictured), None)
        # A file that was written since is not what was prepared.
        return None if found is None or found[0] != stamp(path) else found[1]

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        with self._news:
            self._ended = True
            self._news.notify_all()
        for worker in self._workers:
            worker.end()

    def _feed(self, worker: Child) -> None:
        under_way: list[int] = []
        try:
            while True:
                while len(under_way) < 2 and (place := self._taken(wait=not under_way)) is not None:
                    under_way.append(place)
                    _send(worker, self._portions[place])
                if not under_way:
                    return
                found = pickle.load(worker.results)  # noqa: S301 - from the process started here
                self._put(under_way.pop(0), found)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            # The worker is gone; the caller reads what it had.
            for place in under_way:
                self._put(place, [None] * len(self._portions[place]))
        finally:
            with self._news:
                self._running -= 1
                self._news.notify_all()

    def _taken(self, *, wait: bool, pictured: bool = True) -> int | None:
        with self._news:
            if wait:
                self._news.wait_for(lambda: self._ended or self._is_near())
            if self._ended or self._next >= len(self._portions) or not self._is_near():
                return None
            # Whoever waits for a text begins no pictures meanwhile.
            if not pictured and self._portions[self._next][0][1]:
                return None
            self._next += 1
            return self._next - 1

    def _is_near(self) -> bool:
        return self._before[self._next] - self._before[self._wanted] < _AHEAD

    def _put(self, place: int, found: Sequence[Result | None]) -> None:
        with self._news:
            if place >= self._wanted:
                self._ready[place] = dict(zip(self._portions[place], found, strict=True))
            self._news.notify_all()


def workers_for(paths: Sequence[Path]) -> int:
    """Return how many workers are worth their start for these files."""
    size = sum(_read_of((path, False)) for path in paths)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, _MOST_WORKERS) if cores > 1 and size >= _WORTH_IT and sys.executable else 0


def _read_of(read: Read) -> int:
    path, _ = read
    _, sampled, unopened = known_readers().traits_of(path)
    with suppress(OSError):
        size = path.stat().st_size
        return min(size, 2 * sampled or (_UNOPENED if unopened else size))
    return 0
