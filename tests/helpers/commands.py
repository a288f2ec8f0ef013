"""What tests of the command line share: a command's outcome, a person who types, and the program as another process."""

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from jupyter_memory.cli import main

PROGRAM = [sys.executable, "-m", "jupyter_memory"]


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


Run = Callable[..., Done]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        return Done(code, *capsys.readouterr())

    return run


def configure(**settings: object) -> Path:
    file = Path(os.environ["JUPYTER_CONFIG_DIR"], "jupyter_memory_config.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"JupyterMemory": settings}))
    return file


def memories(run: Run) -> int:
    held: int = json.loads(run("status", "--json").out)["memories"]
    return held


def memory_id(run: Run, query: str) -> str:
    found: str = json.loads(run("search", "--json", query).out)["hits"][0]["memory_id"]
    return found
