"""What tests of the command line share: a command's outcome, a person who types, and the program as another process."""

import io
import json
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from jupyter_memory.cli import main

PROGRAM = [sys.executable, "-m", "jupyter_memory"]


class Done(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """What somebody types at a terminal."""

    def isatty(self) -> bool:
        return True


Run = Callable[..., Done]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        return Done(code, *capsys.readouterr())

    return run


def memory_id(run: Run, query: str) -> str:
    found: str = json.loads(run("search", "--json", query).out)["hits"][0]["memory_id"]
    return found
