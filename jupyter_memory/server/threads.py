"""Work outside the event loop: calls in threads, stopped when they are no longer awaited; indexing jobs, one by one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.server.exchange import ClientError

if TYPE_CHECKING:
    from jupyter_memory.types import IndexReport


class Ticket:
    """One call on its way through a pool; ``drop`` stops it when its result is no longer awaited."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.future: Future[Any] = Future()
        self.dropped = False
        self._call = call
        self._lock = threading.Lock()
        self._thread: int | None = None

    def run(self) -> None:
        with self._lock:
            if not self.future.set_running_or_notify_cancel():
                return
            self._thread = threading.get_ident()
        try:
            try:
                result = self._call()
            finally:
                with self._lock:
                    self._thread = None
        except BaseException as error:  # noqa: BLE001  it is raised again where the answer is awaited
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    async def result(self) -> Any:
        return await asyncio.wrap_future(self.future)

    def drop(self, interrupt: Callable[[int], object]) -> None:
        """Take the call out of the queue, or interrupt what its thread is doing."""
        with self._lock:
            self.dropped = True
            self.future.cancel()
            # Within the lock: a thread that has finished this call may already be at work on another.
            if self._thread is not None:
                interrupt(self._thread)


class Pool:
    """A number of threads, started at the first call, with a bounded queue before them."""

    def __init__(self, threads: int, waiting: int = 256, name: str = "calls") -> None:
        self._count, self._most_waiting, self._name = threads, waiting, name
        self._queue: SimpleQueue[Ticket | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._lock = threading.Lock()

    def put(self, call: Callable[[], Any]) -> Ticket:
        ticket = Ticket(call)
        with self._lock:
            if self._closed:
                raise _stopping()
            if self.waiting >= self._most_waiting:
                raise ClientError(503, "The memory is busy: too many requests wait. Try again in a moment.", "Busy")
            self._queue.put(ticket)
            for number in range(len(self._threads), self._count):
                # Daemons: a server that is stopped does not wait for a long search.
                name = f"jupyter-memory-{self._name}-{number + 1}"
                self._threads.append(threading.Thread(target=self._work, name=name, daemon=True))
                self._threads[-1].start()
        return ticket

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    def close(self, wait: float = 0, interrupt: Callable[[int], object] | None = None) -> None:
        """Take no more calls: those in the line have ``wait`` seconds, and what still runs is interrupted."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
            for _ in threads:
                self._queue.put(None)
        until = monotonic() + wait
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
        with suppress(Empty):
            while True:
                ticket = self._queue.get_nowait()
                if ticket is not None and ticket.future.set_running_or_notify_cancel():
                    ticket.future.set_exception(_stopping())
        for thread in threads:
            self._queue.put(None)  # those before may have been taken out with the line
            if interrupt is not None and thread.ident is not None:
                interrupt(thread.ident)

    def _work(self) -> None:
        while (ticket := self._queue.get()) is not None:
            ticket.run()


def _stopping() -> ClientError:
    return ClientError(503, "The server is stopping.", "Stopping")


State = Literal["waiting", "running", "done", "failed", "cancelled"]
Progress = Callable[[int, "int | None"], None]
# Jobs that are over and still listed; files that a job lists one by one.
_KEPT, _NAMED = 20, 500


class _Stopped(Exception):
    pass


@dataclass(slots=True)
class Job:
    """One indexing of an absolute path, counted in files; or the change to a model, in bytes and then in vectors."""

    path: str
    watch: bool | None = None
    model: str = ""
    job_id: str = field(default_factory=lambda: uuid4().hex)
    state: State = "waiting"
    done: int = 0
    total: int | None = None
    summary: str = ""
    failed: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    stopping: bool = False

    @property
    def is_over(self) -> bool:
        return self.state not in ("waiting", "running")

    def to_json(self) -> dict[str, Any]:
        told = ("job_id", "path", "model", "state", "done", "total", "summary", "failed", "skipped")
        return {name: getattr(self, name) for name in told}


class Jobs:
    """The jobs of a server; ``notify`` is called at every change, in the thread of the pool or the caller's."""

    def __init__(
        self,
        pool: Pool,
        work: Callable[[Job, Progress], IndexReport | str],
        notify: Callable[[Job], object],
        log: Callable[[BaseException], object],
    ) -> None:
        self._pool, self._do, self._notify, self._log = pool, work, notify, log
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def add(self, path: str, watch: bool | None = None, *, model: str = "") -> Job:
        """Put a folder or a model into the line, and return its job: the one that waits already, if there is one."""
        with self._lock:
            for job in self._jobs.values():
                if (job.path, job.model, job.state) == (path, model, "waiting"):
                    job.watch = job.watch if watch is None else watch
                    return job
            job = Job(path, watch, model)
            # Under the lock: it begins when it is in the list, and is in the list only if it will begin.
            self._pool.put(lambda: self._run(job))
            self._jobs[job.job_id] = job
            over = [one.job_id for one in self._jobs.values() if one.is_over]
            for old in over[: max(0, len(over) - _KEPT)]:
                del self._jobs[old]
            self._notify(job)
        return job

    def cancel(self, job_id: str) -> Job:
        """Stop a job; what it has indexed stays. A finished job is unchanged."""
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None:
                raise ClientError(404, "There is no job of this id: it may be over for a long time.", "UnknownJob")
            job.stopping = True
            waited = job.state == "waiting"
            if waited:
                job.state, job.summary = "cancelled", "Stopped before it began."
        if waited:
            self._notify(job)
        return job

    def cancel_all(self, below: Path | None = None) -> None:
        """Stop every job, or those of a folder and of what lies below it."""
        with self._lock:
            unfinished = [job for job in self._jobs.values() if not job.is_over]
        for job in unfinished:
            if below is None or Path(job.path).is_relative_to(below):
                self.cancel(job.job_id)

    def listed(self) -> list[dict[str, Any]]:
        with self._lock:
            return [job.to_json() for job in reversed(self._jobs.values())]

    def _run(self, job: Job) -> None:
        with self._lock:
            if job.is_over:
                return
            job.state = "running"
        self._notify(job)

        def progress(done: int, total: int | None) -> None:
            job.done, job.total = done, total
            if job.stopping:
                raise _Stopped
            self._notify(job)

        state: State = "failed"
        try:
            report = self._do(job, progress)
        except _Stopped:
            summary = f"Stopped at file {job.done:,} of {job.total or 0:,}; what was indexed stays."
            state, summary = "cancelled", "Stopped: the model before it stays in use." if job.model else summary
        except JupyterMemoryError as error:
            summary = str(error)
        except Exception as error:  # noqa: BLE001  nothing above a thread would report it
            self._log(error)
            summary = "Something went wrong in the server; its log says where."
        else:
            state, summary = "done", str(report)
        if state == "done" and not isinstance(report, str):
            job.failed, job.skipped = _first(report.failed), _first(report.skipped)
            left = f" Left out: {kinds}." if (kinds := report.kinds_left_out) else ""
            summary = f"{summary.splitlines()[0]}.{left}"
        with self._lock:
            job.state, job.summary = state, summary
        self._notify(job)


def _first(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    # Jobs are kept, and sent every second while one runs.
    more = len(pairs) - _NAMED
    return tuple(pairs) if more <= 0 else (*pairs[:_NAMED], ("…", f"and {more:,} more files"))
