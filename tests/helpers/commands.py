"""What tests of the command line share: a command's outcome, a person who types, and the program as another process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable

PROGRAM = [sys.executable, "-m", "jupyter_memory"]


class Done:
    """What a command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


class Terminal(io.StringIO):
    """What somebody types at a terminal."""

    def isatty(self) -> bool:
        """Return that somebody is there."""
        return True


Run = Callable[..., Done]


def memory_id(run: Run, query: str) -> str:
    """Return the id of the best hit of a query."""
    found: str = json.loads(run("search", "--json", query).out)["hits"][0]["memory_id"]
    return found
