"""Indexing on request: one folder after the other in a separate thread; jobs report progress and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.server.threads import Pool
from jupyter_memory.server.validation import ClientError

if TYPE_CHECKING:
    from jupyter_memory.types import IndexReport

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Progress = Callable[[int, "int | None"], None]
# Jobs that are over and still listed; files that a job lists one by one.
_KEPT, _NAMED = 20, 500


class _Stopped(Exception):
    pass


@dataclass(slots=True)
class Job:
    """One indexing; ``path`` is absolute, ``done`` and ``total`` count files."""

    path: str
    watch: bool | None = None
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
        told = ("job_id", "path", "state", "done", "total", "summary", "failed", "skipped")
        return {name: getattr(self, name) for name in told}


class Jobs:
    """The jobs of a server; ``notify`` is called at every change, in the thread of the pool or the caller's."""

    def __init__(
        self,
        pool: Pool,
        index: Callable[[Job, Progress], IndexReport],
        notify: Callable[[Job], object],
        log: Callable[[BaseException], object],
    ) -> None:
        self._pool = pool
        self._index = index
        self._notify = notify
        self._log = log
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def add(self, path: str, watch: bool | None) -> Job:
        """Put a folder into the line, and return its job: the one that waits already, if there is one."""
        with self._lock:
            for job in self._jobs.values():
                if (job.path, job.state) == (path, "waiting"):
                    job.watch = job.watch if watch is None else watch
                    return job
            job = Job(path, watch)
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
            report = self._index(job, progress)
        except _Stopped:
            state, summary = "cancelled", f"Stopped at file {job.done:,} of {job.total or 0:,}; what was indexed stays."
        except JupyterMemoryError as error:
            summary = str(error)
        except Exception as error:  # noqa: BLE001  nothing above a thread would report it
            self._log(error)
            summary = "Something went wrong in the server; its log says where."
        else:
            job.failed, job.skipped = _first(report.failed), _first(report.skipped)
            left = f" Left out: {report.kinds_left_out}." if report.left_out else ""
            state, summary = "done", f"{str(report).splitlines()[0]}.{left}"
        with self._lock:
            job.state, job.summary = state, summary
        self._notify(job)


def _first(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    # Jobs are kept, and sent every second while one runs.
    more = len(pairs) - _NAMED
    return tuple(pairs) if more <= 0 else (*pairs[:_NAMED], ("…", f"and {more:,} more files"))
