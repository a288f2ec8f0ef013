"""What kept runs from being remembered: counted by reason, and said once until it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from types import MappingProxyType


class Troubles:
    """The runs of one kernel that were lost, and those that have to wait.

    Threads report them; the kernel says them after a cell, where its user looks.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._lost: Counter[str] = Counter()
        self._losing: set[str] = set()
        self._delaying: set[str] = set()
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
                f"What you run is not remembered at the moment: {reason}. Your cells run as ever, and "
                "`%memory history status` counts what is lost.",
            )

    def delay(self, reason: str) -> None:
        """Note that runs wait in the journal; ``reason`` is one or more sentences."""
        with self._lock:
            self._begin(
                self._delaying, reason, f"What you run waits beside the store until it can be remembered. {reason}"
            )

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
