"""Programs that tests start, talk to and wait for, forked processes, full disks, and being somebody with few rights."""

import os
import pickle
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
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


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for what another thread or process does."""
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "it did not happen"
        sleep(0.02)


_NOBODY = 65534


def fill_disk(filler: Path) -> None:
    """Write a file until not a byte fits on its disk."""
    with filler.open("wb", buffering=0) as file:
        for size in (1_000_000, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass


def become_nobody() -> None:
    """Let file permissions hold for this process: root may do anything, so it becomes somebody else."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)


def in_fork(work: Callable[[], Any]) -> Any:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001  what went wrong in the child is what its parent asks about
            answer = error
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(pickle.dumps(answer))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return answer
