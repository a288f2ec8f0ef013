"""Notes runs where a kill of the kernel cannot reach them, and keeps no cell waiting for a disk.

A note goes into a file in the memory of the machine at once, and from there to the disk in a thread of its own: the
first survives the kernel, the second the machine as well. Where there is no such file, and for long cells, whose
secrets take a while to be found, the cell waits a moment for the thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from jupyter_memory.history.journal_pair import JournalPair, Place
from jupyter_memory.history.recording_problems import RecordingProblems
from jupyter_memory.history.wakeup_pipe import WakeupPipe
from jupyter_memory.storage import journal
from jupyter_memory.types import Run

# Seconds that a cell waits for its note: hundreds of times what a healthy disk takes, and too short to be noticed.
_PATIENCE = 0.05
# Characters of a cell that is noted without the thread: its secrets are found in less than a millisecond.
_LONG = 10_000
# Seconds after which what is in memory is copied: at once, the thread would take the interpreter from a short cell.
_SOON = 0.02
# Notes that may wait for a slow disk: minutes of work, or a second of a loop that runs cells.
_ROOM = 1_000
_BLANK = Run("", datetime.fromtimestamp(0, UTC), "", 0)
# Returns a run without secrets and in bounds; None for one that is not remembered.
Checked = Callable[[Run, Sequence[str]], Run | None]
# Takes a record to the disk, and is told whether the memory has it; returns whether it is anywhere.
_Copy = Callable[[bytes, bool], bool]


class Writer:
    """Writes the journals of one kernel.

    ``excluded`` counts the runs that are never remembered.
    """

    def __init__(self, place: Callable[[], Place], checked: Checked, problems: RecordingProblems) -> None:
        self.noted = self.excluded = 0
        self.journals = JournalPair(place)
        self._place = place
        self._checked = checked
        self._problems = problems
        self._queue: deque[Callable[[], object] | None] = deque()
        self._work_arrived, self._note_taken = WakeupPipe(), WakeupPipe()
        self._in_haste = False
        # The number of the last run that the thread was asked to note, and of the last one that it dealt with.
        self._wanted = self._done = 0
        self._thread = Thread(target=self._work, name="jupyter-memory journal", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Return whether its thread runs; in a forked child it does not."""
        return self._thread.is_alive()

    def open(self, patience: float) -> bool:
        """Make the journals, and load what notes need; return whether that was done within so many seconds."""
        return self._done_within(self._prepare, patience)

    def begin(self, run: Run, tags: Sequence[str]) -> None:
        """Note a run that is about to begin, so that the note outlives this process."""
        if self.journals.has_memory and len(run.source) < _LONG:
            self._tried(partial(self._note, run, tags, self._later))
        elif len(self._queue) < _ROOM:
            self._wait_for(run, tags)
        else:
            self._lose()

    def end(self, run: Run) -> None:
        """Note how a run ended: its number, outcome, seconds and error."""
        # Behind a beginning that waits there is always room: such endings are no more than the beginnings.
        waits = self._done < run.number <= self._wanted
        is_short = run.error is None and self.journals.has_memory
        if waits or (not is_short and len(self._queue) < _ROOM):
            self._put(partial(self._tried, partial(self._note_end, run, self._copy)))
        else:
            self._tried(partial(self._note_end, run, self._later))

    def rotate(self, patience: float) -> bool:
        """Begin new journals, and close those before; return whether that was done within so many seconds."""
        return self._done_within(self.journals.rotate, patience)

    def catch_up(self, patience: float) -> bool:
        """Wait until all is noted that happened by now; return whether that was within so many seconds."""
        return self._done_within(lambda: None, patience)

    def stop(self, patience: float) -> bool:
        """Close the journals and end the thread; return whether that was done within so many seconds."""
        self._put(None)
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _wait_for(self, run: Run, tags: Sequence[str]) -> None:
        """Let the thread note a run, and wait a moment for it; nobody waits behind a note that is late already."""
        is_late = self._done < self._wanted
        self._wanted = run.number
        self._put(partial(self._begin, run, tags))
        until = monotonic() + (0 if is_late else _PATIENCE)
        while self._done < run.number and (left := until - monotonic()) > 0:
            self._note_taken.wait(left)

    def _begin(self, run: Run, tags: Sequence[str]) -> None:
        self._tried(partial(self._note, run, tags, self._copy))
        self._done = run.number
        self._note_taken.wake()

    def _note(self, run: Run, tags: Sequence[str], copy: _Copy) -> None:
        kept = self._checked(run, tags)
        if kept is None:
            self.excluded += 1
            return
        record = journal.note(kept)
        if not copy(record, self.journals.begin(kept, record)):
            self.journals.discard(run.number)
            return
        self.noted += 1

    def _note_end(self, run: Run, copy: _Copy) -> None:
        begun = self.journals.begun(run.number)
        if begun is None:
            return
        ended = replace(begun, outcome=run.outcome, seconds=run.seconds)
        checked = None if run.error is None else self._checked(replace(ended, error=run.error), ())
        ended = ended if checked is None else replace(ended, error=checked.error)
        record = journal.ending(ended)
        copy(record, self.journals.end(ended, record))

    def _later(self, record: bytes, in_memory: bool) -> bool:
        """Let the thread copy a record to the disk, if it is not far behind; return whether it will be anywhere."""
        if len(self._queue) >= _ROOM:
            if not in_memory:
                self._lose()
            return in_memory
        self._queue.append(partial(self._copy, record, in_memory))
        if len(self._queue) == 1:
            self._work_arrived.wake()
        return True

    def _copy(self, record: bytes, in_memory: bool) -> bool:
        """Copy a record to the disk; return whether the memory or the disk has it."""
        try:
            self.journals.copy(record)
        except OSError as error:
            # What is in memory waits there for the store, which the same disk keeps from being written.
            if not in_memory:
                self._problems.lose(_said(error))
            return in_memory
        self._problems.noted()
        return True

    def _lose(self) -> None:
        self._problems.lose(f"the disk of {self._place().store} is too slow")

    def _put(self, work: Callable[[], object] | None) -> None:
        self._queue.append(work)
        self._in_haste = True
        self._work_arrived.wake()

    def _done_within(self, work: Callable[[], None], patience: float) -> bool:
        done = Event()

        def do() -> None:
            try:
                self._tried(work)
            finally:
                done.set()

        self._put(do)
        return done.wait(patience)

    def _work(self) -> None:
        while (work := self._next()) is not None:
            work()
        self.journals.close()

    def _next(self) -> Callable[[], object] | None:
        if not self._queue:
            self._in_haste = False
            while not self._queue:
                self._work_arrived.wait()
            until = monotonic() + _SOON
            while not self._in_haste and (left := until - monotonic()) > 0:
                self._work_arrived.wait(left)
        return self._queue.popleft()

    def _prepare(self) -> None:
        self._checked(_BLANK, ())
        self.journals.rotate()

    def _tried(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            if self.journals.has_memory:
                self._problems.delay(f"{_said(error).capitalize()}.")
            else:
                self._problems.lose(_said(error), 0)
        except Exception as error:  # noqa: BLE001  a fault of ours must end neither the thread nor the cell
            self._problems.lose(f"noting a run failed with {type(error).__name__}")


def _said(error: OSError) -> str:
    """Return what the system said, without the user's text; each attempt has another file, so the folder is named."""
    where = f"in {Path(error.filename).parent}: " if error.filename else ""
    return f"nothing can be written {where}{error.strerror or type(error).__name__}"
