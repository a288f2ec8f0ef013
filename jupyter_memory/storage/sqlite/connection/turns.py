"""Whose turn it is to write: long work is done in short transactions, and lets whoever waits go first.

SQLite gives its write lock to whoever asks at the right moment. Somebody who wants to write one note may therefore wait
for minutes while an index run takes the lock again and again. A waiting writer says so with a shared lock on the
store's folder, which the system takes back even from a process that is killed.
"""

from __future__ import annotations

import os
import random
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, sleep

try:
    import fcntl
except ImportError:  # Windows: nobody is seen waiting, and everybody asks again at short intervals
    fcntl = None  # type: ignore[assignment]

# Seconds between two attempts to get the lock, at random so that no two keep in step.
_SHORTEST, _LONGEST = 0.001, 0.008
# How long one step of long work waits for others at most; then it joins them, so that it ends some day.
_COURTESY = 1.0


class Turn:
    """One writer's wait for the lock, as SQLite's busy handler: called whenever the lock is not free.

    It waits ``patience`` seconds at a time. ``announced`` tells long work to let this one go first.
    """

    def __init__(self, path: Path, patience: float, *, announced: bool) -> None:
        self._folder = _folder_of(path)
        self._patience = patience
        self._announced = announced
        self._begun = 0.0
        self._sign: int | None = None

    def __call__(self, attempts: int) -> bool:
        """Wait a moment; return whether to try again."""
        if attempts == 0:
            self._begun = monotonic()
        if monotonic() - self._begun >= self._patience:
            return False
        if self._announced and self._sign is None:
            self._sign = _announced(self._folder)
        sleep(random.uniform(_SHORTEST, _LONGEST))  # noqa: S311  no secret
        return True

    def end(self) -> None:
        """End the wait, and take back its announcement."""
        sign, self._sign = self._sign, None
        if sign is not None:
            _unlock(sign)


def let_others_go_first(path: Path) -> None:
    """Wait until nobody waits to write a few rows, a second at most."""
    begun = monotonic()
    folder = _folder_of(path)
    while monotonic() - begun < _COURTESY and _somebody_waits(folder):
        sleep(_LONGEST)


def _folder_of(path: Path) -> Path:
    """Return the folder of a store: of the file itself, by whichever link it is opened."""
    return Path(os.path.realpath(path)).parent


def _announced(folder: Path) -> int | None:
    """Return a descriptor of a folder with a shared lock on it, None where there are no such locks."""
    if fcntl is None:
        return None
    with suppress(OSError), ExitStack() as unless_locked:
        descriptor = os.open(folder, os.O_RDONLY)
        unless_locked.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        unless_locked.pop_all()
        return descriptor
    return None


def _somebody_waits(folder: Path) -> bool:
    """Return whether anybody has a shared lock on a folder."""
    if fcntl is None:
        return False
    with suppress(OSError), ExitStack() as after:
        descriptor = os.open(folder, os.O_RDONLY)
        after.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _unlock(descriptor: int) -> None:
    # Not by closing alone: a child that was forked meanwhile has the descriptor, too.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
