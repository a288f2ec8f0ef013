"""Writes notes of runs to a journal, in a thread of its own: no slow disk holds up a cell."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread

from jupyter_memory.history.troubles import Troubles
from jupyter_memory.journal import records
from jupyter_memory.journal.files import Journal
from jupyter_memory.types import Run

# Seconds that a cell waits for its note: hundreds of times what a healthy disk takes, and too short to be noticed.
_PATIENCE = 0.05
# Notes that may wait for a slow disk: minutes of work, or a second of a loop that runs cells.
_ROOM = 1_000
# Bytes that may wait for a store that cannot be written.
_LARGEST = 64_000_000
_BLANK = Run("", datetime.fromtimestamp(0, UTC), "", 0)
# Returns a run without secrets and in bounds; None for one that is not remembered.
Checked = Callable[[Run, Sequence[str]], Run | None]


class Writer:
    """The thread that writes the journal of one kernel.

    ``finished`` counts the runs that the journal holds with their endings, ``excluded`` those that are never
    remembered. ``closed`` are former journals, to be taken into the store and removed by somebody else.
    """

    def __init__(self, store: Callable[[], Path], checked: Checked, troubles: Troubles) -> None:
        self.closed: deque[Journal] = deque()
        self.noted = self.finished = self.excluded = 0
        self._store = store
        self._checked = checked
        self._troubles = troubles
        self._journal: Journal | None = None
        # Runs without an ending in the journal, by number.
        self._open: dict[int, Run] = {}
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._last = Event()
        self._last.set()
        self._thread = Thread(target=self._work, name="jupyter-memory journal", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Return whether its thread runs; in a forked child it does not."""
        return self._thread.is_alive()

    def open(self, patience: float) -> bool:
        """Make the journal, and load what notes need; return whether that was done within so many seconds."""
        return self._asked(self._prepare, patience)

    def begin(self, run: Run, tags: Sequence[str]) -> None:
        """Note a run that is about to begin, and wait a moment until the note cannot be lost.

        Nobody waits behind a note that is late already.
        """
        if self._queue.qsize() >= _ROOM:
            self._troubles.lose(f"the disk of {self._store()} is too slow")
            return
        is_late, noted = not self._last.is_set(), Event()
        self._last = noted
        self._queue.put(partial(self._begin, run, tags, noted))
        if not is_late:
            noted.wait(_PATIENCE)

    def end(self, run: Run) -> None:
        """Note how a run ended, some time soon: its number, outcome, seconds and error."""
        self._queue.put(partial(self._end, run))

    def turn(self, patience: float) -> bool:
        """Begin a new journal, and close the one before; return whether that was done within so many seconds."""
        return self._asked(self._turn, patience)

    def stop(self, patience: float) -> bool:
        """Close the journal and end the thread; return whether that was done within so many seconds."""
        self._queue.put(None)
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _asked(self, work: Callable[[], None], patience: float) -> bool:
        done = Event()

        def do() -> None:
            try:
                work()
            except OSError as error:
                self._troubles.lose(_said(error), 0)
            finally:
                done.set()

        self._queue.put(do)
        return done.wait(patience)

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
        if self._journal is not None:
            self.closed.append(self._journal)
            self._journal = None

    def _prepare(self) -> None:
        self._checked(_BLANK, ())
        self._fresh()

    def _begin(self, run: Run, tags: Sequence[str], noted: Event) -> None:
        try:
            kept = self._checked(run, tags)
            if kept is None:
                self.excluded += 1
                return
            self._write(records.note(kept))
            self._open[run.number] = kept
            self.noted += 1
            self._troubles.end()
        except OSError as error:
            self._troubles.lose(_said(error))
        except Exception as error:  # noqa: BLE001  a fault of ours must not end the thread, and with it the history
            self._troubles.lose(f"noting a run failed with {type(error).__name__}")
        finally:
            noted.set()

    def _end(self, run: Run) -> None:
        begun = self._open.pop(run.number, None)
        if begun is None:
            return
        ended = replace(begun, outcome=run.outcome, seconds=run.seconds)
        try:
            checked = None if run.error is None else self._checked(replace(ended, error=run.error), ())
            ended = ended if checked is None else replace(ended, error=checked.error)
            self._write(records.ending(ended))
        except OSError:
            # Its note is safe; the next journal begins with the whole of it.
            self._open[run.number] = ended
        self.finished += 1

    def _write(self, record: bytes) -> None:
        if self._journal is None:
            self._fresh()
        elif self._journal.is_gone:
            self._replace()
        if self._journal is None:
            return
        if self._journal.size + len(record) > _LARGEST:
            raise OSError(errno.EFBIG, "too much waits there until the store can be written", str(self._journal.path))
        self._journal.write(record)

    def _turn(self) -> None:
        """Begin a new journal with the runs that have not ended."""
        former = self._journal
        self._fresh()
        self.finished = 0
        if former is not None:
            self.closed.append(former)

    def _replace(self) -> None:
        """Begin a new journal where somebody removed the one before, with what it held."""
        gone, self._journal = self._journal, None
        if gone is not None:
            gone.close()
        lost, self.finished = self.finished, 0
        if lost:
            self._troubles.lose("somebody removed the file that held it", lost)
        self._fresh()

    def _fresh(self) -> None:
        """Make a journal, and note in it what has not ended, or whose ending could not be written."""
        journal = Journal.make(self._store())
        try:
            for run in self._open.values():
                journal.write(records.note(run))
        except OSError:
            with suppress(OSError):
                journal.remove()
            raise
        self._open = {number: run for number, run in self._open.items() if run.outcome == "unknown"}
        self._journal = journal


def _said(error: OSError) -> str:
    """Return what the system said, without the user's text."""
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or type(error).__name__}"
