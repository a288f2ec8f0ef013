"""The process in which files are parsed and pictures drawn: one after another, each within a time, all within a memory.

It gets requests as lines of JSON on standard input and answers with lines of JSON. It may write no file. What it takes
from a file is text, and what it draws is a picture, which is read like any other that nobody vouches for: nothing in
its answer is run.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Document, Part
from jupyter_memory.text.unicode import clean

# Seconds after which the process ends if there is nothing to read.
_IDLE = 10.0


class ReadingModule(Protocol):
    """A module whose function reads a file."""

    def read(self, path: Path, /) -> Document: ...


class DrawingModule(Protocol):
    """A module whose function draws a picture."""

    def draw(self, picture: str, /) -> bytes: ...


def serve(memory: int) -> None:
    """Answer requests until nobody asks any more, or until standard input closes."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit(memory)
    # A time that is over ends the process, even within a library that does not return to Python.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    while select.select([sys.stdin.buffer], (), (), _IDLE)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, asked["seconds"])
        answer = json.dumps(answer_to(asked)).encode() + b"\n"
        signal.setitimer(signal.ITIMER_REAL, 0)
        results.write(answer)
        results.flush()


def _limit(memory: int) -> None:
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        # macOS takes no limit of memory.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def answer_to(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was read, as JSON values; what is wrong with a file is told without a word of its text."""
    try:
        if "picture" in asked:
            drawing: DrawingModule = import_module(asked["module"])
            return {"drawn": b64encode(drawing.draw(asked["picture"])).decode()}
        module: ReadingModule = import_module(asked["module"])
        return packed(module.read(Path(asked["path"])))
    except ImportError as error:
        return {"wrong": f"What reads a {asked['what']} cannot be loaded ({error.name or type(error).__name__})."}
    except InputError as error:
        return {"wrong": str(error)}
    except MemoryError:
        return {"wrong": "The file needs too much memory to be read."}
    except RecursionError:
        return {"wrong": "The file is nested too deeply to be read."}
    except OSError as error:
        if error.errno is not None:
            return {"errno": error.errno, "strerror": error.strerror or type(error).__name__}
        return {"wrong": _damaged(asked["what"], error)}
    except Exception as error:  # noqa: BLE001  a parser may raise anything for a broken file, and quote its text
        return {"wrong": _damaged(asked["what"], error)}


def _damaged(what: str, error: Exception) -> str:
    return f"The file is damaged, or it is no {what} ({type(error).__name__})."


def packed(document: Document) -> dict[str, Any]:
    """Return a document as JSON values, in text that can be stored."""
    written = document.written and document.written.isoformat()
    return {name: _storable(value) for name, value in (asdict(document) | {"written": written}).items()}


def _storable(value: Any) -> Any:
    """Return a JSON value whose texts can be stored."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {name: _storable(inner) for name, inner in value.items()}
    return [_storable(inner) for inner in value] if isinstance(value, list | tuple) else value


def unpacked(given: Mapping[str, Any]) -> Document:
    """Return the document that was packed."""
    parts = tuple(Part(**{**part, "headings": tuple(part["headings"])}) for part in given["parts"])
    written = given["written"] and datetime.fromisoformat(given["written"])
    return Document(**{**given, "parts": parts, "tags": tuple(given["tags"]), "written": written})
