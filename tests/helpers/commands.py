"""What tests of the command line share: a command's outcome, and the program as another process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

PROGRAM = [sys.executable, "-m", "jupyter_memory"]


class Done:
    """What a command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Run = Callable[..., Done]


def memory_id(run: Run, query: str) -> str:
    """Return the id of the best hit of a query."""
    found: str = json.loads(run("search", "--json", query).out)["hits"][0]["memory_id"]
    return found
