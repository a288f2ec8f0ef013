"""A background thread that moves finished runs from the journals into the store while no cell runs."""

from __future__ import annotations

# What opens the store imports it, and at the end of the interpreter, when a short session is taken in, it cannot be.
import concurrent.futures.thread  # noqa: F401
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic, sleep

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.history.writer import Place, RecordingProblems, Writer
from jupyter_memory.runtime import batches
from jupyter_memory.storage.journal import Journal
from jupyter_memory.storage.journal import runs as runs_in
from jupyter_memory.types import Run

# Seconds between two looks at the journal, and of quiet before it is taken in. A kernel that is never quiet has to
# share the processor after some time.
_EVERY, _QUIET, _LONGEST = 2.0, 1.0, 60.0
# After a failure it is tried again at longer and longer intervals, up to this many seconds.
_SELDOM = 300.0
# Runs that are taken in before it is looked whether a cell runs.
_TOGETHER = 32
# Seconds that the writer may take to begin a new journal.
_ROTATION = 5.0
Record = Callable[[Iterable[Run]], object]


class Absorber:
    """The thread that empties the journals of one kernel.

    ``opened`` opens the store of a place, and yields what records runs in it. ``quiet`` returns for how many seconds no
    cell has run, 0 while one does.
    """

    def __init__(
        self,
        writer: Writer,
        opened: Callable[[Place], AbstractContextManager[Record]],
        quiet: Callable[[], float],
        problems: RecordingProblems,
    ) -> None:
        self._writer = writer
        self._journals = writer.journals
        self._opened = opened
        self._quiet = quiet
        self._problems = problems
        self._asked: SimpleQueue[Event | None] = SimpleQueue()
        self._waits_since: float | None = None
        self._is_last = False
        self._thread = Thread(target=self._work, name="jupyter-memory history", daemon=True)
        self._thread.start()

    def absorb(self, patience: float) -> bool:
        """Take in all that has ended; return whether that was tried within so many seconds."""
        done = Event()
        self._asked.put(done)
        return done.wait(patience)

    def stop(self, patience: float) -> bool:
        """Take in all that the stopped writer left, and end; return whether that was done within so many seconds."""
        self._is_last = True
        self._asked.put(None)
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _work(self) -> None:
        pause = _EVERY
        while not self._is_last:
            try:
                done = self._asked.get(timeout=pause)
            except Empty:
                done = None
            waiting = bool(self._journals.finished or self._journals.closed)
            if done is None:
                self._waits_since = (self._waits_since or monotonic()) if waiting else None
            if done is not None or (waiting and self._is_quiet()):
                pause = _EVERY if self._absorb(in_haste=done is not None) else min(2 * pause, _SELDOM)
            if done is not None:
                done.set()
        self._absorb(in_haste=True)
        for _, journals in self._journals.closed:
            for journal in journals:
                journal.close()  # the next kernel takes it in

    def _is_quiet(self) -> bool:
        waited = 0.0 if self._waits_since is None else monotonic() - self._waits_since
        return self._quiet() >= _QUIET or waited > _LONGEST

    def _absorb(self, *, in_haste: bool) -> bool:
        try:
            if in_haste and self._writer.is_alive:
                self._writer.catch_up(_ROTATION)
            while True:
                # The current ones are closed if they hold something.
                if not self._journals.closed and self._journals.finished and self._writer.is_alive:
                    self._writer.rotate(_ROTATION)
                if not self._journals.closed:
                    break
                place, journals = self._journals.closed[0]
                self._take(place, journals, in_haste=in_haste)
                # First, so that a file that stays is not tried again for ever.
                self._journals.closed.popleft()
                for journal in journals:
                    if not journal.remove():
                        self._problems.leave(journal.path)
                self._problems.stored()
        except (JupyterMemoryError, OSError) as error:
            self._problems.delay(str(error))
            return False
        except Exception as error:  # noqa: BLE001  a fault of ours must not end the thread, and with it the history
            self._problems.delay(f"Storing it failed with {type(error).__name__}; `doctor` may know why.")
            return False
        self._waits_since = None
        return True

    def _take(self, place: Place, journals: Sequence[Journal], *, in_haste: bool) -> None:
        # What still goes on is in the next journals as well.
        data = _content(journals)
        ended = [run for run in runs_in(data) if self._is_last or run.outcome != "unknown"]
        if not ended:
            return
        with self._opened(place) as record:
            for number, batch in enumerate(batches(ended, _TOGETHER)):
                # Between two batches, cells go first, unless somebody waits for what was run.
                while number and not (in_haste or self._is_last or self._is_quiet() or not self._asked.empty()):
                    sleep(_QUIET / 10)
                # Somebody may have cleared the history since they were read.
                if (now := _content(journals)) != data:
                    kept = {(run.session, run.number) for run in runs_in(now)}
                    batch = [run for run in batch if (run.session, run.number) in kept]
                record(batch)


def _content(journals: Iterable[Journal]) -> bytes:
    return b"".join(journal.read() for journal in journals)
