"""The journals that a kernel writes at the moment: one in the memory of the machine, and its copy on the disk."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from jupyter_memory.storage import journal as records
from jupyter_memory.storage.journal import Journal
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types import Run

# Bytes that may wait for a store that cannot be written, in memory and on the disk.
_MOST_IN_MEMORY, _MOST_ON_DISK = 8_000_000, 64_000_000


@dataclass(frozen=True)
class Place:
    """Where runs belong: a store, and the space in it, empty for none."""

    store: StorePath
    space: str = ""


@dataclass(frozen=True)
class ClosedJournals:
    """Journals that take no more, and where their runs belong."""

    place: Place
    journals: Sequence[Journal]

    def __iter__(self) -> Iterator[Journal]:
        return iter(self.journals)


class JournalPair:
    """The journals of one kernel, in memory and on the disk, and its runs that have not ended.

    Threads share it: any of them writes to the memory, and one alone to the disk, which may take its time. ``finished``
    counts the runs with an ending; ``closed`` has the journals before, to be emptied and removed by somebody else.
    ``place`` says where the runs of new journals belong.
    """

    def __init__(self, place: Callable[[], Place]) -> None:
        self.finished = 0
        self.closed: deque[ClosedJournals] = deque()
        self._next_place = place
        self._place = place()
        self._lock = Lock()
        self._memory: Journal | None = None
        self._disk: Journal | None = None
        # By number: those that go on, and those whose ending reached no journal.
        self._open: dict[int, Run] = {}

    @property
    def has_memory(self) -> bool:
        """Return whether there is room in memory, and nobody removed the file there."""
        memory = self._memory
        try:
            return memory is not None and not memory.is_gone and memory.size < _MOST_IN_MEMORY
        except OSError:  # another thread has just emptied and closed it
            return False

    def begun(self, number: int) -> Run | None:
        """Return a run that goes on, by its number."""
        return self._open.get(number)

    def begin(self, run: Run, record: bytes) -> bool:
        """Note the beginning of a run in memory; return whether that was possible."""
        with self._lock:
            self._open[run.number] = run
            return self._in_memory(record)

    def end(self, run: Run, record: bytes) -> bool:
        """Note the ending of a run in memory; return whether that was possible."""
        with self._lock:
            self.finished += 1
            self._open[run.number] = run
            if self._in_memory(record):
                del self._open[run.number]
                return True
            return False

    def copy(self, record: bytes) -> None:
        """Write a record to the disk, in the one thread that does.

        Raises:
            OSError: the disk does not take it.
        """
        if self._disk is None or self._disk.is_gone:
            deleted, self._disk = self._disk, self._filled(Journal.on_disk(self._place.store), self._runs())
            if deleted is not None:
                deleted.close()
        if self._disk.size + len(record) > _MOST_ON_DISK:
            raise OSError(errno.EFBIG, "too much waits there for a store that cannot be written", str(self._disk.path))
        self._disk.write(record)

    def discard(self, number: int) -> None:
        """Forget a run that goes on: no journal took its beginning."""
        with self._lock:
            self._open.pop(number, None)

    def rotate(self) -> None:
        """Begin new journals with the runs that go on, and close those before; in the thread that writes to the disk.

        Raises:
            OSError: the disk takes no new one; then the one before goes on as well.
        """
        place = self._next_place()
        disk = self._filled(Journal.on_disk(place.store), self._runs())
        memory = None
        with suppress(OSError):  # there is no room in memory, or no such file system
            memory = Journal.in_memory(place.store)
        with self._lock:
            self._close()
            self._memory, self._disk, self._place = memory, disk, place
            for run in self._open.values():
                self._in_memory(records.note(run))
            self._open = {number: run for number, run in self._open.items() if run.outcome == "unknown"}

    def close(self) -> None:
        """Close the journals, to be emptied by somebody else."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        written = [journal for journal in (self._memory, self._disk) if journal is not None]
        self._memory = self._disk = None
        self.finished = 0
        if written:
            self.closed.append(ClosedJournals(self._place, written))

    def _runs(self) -> list[Run]:
        with self._lock:
            return list(self._open.values())

    def _in_memory(self, record: bytes) -> bool:
        if self._memory is None or not self.has_memory:
            return False
        try:
            self._memory.write(record)
        except OSError:
            return False
        return True

    @staticmethod
    def _filled(journal: Journal, runs: Iterable[Run]) -> Journal:
        """Write runs into a new journal; remove it where the disk does not take them."""
        try:
            for run in runs:
                journal.write(records.note(run))
        except OSError:
            journal.remove()
            raise
        return journal
