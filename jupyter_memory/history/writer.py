"""The journal of a kernel: written in memory and on disk, and moved into the store while no cell runs."""

from __future__ import annotations

# What opens the store imports it, and at the end of the interpreter, when a short session is taken in, it cannot be.
import concurrent.futures.thread  # noqa: F401
import errno
import os
import select
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, RLock, Thread
from time import monotonic, sleep
from typing import Literal
from weakref import finalize

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.runtime import batches
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


# The journals of one kernel, in the memory of the machine and on the disk, and its runs that have not ended. Any thread
# writes to the memory, and one alone to the disk, which may take its time. ``finished`` counts the runs with an ending;
# ``closed`` has the earlier journals with the place of their runs: the absorber empties and removes them.
class _JournalPair:
    def __init__(self, place: Callable[[], Place]) -> None:
        self.finished = 0
        self.closed: deque[tuple[Place, list[Journal]]] = deque()
        self._next_place, self._place = place, place()
        self._lock = RLock()
        self._memory: Journal | None = None
        self._disk: Journal | None = None
        self.open: dict[int, Run] = {}  # by number: those that go on, and those whose ending reached no journal

    @property
    def has_memory(self) -> bool:
        memory = self._memory
        try:
            return memory is not None and not memory.is_gone and memory.size < _MOST_IN_MEMORY
        except OSError:  # another thread has just emptied and closed it
            return False

    def begin(self, run: Run, record: bytes) -> bool:
        with self._lock:
            self.open[run.number] = run
            return self._in_memory(record)

    def end(self, run: Run, record: bytes) -> bool:
        with self._lock:
            self.finished += 1
            self.open[run.number] = run
            if is_noted := self._in_memory(record):
                del self.open[run.number]
            return is_noted

    def copy(self, record: bytes) -> None:
        if self._disk is None or self._disk.is_gone:
            deleted, self._disk = self._disk, self._new_on_disk(self._place)
            if deleted is not None:
                deleted.close()
        if self._disk.size + len(record) > _MOST_ON_DISK:
            raise OSError(errno.EFBIG, "too much waits there for a store that cannot be written", str(self._disk.path))
        self._disk.write(record)

    def discard(self, number: int) -> None:
        with self._lock:
            self.open.pop(number, None)

    def rotate(self) -> None:
        # In the thread that writes to the disk. If the disk takes no new journal, the earlier ones go on.
        place = self._next_place()
        disk = self._new_on_disk(place)
        memory = None
        with suppress(OSError):  # there is no room in memory, or no such file system
            memory = Journal.in_memory(place.store)
        with self._lock:
            self.close()
            self._memory, self._disk, self._place = memory, disk, place
            for run in self.open.values():
                self._in_memory(records.note(run))
            self.open = {number: run for number, run in self.open.items() if run.outcome == "unknown"}

    def close(self) -> None:
        with self._lock:
            written = [journal for journal in (self._memory, self._disk) if journal is not None]
            self._memory = self._disk = None
            self.finished = 0
            if written:
                self.closed.append((self._place, written))

    def _in_memory(self, record: bytes) -> bool:
        if self._memory is None or not self.has_memory:
            return False
        try:
            self._memory.write(record)
        except OSError:
            return False
        return True

    def _new_on_disk(self, place: Place) -> Journal:
        journal = Journal.on_disk(place.store)
        with self._lock:
            runs = list(self.open.values())
        try:
            for run in runs:
                journal.write(records.note(run))
        except OSError:
            journal.remove()
            raise
        return journal


class RecordingProblems:
    """The runs of one kernel that were lost or have to wait: the kernel says each new problem once, after a cell."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()  # runs by the reason why they are not remembered
        self._lock = Lock()
        self._said: dict[str, set[str]] = {"lost": set(), "delayed": set(), "left": set()}
        self._news: list[str] = []

    def lose(self, reason: str, number: int = 1) -> None:
        """Count runs that are not remembered; ``reason`` is the end of a sentence."""
        with self._lock:
            self.lost[reason] += number
        notice = f"The history is not being recorded: {reason}. Your cells run as usual; "
        self._begin("lost", reason, f"{notice}`%memory history status` shows how many runs were lost.")

    def delay(self, reason: str) -> None:
        """Note that runs wait in the journal; ``reason`` is one or more sentences."""
        self._begin("delayed", reason, f"Your runs wait in a file until the store can be written. {reason}")

    def leave(self, path: Path) -> None:
        """Note that a journal stays although the store has its runs."""
        notice = f"The store has your runs, but the file they waited in cannot be removed. Delete it: {path}"
        self._begin("left", str(path.parent), notice)

    def end(self, problem: Literal["lost", "delayed"]) -> None:
        """Note that a run reached the disk, or the store took what was delayed: the next problem is reported."""
        with self._lock:
            self._said[problem].clear()

    def news(self) -> list[str]:
        with self._lock:
            news, self._news = self._news, []
        return news

    def _begin(self, problem: str, reason: str, notice: str) -> None:
        with self._lock:
            if reason not in self._said[problem]:
                self._said[problem].add(reason)
                self._news.append(notice)


# A lock of Python wakes a thread while the caller still holds the interpreter, so on a busy machine both can stall for
# milliseconds. Writing to a pipe releases the interpreter first.
class _WakeupPipe:
    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._read_end, select.POLLIN)
        # Neither thread knows when the other one is done with it, and a closed descriptor may soon be another file's.
        for end in (self._read_end, self._write_end):
            os.set_blocking(end, False)
            finalize(self, os.close, end).atexit = False

    def wake(self) -> None:
        with suppress(BlockingIOError):  # the pipe is full, so the other thread will wake anyway
            os.write(self._write_end, b"\0")

    def wait(self, seconds: float | None = None) -> None:
        if self._poll.poll(None if seconds is None else 1000 * seconds):
            with suppress(BlockingIOError):  # another thread was faster
                os.read(self._read_end, 4096)


# Seconds that a cell waits for its note: hundreds of times what a healthy disk takes, and too short to be noticed.
_PATIENCE = 0.05
# Characters of a cell that is noted without the thread: its secrets are found in less than a millisecond.
_LONG = 10_000
# Seconds after which what is in memory is copied: at once, the thread would take the interpreter from a short cell.
_SOON = 0.02
_ROOM = 1_000  # notes that may wait for a slow disk: minutes of work, or a second of a loop that runs cells
# Returns a run without secrets and in bounds; None for one that is not remembered.
Checked = Callable[[Run, Sequence[str]], Run | None]
# Takes a record to the disk, and is told whether the memory has it; returns whether it is anywhere.
_Copy = Callable[[bytes, bool], bool]


class Writer:
    """Writes the journals of one kernel: at once in the memory of the machine, which survives it, then to the disk.

    Without such memory, and for long cells, whose secrets take a while to be found, a cell waits for the thread.
    """

    def __init__(self, place: Callable[[], Place], checked: Checked, problems: RecordingProblems) -> None:
        self.noted = self.excluded = 0
        self.journals = _JournalPair(place)
        self._place, self._checked, self._problems = place, checked, problems
        self._queue: deque[Callable[[], object] | None] = deque()
        self._work_arrived, self._note_taken = _WakeupPipe(), _WakeupPipe()
        self._in_haste = False
        # The number of the last run that the thread was asked to note, and of the last one that it dealt with.
        self._wanted = self._done = 0
        self._thread = Thread(target=self._work, name="jupyter-memory journal", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Return whether its thread runs; in a forked child it does not."""
        return self._thread.is_alive()

    def open(self, patience: float) -> None:
        """Load what notes need, and make the journals, waiting at most ``patience`` seconds."""
        self._put(partial(self._tried, partial(self._checked, Run("", datetime.fromtimestamp(0, UTC), "", 0), ())))
        self.catch_up(patience, self.journals.rotate)

    def begin(self, run: Run, tags: Sequence[str]) -> None:
        """Note a run that is about to begin, so that the note outlives this process."""
        if self.journals.has_memory and len(run.source) < _LONG:
            self._tried(partial(self._note, run, tags, self._later))
        elif len(self._queue) < _ROOM:
            is_late = self._done < self._wanted
            self._wanted = run.number
            self._put(partial(self._begin, run, tags))
            until = monotonic() + (0 if is_late else _PATIENCE)
            while self._done < run.number and (left := until - monotonic()) > 0:
                self._note_taken.wait(left)
        else:
            self._lose()

    def end(self, run: Run) -> None:
        """Note how a run ended: its number, outcome, seconds and error."""
        # Behind a beginning that waits there is always room: such endings are no more than the beginnings.
        waits = self._done < run.number <= self._wanted
        error = run.error
        # The note of a cell's end is safe before the next one begins, unless its secrets take a while to be found.
        is_short = error is None or len(run.source) + len(error.message) + len(error.traceback) < _LONG
        if waits or (not (is_short and self.journals.has_memory) and len(self._queue) < _ROOM):
            self._put(partial(self._tried, partial(self._note_end, run, self._copy)))
        else:
            self._tried(partial(self._note_end, run, self._later))

    def catch_up(self, patience: float, then: Callable[[], object] = lambda: None) -> None:
        """Wait at most ``patience`` seconds until everything up to now is noted and ``then`` is done."""
        done = Event()
        self._put(partial(self._tried, then))
        self._put(done.set)
        done.wait(patience)

    def stop(self, patience: float) -> bool:
        """Close the journals and end the thread; return whether that was done within so many seconds."""
        self._put(None)
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _begin(self, run: Run, tags: Sequence[str]) -> None:
        self._tried(partial(self._note, run, tags, self._copy))
        self._done = run.number
        self._note_taken.wake()

    def _note(self, run: Run, tags: Sequence[str], copy: _Copy) -> None:
        kept = self._checked(run, tags)
        if kept is None:
            self.excluded += 1
            return
        record = records.note(kept)
        if not copy(record, self.journals.begin(kept, record)):
            self.journals.discard(run.number)
        else:
            self.noted += 1

    def _note_end(self, run: Run, copy: _Copy) -> None:
        begun = self.journals.open.get(run.number)
        if begun is None:
            return
        ended = replace(begun, outcome=run.outcome, seconds=run.seconds)
        is_told = run.error is not None or run.result
        checked = self._checked(replace(ended, error=run.error, result=run.result), ()) if is_told else None
        ended = ended if checked is None else replace(ended, error=checked.error, result=checked.result)
        record = records.ending(ended)
        copy(record, self.journals.end(ended, record))

    def _later(self, record: bytes, in_memory: bool) -> bool:
        if len(self._queue) >= _ROOM:
            if not in_memory:
                self._lose()
            return in_memory
        self._queue.append(partial(self._copy, record, in_memory))
        if len(self._queue) == 1:
            self._work_arrived.wake()
        return True

    def _copy(self, record: bytes, in_memory: bool) -> bool:
        try:
            self.journals.copy(record)
        except OSError as error:
            # What is in memory waits there for the store, which the same disk keeps from being written.
            if not in_memory:
                self._problems.lose(_said(error))
            return in_memory
        self._problems.end("lost")
        return True

    def _lose(self) -> None:
        self._problems.lose(f"the disk of {self._place().store} is too slow")

    def _put(self, work: Callable[[], object] | None) -> None:
        self._queue.append(work)
        self._in_haste = True
        self._work_arrived.wake()

    def _work(self) -> None:
        while True:
            if not self._queue:
                self._in_haste = False
                while not self._queue:
                    self._work_arrived.wait()
                until = monotonic() + _SOON
                while not self._in_haste and (left := until - monotonic()) > 0:
                    self._work_arrived.wait(left)
            if (work := self._queue.popleft()) is None:
                break
            work()
        self.journals.close()

    def _tried(self, work: Callable[[], object]) -> None:
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
    # Each attempt has another file, so the folder is named.
    where = f"in {Path(error.filename).parent}: " if error.filename else ""
    return f"nothing can be written {where}{error.strerror or type(error).__name__}"


# Seconds between two looks at the journal, and of quiet before it is taken in. A kernel that is never quiet has to
# share the processor after some time.
_EVERY, _QUIET, _LONGEST = 2.0, 1.0, 60.0
_SELDOM = 300.0  # after a failure it is tried again at longer and longer intervals, up to this many seconds
_TOGETHER = 32  # runs that are taken in before it is looked whether a cell runs
# Seconds that the writer may take to begin a new journal.
_ROTATION = 5.0
Record = Callable[[Iterable[Run]], object]


class Absorber:
    """The thread that empties the journals of one kernel; ``quiet`` returns the seconds without a cell that runs."""

    def __init__(
        self,
        writer: Writer,
        opened: Callable[[Place], AbstractContextManager[Record]],
        quiet: Callable[[], float],
        problems: RecordingProblems,
    ) -> None:
        self._writer, self._journals = writer, writer.journals
        self._opened, self._quiet, self._problems = opened, quiet, problems
        self._asked: SimpleQueue[Event | None] = SimpleQueue()
        self._waits_since: float | None = None
        self._is_last = False
        self._thread = Thread(target=self._work, name="jupyter-memory history", daemon=True)
        self._thread.start()

    def absorb(self, patience: float) -> None:
        """Take in all that has ended, waiting at most ``patience`` seconds."""
        done = Event()
        self._asked.put(done)
        done.wait(patience)

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
                    self._writer.catch_up(_ROTATION, self._journals.rotate)
                if not self._journals.closed:
                    break
                place, journals = self._journals.closed[0]
                self._take(place, journals, in_haste=in_haste)
                # First, so that a file that stays is not tried again for ever.
                self._journals.closed.popleft()
                for journal in journals:
                    if not journal.remove():
                        self._problems.leave(journal.path)
                self._problems.end("delayed")
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
        ended = [run for run in records.runs(data) if self._is_last or run.outcome != "unknown"]
        if not ended:
            return
        with self._opened(place) as record:
            for number, batch in enumerate(batches(ended, _TOGETHER)):
                # Between two batches, cells go first, unless somebody waits for what was run.
                while number and not (in_haste or self._is_last or self._is_quiet() or not self._asked.empty()):
                    sleep(_QUIET / 10)
                # Somebody may have cleared the history since they were read.
                if (now := _content(journals)) != data:
                    kept = {(run.session, run.number) for run in records.runs(now)}
                    batch = [run for run in batch if (run.session, run.number) in kept]
                record(batch)


def _content(journals: Iterable[Journal]) -> bytes:
    return b"".join(journal.read() for journal in journals)
