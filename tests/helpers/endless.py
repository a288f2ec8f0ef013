"""Readers that do what parsers of broken files do; the process that reads files imports them by name."""

import os
import signal
from pathlib import Path

from jupyter_memory import InputError
from jupyter_memory.ingest import Document, Part


def read(path: Path, /) -> Document:
    what = path.read_text()
    if what == "loop":
        while True:
            pass
    if what == "memory":
        return Document((Part("x" * (1 << 40)),))
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "exit":
        os._exit(0)
    if what == "nest":
        return read_again()
    if what == "quote":
        raise ValueError("the user's text")
    if what == "write":
        path.with_suffix(".written").write_text("x")
    if what == "wrong":
        raise InputError("It is wrong.")
    os.write(1, b"what a library prints")
    return Document((Part(f"{what}\ud800\0", "page 1", headings=("λ",), metadata={"pid": os.getpid()}),), "text")


def read_again() -> Document:
    return read_again()
