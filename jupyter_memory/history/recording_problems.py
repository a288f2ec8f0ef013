"""Counts the runs that were lost, by reason, and reports each new problem once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType


class RecordingProblems:
    """The runs of one kernel that were lost, and those that have to wait.

    Threads report them; the kernel says them after a cell, where its user looks.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._lost: Counter[str] = Counter()
        self._losing: set[str] = set()
        self._delaying: set[str] = set()
        self._leaving: set[str] = set()
        self._news: list[str] = []

    @property
    def lost(self) -> Mapping[str, int]:
        """Return how many runs were lost for which reason."""
        with self._lock:
            return MappingProxyType(dict(self._lost))

    def lose(self, reason: str, number: int = 1) -> None:
        """Count runs that are not remembered; ``reason`` is the end of a sentence."""
        with self._lock:
            self._lost[reason] += number
            self._begin(
                self._losing,
                reason,
                f"The history is not being recorded: {reason}. Your cells run as usual; "
                "`%memory history status` shows how many runs were lost.",
            )

    def delay(self, reason: str) -> None:
        """Note that runs wait in the journal; ``reason`` is one or more sentences."""
        with self._lock:
            self._begin(self._delaying, reason, f"Your runs wait in a file until the store can be written. {reason}")

    def leave(self, path: Path) -> None:
        """Note that a journal stays although the store has its runs."""
        with self._lock:
            notice = f"The store has your runs, but the file they waited in cannot be removed. Delete it: {path}"
            self._begin(self._leaving, str(path.parent), notice)

    def noted(self) -> None:
        """Note that a run reached the disk: the next loss is news."""
        with self._lock:
            self._losing.clear()

    def stored(self) -> None:
        """Note that the store took what waited: the next delay is news."""
        with self._lock:
            self._delaying.clear()

    def news(self) -> list[str]:
        """Return what has not been said yet."""
        with self._lock:
            news, self._news = self._news, []
        return news

    def _begin(self, known: set[str], reason: str, notice: str) -> None:
        if reason not in known:
            known.add(reason)
            self._news.append(notice)
