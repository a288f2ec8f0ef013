"""Parsers of large formats in a process with limits of time and memory."""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import signal
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Self

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part, note, reading, storable

if TYPE_CHECKING:
    import subprocess

# The process in which files are parsed and pictures drawn: one after another, each within a time, all within a memory.
# A parser of a large format may need all memory, never end, or crash on a file that somebody broke or made for that. It
# also opens the file, and of a database that this process has open, that would end the locks.
#
# The process starts with the first such file, and ends when it had nothing to do for a while. It gets requests as lines
# of JSON on standard input and answers with lines of JSON. It may write no file. What it takes from a file is text, and
# what it draws is read like any other untrusted picture: nothing in its answer is run.

# Seconds after which the process ends if there is nothing to read.
_IDLE = 10.0
# Its bytes of memory.
_MEMORY = 3 << 30


def serve() -> None:
    """Answer requests until nobody asks any more, or until standard input closes."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer

    import resource

    for kind, most in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        # macOS takes no limit of memory.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))

    # A time that is over ends the process, even within a library that does not return to Python.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    while select.select([sys.stdin.buffer], (), (), _IDLE)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, asked["seconds"])
        answer = json.dumps(_answer_to(asked)).encode() + b"\n"
        signal.setitimer(signal.ITIMER_REAL, 0)
        results.write(answer)
        results.flush()


def _answer_to(asked: Mapping[str, Any]) -> dict[str, Any]:
    # What is wrong with a file is told without a word of its text.
    try:
        module, _, function = asked["parser"].partition(":")
        parser = getattr(import_module(module), function)
        if "picture" in asked:
            return {"drawn": b64encode(parser(asked["picture"])).decode()}
        # JSON values, in text that can be stored.
        with reading(None) as notes:
            document: Document = parser(Path(asked["path"]))
        written = document.written and document.written.isoformat()
        return asdict(storable(document)) | {"written": written, "notes": notes}
    except ImportError as error:
        return {"wrong": f"What reads a {asked['what']} cannot be loaded ({error.name or type(error).__name__})."}
    except InputError as error:
        return {"wrong": str(error)}
    except MemoryError:
        return {"wrong": "The file needs too much memory to be read."}
    except RecursionError:
        return {"wrong": "The file is nested too deeply to be read."}
    except Exception as error:  # noqa: BLE001  a parser may raise anything for a broken file, and quote its text
        if isinstance(error, OSError) and error.errno is not None:
            return {"errno": error.errno, "strerror": error.strerror or type(error).__name__}
        return {"wrong": f"The file is damaged, or it is no {asked['what']} ({type(error).__name__})."}


# A process finds the package where this one found it, whatever was done to the path meanwhile.
_PROGRAM = "import sys; sys.path[:] = {!r}; sys.dont_write_bytecode = True; from {} import serve; serve()"
# Threads of BLAS would each reserve memory, and take a core from the others even while they wait for work.
_ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_ENDED_IDLE = 0


@dataclass(frozen=True, slots=True)
class Child:
    """A process of this interpreter, with the pipe for its requests and the one for its results."""

    process: subprocess.Popen[bytes]
    requests: IO[bytes]
    results: IO[bytes]

    @classmethod
    def start(cls, module: str, pipe: int = -1) -> Self:
        """Start a process that runs a module's ``serve``; ``pipe`` is the size of the buffers here."""
        import subprocess

        process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-c", _PROGRAM.format(sys.path, module)],
            bufsize=pipe,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_ALONE},
            # Ctrl-C is meant for this process alone.
            start_new_session=True,
        )
        assert process.stdin is not None and process.stdout is not None
        return cls(process, process.stdin, process.stdout)

    def end(self) -> int:
        """End the process, whatever it is doing; return its exit code."""
        self.process.kill()
        code = self.process.wait()
        for pipe in (self.requests, self.results):
            # What was not sent is useless now.
            with suppress(OSError):
                pipe.close()
        return code


class Isolation:
    """The process in which files are parsed, of which there is one at a time; ``seconds`` is what a file may take."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._child: Child | None = None
        self._owner = 0

    def read(self, parser: str, what: str, path: Path) -> Document:
        """Return what a parser, ``module:function``, returns there for a path; ``what`` is what the file ought to be.

        Raises ``InputError`` if it is something else or damaged, or takes too long or too much memory.
        """
        given = self.answer(parser, what, self._seconds, {"path": str(path)})
        for one in given.pop("notes"):
            note(one)
        parts = tuple(Part(**{**part, "headings": tuple(part["headings"])}) for part in given["parts"])
        written = given["written"] and datetime.fromisoformat(given["written"])
        return Document(**{**given, "parts": parts, "tags": tuple(given["tags"]), "written": written})

    def answer(self, parser: str, what: str, seconds: float, of: Mapping[str, str]) -> dict[str, Any]:
        """Return what the process answers, JSON; raises what ``read`` raises."""
        with self._lock:
            request = json.dumps({"parser": parser, "what": what, "seconds": seconds, **of}).encode() + b"\n"
            answer = self._answer(request, seconds)
        if "errno" in answer:
            raise OSError(answer["errno"], answer["strerror"])
        if "wrong" in answer:
            raise InputError(answer["wrong"])
        return answer

    def close(self) -> None:
        with self._lock:
            self._end()

    def _answer(self, request: bytes, seconds: float) -> dict[str, Any]:
        for _ in range(2):
            if self._child is not None and self._owner != os.getpid():
                self._child = None  # that of the process from which this one was forked
            if self._child is None:
                if not self._owner:
                    atexit.register(self._end)
                self._child, self._owner = Child.start(__name__), os.getpid()
            child = self._child

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
        if self._end() == -signal.SIGALRM:
            wrong = f"The file was not read within {seconds:g} seconds: it is very large, or made to take forever."
        else:
            wrong = "The file made its reader crash; it is damaged, or needs too much memory."
        return {"wrong": wrong}

    def _end(self) -> int:
        # At the end of the program without the lock: a thread that waits for a file holds it to the end. A forked
        # program leaves the process to the one that started it.
        child, self._child = self._child, None
        return _ENDED_IDLE if child is None or self._owner != os.getpid() else child.end()


ISOLATION = Isolation()


@dataclass(frozen=True, slots=True)
class IsolatedReader:
    """Reads files with a parser, ``module:function``, in a separate process."""

    suffixes: tuple[str, ...]
    what: str  # such a file is called
    parser: str
    needs: tuple[str, ...] = ()  # packages without which it cannot be read
    extra: str = ""  # of ours, which installs them
    version: int = 1
    sampled: int = 0
    unopened: bool = False

    @property
    def missing(self) -> str:
        return "" if all(find_spec(package) for package in self.needs) else self.extra

    def read(self, path: Path, /) -> Document:
        return ISOLATION.read(self.parser, self.what, path)


# Pictures in SVG are drawn in that process, too: a program that somebody sent may run in one.
#
# resvg draws shapes and text and runs no scripts. What it does not get is a way to other files: references that lead
# out of the picture are emptied, and a picture that declares entities, which could hide some, is refused.

# Seconds that a picture may take.
_DRAWING_SECONDS = 10.0
# Those of a thumbnail: twice as large takes three times as long, and looks the same.
_WIDTH, _HEIGHT = 480, 360
_GENERIC = {
    "font_family": "sans-serif",
    "sans_serif_family": "sans-serif",
    "serif_family": "serif",
    "monospace_family": "monospace",
}
_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|!DOCTYPE\s+svg|(?:\w+:)?svg[\s>/])", re.IGNORECASE)
_ENTITY = re.compile(r"<!ENTITY", re.IGNORECASE)
# To a part of the picture, or to a picture in pixels that it holds; all other references are emptied. A target with a
# quotation mark or a bracket is none: it may begin within another attribute and hold a whole reference.
_REFERENCE = re.compile(r"""href\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')""")
_WITHIN = re.compile(r"""\s*(?:#|data:image/(?:png|jpe?g|gif|webp)[;,])[^"'<>]*""", re.IGNORECASE)


@cache
def can_draw() -> bool:
    """Return whether resvg is installed."""
    return find_spec("resvg_py") is not None


def is_svg(picture: bytes) -> bool:
    return _START.match(picture) is not None


def drawn(picture: bytes) -> bytes:
    """Return a picture in SVG as PNG of at most 480 x 360 pixels, drawn in another process; raises InputError."""
    of = {"picture": picture.decode("utf-8", "replace")}
    return b64decode(ISOLATION.answer(f"{__name__}:draw", "picture in SVG", _DRAWING_SECONDS, of)["drawn"])


def draw(picture: str) -> bytes:
    """Return a picture in SVG as PNG, drawn in this process."""
    from resvg_py import svg_to_bytes

    if _ENTITY.search(picture):
        raise InputError("The picture declares entities.")
    alone = _REFERENCE.sub(
        lambda one: one[0] if _WITHIN.fullmatch(one["double"] or one["single"] or "") else 'href=""', picture
    )
    # Fonts are looked for on the whole computer.
    has_text = "<text" in alone or ":text" in alone
    made = svg_to_bytes(
        svg_string=alone,
        width=_WIDTH,
        height=_HEIGHT,
        dpi=96.0,  # without it, a picture that is measured in points, as those of matplotlib are, has no size
        skip_system_fonts=not has_text,
        **(_families() if has_text else {}),
    )
    return bytes(made)


@cache
def _families() -> dict[str, Any]:
    # The process that draws may write no file, so fontconfig keeps no cache of what it looks up.
    import subprocess

    program = which("fc-match")
    if program is None:
        return {}
    found = {}
    for name, generic in _GENERIC.items():
        with suppress(OSError, subprocess.SubprocessError):
            asked = [program, "--format=%{family[0]}", generic]
            run = subprocess.run(asked, capture_output=True, text=True, timeout=_DRAWING_SECONDS / 2, check=True)  # noqa: S603
            found[name] = run.stdout.strip()
    return {name: family for name, family in found.items() if family}
