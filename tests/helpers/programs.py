"""Programs that tests start and talk to while they run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# Seconds that any program of a test may take in all, on a slow machine.
LONGEST = 100


@contextmanager
def running(command: Sequence[Any], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Run a program for as long as the block takes; it is given some time to end after it, and none after an error.

    ``with subprocess.Popen(…)`` waits without end for a program that does not, and so hides why the block failed.
    """
    program = subprocess.Popen(command, **options)
    try:
        yield program
        program.wait(LONGEST)
    finally:
        program.kill()
        program.wait(LONGEST)
        for pipe in (program.stdin, program.stdout, program.stderr):
            if pipe is not None:
                pipe.close()
