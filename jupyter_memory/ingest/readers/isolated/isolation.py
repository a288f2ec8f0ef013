"""Readers whose parsers run in a process of their own, bounded in time and memory.

A parser of a large format may need all memory, never end, or crash on a file that somebody broke or made for that. It
also opens the file, and of a database that this process has open, that would end the locks. The process starts with the
first such file, reads one file after another, and ends when it had nothing to do for a while. Pictures in SVG are
drawn there, too.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document
from jupyter_memory.ingest.readers.isolated.process import unpacked

if TYPE_CHECKING:
    import subprocess

# Seconds that a file may take, and bytes of memory.
SECONDS, MEMORY = 60.0, 3 << 30
_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; sys.dont_write_bytecode = True; "
    "from jupyter_memory.ingest.readers.isolated.process import serve; serve({memory})"
)
# Threads of BLAS would each reserve memory.
_ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_ENDED_IDLE = 0


@dataclass(frozen=True, slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    requests: IO[bytes]
    results: IO[bytes]

    def end(self) -> int:
        """End the process, whatever it is doing, and return how it ended."""
        self.process.kill()
        for pipe in (self.requests, self.results):
            with suppress(OSError):
                pipe.close()
        return self.process.wait()


class Isolation:
    """The process in which files are parsed, of which there is one at a time."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._lock = Lock()
        self._child: _Child | None = None
        self._owner = 0

    def read(self, module: str, what: str, path: Path) -> Document:
        """Return what ``read(path)`` of a module of readers returns there; ``what`` is what the file ought to be.

        Raises:
            InputError: it is something else or damaged, or it takes too long or too much memory to read.
            OSError: it cannot be read.
        """
        return unpacked(self._asked(module, what, {"path": str(path), "seconds": self._seconds}))

    def draw(self, module: str, what: str, picture: str, seconds: float) -> bytes:
        """Return what ``draw(picture)`` of a module returns there.

        Raises:
            InputError: the picture is damaged, or it takes too long or too much memory to draw.
        """
        return b64decode(self._asked(module, what, {"picture": picture, "seconds": seconds})["drawn"])

    def _asked(self, module: str, what: str, of: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            request = json.dumps({"module": module, "what": what, **of}).encode() + b"\n"
            answer = self._answer(request, of["seconds"])
        if "errno" in answer:
            raise OSError(answer["errno"], answer["strerror"])
        if "wrong" in answer:
            raise InputError(answer["wrong"])
        return answer

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _answer(self, request: bytes, seconds: float) -> dict[str, Any]:
        for _ in range(2):
            child = self._running()
            try:
                with suppress(BrokenPipeError):
                    child.requests.write(request)
                    child.requests.flush()
                line = child.results.readline()
            except BaseException:
                # Interrupted: its answer would be taken for that of the next file.
                self._end()
                raise
            if line.endswith(b"\n"):
                found: dict[str, Any] = json.loads(line)
                return found
            if child.process.wait() != _ENDED_IDLE:
                break
            self._end()  # it had just ended, for want of work
        return {"wrong": self._reason(seconds)}

    def _reason(self, seconds: float) -> str:
        ended = self._end()
        if ended == -signal.SIGALRM:
            return f"The file was not read within {seconds:g} seconds: it is very large, or made to take forever."
        return "The file made its reader crash; it is damaged, or needs too much memory."

    def _running(self) -> _Child:
        if self._child is not None and self._owner != os.getpid():
            self._child = None  # that of the process from which this one was forked
        if self._child is None:
            if not self._owner:
                atexit.register(self._at_exit)
            self._child, self._owner = _started(self._memory), os.getpid()
        return self._child

    def _at_exit(self) -> None:
        # Without the lock: a thread that waits for a file holds it to the end.
        if self._owner == os.getpid():
            self._end()

    def _end(self) -> int:
        child, self._child = self._child, None
        return _ENDED_IDLE if child is None else child.end()


def _started(memory: int) -> _Child:
    import subprocess

    process = subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-c", _PROGRAM.format(path=sys.path, memory=memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_ALONE},
        # Ctrl-C is meant for this process alone.
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None
    return _Child(process, process.stdin, process.stdout)


ISOLATION = Isolation()


@dataclass(frozen=True, slots=True)
class IsolatedReader:
    """Reads files with ``read(path)`` of a module, in a process of its own.

    ``what`` is what such a file is called. ``needs`` are the packages without which it cannot be read, and ``extra`` is
    the one of ours that installs them. Of a file that is ``sampled``, so many bytes at both ends tell its states apart.
    """

    suffixes: tuple[str, ...]
    what: str
    module: str
    needs: tuple[str, ...] = ()
    extra: str = ""
    version: int = 0
    sampled: int = 0
    unopened: bool = False

    @property
    def missing(self) -> str:
        """Return the extra that has to be installed before a file can be read, or nothing."""
        return "" if all(find_spec(package) for package in self.needs) else self.extra

    def read(self, path: Path, /) -> Document:
        """Return what the file holds.

        Raises:
            InputError: it is something else or damaged, or it takes too long or too much memory to read.
            OSError: it cannot be read.
        """
        return ISOLATION.read(self.module, self.what, path)
