"""Work in a forked process, and being somebody there for whom file permissions hold."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

_NOBODY = 65534


def become_nobody() -> None:
    """Let file permissions hold for this process: root may do anything, so it becomes somebody else."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)


def in_fork(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a forked process; return its result, or the error that it raised."""
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
