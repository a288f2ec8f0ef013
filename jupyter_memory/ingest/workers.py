"""Files read and prepared by processes of their own, ahead of the one that writes them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import IO, Self, cast

from jupyter_memory.ingest.worker_process import Answer, Task, stamp, unpacked
from jupyter_memory.storage.base import Prepared

# Bytes of files from which on helpers are worth their start, which takes each some 0.4 s.
_WORTH_IT = 3_000_000
# Bytes of files that a helper is given at once, and how many such portions may lie ready or be under way.
_PORTION = 100_000
_AHEAD = 24
_MOST_HELPERS = 3
# Bytes of a pipe and of what is read from it at once: three answers.
_PIPE = 1 << 20

# What a portion is prepared by where the caller does it.
Here = Callable[[Sequence[Path]], list[Answer | None]]

# Threads of BLAS would take a core from the others, even while they wait for work.
_ALONE = {"OPENBLAS_NUM_THREADS": "1"}
# Where the package is found by whoever asked, whatever was done to the path meanwhile.
_PROGRAM = "import sys; sys.path[:] = {path!r}; from jupyter_memory.ingest.worker_process import serve; serve()"


class Ahead:
    """Gives what was prepared of each file, in the order in which the files were named.

    A file that a helper could not read, or of a helper that is gone, is None: the caller reads it. With ``here``, the
    caller does not wait for a helper as long as there is a portion that it can prepare itself.
    """

    def __init__(
        self, paths: Sequence[Path], task: Task, helpers: int, portion: int = 0, here: Here | None = None
    ) -> None:
        self._portions = list(_portions(paths, portion or _PORTION))
        self._place = {path: place for place, part in enumerate(self._portions) for path in part}
        self._here = here
        self._news = Condition()
        self._next = 0  # the portion that is given out next
        self._wanted = 0  # the one that is asked for; what lies before is not needed any more
        self._ready: dict[int, dict[Path, Answer | None]] = {}
        self._ended = False
        self._running = 0
        self._helpers: list[subprocess.Popen[bytes]] = []
        for _ in range(min(helpers, len(self._portions))):
            with suppress(OSError):
                self._helpers.append(_started(task))
        for helper in self._helpers:
            self._running += 1
            Thread(target=self._ask, args=(helper,), name="jupyter-memory-ahead", daemon=True).start()

    def prepared(self, path: Path) -> list[Prepared] | None:
        """Return what was prepared of a file, waiting for it if it is under way; None of one that was passed by."""
        place = self._place.get(path)
        if place is None:
            return None
        with self._news:
            if place < self._wanted:
                return None
            self._wanted = place
            for before in [one for one in self._ready if one < place]:
                del self._ready[before]
            self._news.notify_all()
        self._help_until(place)
        with self._news:
            self._news.wait_for(lambda: place in self._ready or not self._running)
            found = self._ready.get(place, {}).pop(path, None)
        # A file that was written since is not what was prepared.
        return None if found is None or found[0] != stamp(path) else unpacked(found[1])

    def close(self) -> None:
        """Let the helpers end, whatever they are doing."""
        with self._news:
            self._ended = True
            self._news.notify_all()
        for helper in self._helpers:
            helper.kill()
            helper.wait()
            for pipe in (helper.stdin, helper.stdout):
                # What was not sent is of no use to anybody.
                with suppress(OSError):
                    cast(IO[bytes], pipe).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _help_until(self, place: int) -> None:
        """Prepare portions that no helper has, until the one that is asked for lies ready."""
        while self._here is not None and place not in self._ready and self._running:
            own = self._taken(wait=False)
            if own is None:
                return
            self._put(own, self._here(self._portions[own]))

    def _ask(self, helper: subprocess.Popen[bytes]) -> None:
        """Let one helper prepare portion after portion, always one more than it has answered."""
        under_way: list[int] = []
        try:
            while True:
                while len(under_way) < 2 and (place := self._taken(wait=not under_way)) is not None:
                    under_way.append(place)
                    cast(IO[bytes], helper.stdin).write(pickle.dumps(self._portions[place]))
                    cast(IO[bytes], helper.stdin).flush()
                if not under_way:
                    return
                found = pickle.load(cast(IO[bytes], helper.stdout))  # noqa: S301 - from the process started here
                self._put(under_way.pop(0), found)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            # It is gone; what it had is read by the caller.
            for place in under_way:
                self._put(place, [None] * len(self._portions[place]))
        finally:
            with self._news:
                self._running -= 1
                self._news.notify_all()

    def _taken(self, *, wait: bool) -> int | None:
        """Return the next portion; None when there is none, or, without ``wait``, when enough lie ready."""
        with self._news:
            if wait:
                self._news.wait_for(lambda: self._ended or self._next < self._wanted + _AHEAD)
            if self._ended or self._next >= len(self._portions) or self._next >= self._wanted + _AHEAD:
                return None
            self._next += 1
            return self._next - 1

    def _put(self, place: int, found: Sequence[Answer | None]) -> None:
        with self._news:
            if place >= self._wanted:
                self._ready[place] = dict(zip(self._portions[place], found, strict=True))
            self._news.notify_all()


def helpers_for(paths: Sequence[Path]) -> int:
    """Return how many helpers are worth their start for these files."""
    size = 0
    for path in paths:
        with suppress(OSError):
            size += path.stat().st_size
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, _MOST_HELPERS) if cores > 1 and size >= _WORTH_IT and sys.executable else 0


def _started(task: Task) -> subprocess.Popen[bytes]:
    helper = subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
        bufsize=_PIPE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_ALONE},
        # Ctrl-C is for whoever asked.
        start_new_session=True,
    )
    _widen(cast(IO[bytes], helper.stdout))
    with suppress(OSError):
        pickle.dump(task, cast(IO[bytes], helper.stdin))
        cast(IO[bytes], helper.stdin).flush()
    return helper


def _widen(pipe: IO[bytes]) -> None:
    """Let a pipe hold a whole answer, where the system can: the helper goes on, whatever whoever reads is doing."""
    if sys.platform == "linux":
        import fcntl

        # More than a user may have of it is refused.
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _portions(paths: Sequence[Path], most: int) -> Iterator[list[Path]]:
    """Yield the files in portions of some size, in their order."""
    part: list[Path] = []
    size = 0
    for path in paths:
        part.append(path)
        with suppress(OSError):
            size += path.stat().st_size
        if size >= most:
            yield part
            part, size = [], 0
    if part:
        yield part
