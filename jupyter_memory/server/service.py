"""What the handlers share: the settings, the door to the store, the threads, the root of Lab's files."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from logging import Logger
from typing import TYPE_CHECKING

from jupyter_memory.config import JupyterMemory
from jupyter_memory.server.event_bus import Teller
from jupyter_memory.server.jobs import Job, Jobs, Progress
from jupyter_memory.server.locations import Root
from jupyter_memory.server.store_provider import Door
from jupyter_memory.server.thread_pool import Pool
from jupyter_memory.server.watcher import SCHEMA, Watcher

if TYPE_CHECKING:
    from jupyter_events import EventLogger

    from jupyter_memory.server.extension import JupyterMemoryServer
    from jupyter_memory.types import IndexReport

# Seconds that a server which stops waits for the indexing that it stops.
_GRACE = 2.0
# Threads for changes, threads for what looks through a whole store or folder, and jobs that may wait.
_CHANGES, _LOOKS, _LINE = 2, 2, 1_000
# Raised when an older front end would misunderstand the server.
API = 1


class Service:
    """One a server."""

    def __init__(
        self,
        settings: JupyterMemory,
        limits: JupyterMemoryServer,
        root: Root,
        events: EventLogger | None,
        log: Logger,
        problems: Sequence[str] = (),
    ) -> None:
        self.settings = settings
        self.only_user = limits.only_user
        self.root = root
        self.log = log
        self.problems = tuple(problems)
        self.door = Door(settings, root.folder)
        self.pool = Pool(limits.threads, name="search")
        # Changes wait for other programs that write, and look for what may take long: no search waits behind them.
        self.changing = Pool(_CHANGES, name="change")
        self.looking = Pool(_LOOKS, name="look")
        # One thread: folders are indexed one after the other.
        self.later = Pool(1, waiting=_LINE, name="index")
        self.tell = Teller(events)
        self.jobs = Jobs(self.later, self._index, self.tell, self.log_error)
        self.watcher = Watcher(self.door, root, self.later, self.log_error, self.tell.taken_in)
        self._events = events
        if events is not None:
            events.add_listener(schema_id=SCHEMA, listener=self.watcher.heard)

    def log_error(self, error: BaseException) -> None:
        """Log where something went wrong, without what the exception says: it may quote the user."""
        place = "".join(traceback.format_tb(error.__traceback__))
        self.log.error("jupyter-memory: %s\n%s", type(error).__name__, place)

    def close(self) -> None:
        """Stop the jobs and the threads, and close the store; closing again does nothing."""
        if self._events is not None:
            self._events.remove_listener(schema_id=SCHEMA, listener=self.watcher.heard)
        self.watcher.close()
        self.jobs.close()
        self.pool.close(interrupt=self.door.interrupt)
        self.looking.close(interrupt=self.door.interrupt)
        # A moment for what somebody has written, and for the job that runs, to stop between two files: it has processes
        # of its own to end.
        self.changing.close(wait=_GRACE)
        self.later.close(wait=_GRACE)
        self.door.close()

    def _index(self, job: Job, progress: Progress) -> IndexReport:
        store = self.door.store(make=True)
        report = store.index(job.path, progress=progress)
        if job.watch is not None:
            store.watch(job.path, job.watch)
        return report
