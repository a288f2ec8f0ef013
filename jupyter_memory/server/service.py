"""What the server's extension holds: settings, store, jobs, their events, and a watcher of what Lab does to files."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections import deque
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from jupyter_server.services.contents.filemanager import FileContentsManager
from traitlets import Bool, Bunch, Int, TraitError, Unicode, validate
from traitlets.config import Configurable

from jupyter_memory.config import load_config, models_folder
from jupyter_memory.errors import NoStore
from jupyter_memory.interface.running import Change, FolderWatch, StoreProvider, apply_changes
from jupyter_memory.server.exchange import ClientError, Root
from jupyter_memory.server.threads import Job, Jobs, Pool, Progress
from jupyter_memory.store.listed import Stores
from jupyter_memory.stores import listed_stores
from jupyter_memory.text.paths import plain_path

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from jupyter_memory.types import IndexReport, Query

SCHEMA = "https://events.jupyter.org/jupyter_server/contents_service/v1"
# Seconds of quiet after which changes are applied, and seconds after which they are applied in any case.
QUIET, LONGEST = 1.0, 5.0


class Watcher:
    """Collects changes in the loop of the server and passes them to the thread that indexes."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._changes: deque[Change] = deque()
        # And not begun: later changes join those before them, however long an indexing takes.
        self._is_submitted = False
        self._first = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def on_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        action, root = data["action"], self._service.root
        if root.folder is None or action not in ("save", "upload", "copy", "delete", "rename"):
            return
        path = root.within(data["path"])
        change = Change(path, root.within(data["source_path"])) if action == "rename" else Change(path)
        loop = asyncio.get_running_loop()
        if self._timer is None:
            self._first = loop.time()
        else:
            self._timer.cancel()
        self._changes.append(change)
        self._timer = loop.call_at(min(loop.time() + QUIET, self._first + LONGEST), self._submit)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._changes.clear()

    def _submit(self) -> None:
        self._timer = None
        if not self._is_submitted:
            self._is_submitted = True
            try:
                self._service.index_pool.put(self._apply)
            except ClientError:  # very many jobs wait: the next change submits these as well
                self._is_submitted = False

    def _apply(self) -> None:
        self._is_submitted, service = False, self._service
        changes = [self._changes.popleft() for _ in range(len(self._changes))]
        try:
            made = apply_changes(service.provider.store(), changes, service.log_error, service.settings.ignore)
        except NoStore:
            return
        except Exception as error:  # noqa: BLE001  nothing above a thread would report it
            # Changes before the error may have been applied.
            made = 1
            service.log_error(error)
        if made:
            service.publish("changes", {"changes": made})


class JupyterMemoryServer(Configurable):  # type: ignore[misc,unused-ignore]
    """What the panel's server may do: ``c.JupyterMemoryServer.only_user = "ada"`` in ``jupyter_server_config.py``."""

    only_user = Unicode(
        "", help="The one user name that may use the memory through this server; empty: every user of the server."
    ).tag(config=True)
    root = Unicode(
        "",
        help="The folder of this machine that Lab's paths begin at, where the contents manager joins several folders "
        "and cannot say it, as with jupyter-fs; empty: what the contents manager says.",
    ).tag(config=True)
    allow_outside_root = Bool(
        False,
        help="Whether the panel may index and watch paths outside of the folder that Lab shows; hidden ones only with "
        "ContentsManager.allow_hidden. Off: those that notebooks or the command line indexed are found and can be "
        "removed, but the server does not look at their files.",
    ).tag(config=True)
    threads = Int(4, min=1, max=64, help="How many searches run at the same time.").tag(config=True)

    @validate("root")
    def _a_folder(self, proposal: Bunch) -> str:
        root = str(proposal.value)
        if root and not os.path.isdir(root):  # noqa: PTH112  a folder without permission is none
            raise TraitError(f"JupyterMemoryServer.root: {root} is not a folder. Name the one where Lab's files begin.")
        return root


# Seconds that a server which stops waits for the indexing that it stops.
_GRACE = 2.0


class Service:
    """The one service of a server: its store, its jobs and their events."""

    def __init__(self, server: ServerApp) -> None:
        self._log, self.problems = server.log, list[str]()
        self._more = {"the server's configuration": server.config}
        self.settings = settings = load_config(more=self._more, on_problem=self.problems.append)
        for problem in self.problems:
            server.log.warning("jupyter-memory: %s", problem)
        limits, manager = JupyterMemoryServer(parent=server), server.contents_manager
        self.only_user = limits.only_user
        # Every contents manager has a root_dir, by default "/", but only for this one it is a folder. The settings name
        # one for a manager that does not know its own.
        folder = limits.root or (manager.root_dir if isinstance(manager, FileContentsManager) else "")
        self.root = Root(None, outside=limits.allow_outside_root)
        if os.path.isdir(folder):  # noqa: PTH112  a folder without permission is none
            # Links are followed: kernels run in the folder that they lead to, and index it by that name.
            folder = str(plain_path(Path(folder).resolve()))
            self.root = replace(self.root, folder=folder, hidden=bool(manager.allow_hidden))
        self.provider = StoreProvider(settings, self.root.folder)
        self.stores = Stores(settings, self.provider.store, projects=False, here=self.root.folder)
        # The last queries to several stores at once, by their ids: no store keeps them.
        self.asked_together: deque[tuple[str, Query]] = deque(maxlen=64)
        self.search_pool = Pool(limits.threads, name="search")
        # Changes wait for other programs that write, and scans read a whole store or folder: no search waits for them.
        self.write_pool = Pool(2, name="change")
        self.scan_pool = Pool(2, name="look")
        # One thread: folders are indexed one after the other.
        self.index_pool = Pool(1, waiting=1_000, name="index")
        self.jobs = Jobs(self.index_pool, self._do, self._job_changed, self.log_error)
        self.watcher = Watcher(self)
        # Follows what other programs do to the files, from the first request on.
        self._folder_watch: FolderWatch | None = None
        # The loop of the server, once it has answered a request.
        self.loop: asyncio.AbstractEventLoop | None = None
        self._told: dict[str, tuple[str, float]] = {}
        assert server.event_logger is not None  # a server has it before it loads an extension
        self._events = server.event_logger
        for name in ("index", "changes"):
            self._events.register_event_schema(Path(__file__).parent / "schemas" / f"event-{name}.yaml")
        self._events.add_listener(schema_id=SCHEMA, listener=self.watcher.on_event)

    def log_error(self, error: BaseException) -> None:
        """Log where something went wrong, without what the exception says: it may quote the user."""
        place = "".join(traceback.format_tb(error.__traceback__))
        self._log.error("jupyter-memory: %s\n%s", type(error).__name__, place)

    def store_names(self) -> list[str]:
        """Return the names of the stores as the list is by now: notebooks and terminals change it."""
        self.settings.stores = load_config(more=self._more, on_problem=lambda problem: None).stores
        return [one.name for one in listed_stores(self.settings.stores, projects=False)]

    def interrupt(self, thread: int) -> None:
        self.provider.interrupt(thread)
        self.stores.interrupt(thread)

    def follow_folders(self) -> None:
        """Follow the watched folders of an open store, whichever program changes them."""
        if self._folder_watch is None or not self._folder_watch.runs:
            self._folder_watch = FolderWatch(
                self.provider.store,
                ignore=self.settings.ignore,
                admits=self.root.admits,
                applied=lambda made: self.publish("changes", {"changes": made}),
                problem=self.log_error,
            ).start()

    def close(self) -> None:
        """Stop the jobs and the threads, and close the store; closing again does nothing."""
        self._events.remove_listener(schema_id=SCHEMA, listener=self.watcher.on_event)
        self.watcher.close()
        if self._folder_watch is not None:
            self._folder_watch.close()
        self.jobs.cancel_all()
        self.search_pool.close(interrupt=self.interrupt)
        self.scan_pool.close(interrupt=self.interrupt)
        # Changes get a moment to finish, and the running job one to stop between two files and end its processes.
        self.write_pool.close(wait=_GRACE)
        self.index_pool.close(wait=_GRACE)
        self.provider.close()
        self.stores.close()

    def publish(self, name: str, data: dict[str, object]) -> None:
        """Publish an event of counts alone, from any thread: listeners are tasks of the loop of the server."""
        address = f"https://jupyter-memory.readthedocs.io/events/{name}/v1"
        if self.loop is not None:
            with suppress(RuntimeError):  # it is closed
                self.loop.call_soon_threadsafe(lambda: self._events.emit(schema_id=address, data=data))

    def _job_changed(self, job: Job) -> None:
        now = monotonic()
        state, at = self._told.get(job.job_id, ("", 0.0))
        if job.state == state and now - at < 0.25:
            return
        self._told[job.job_id] = (job.state, now)
        if job.is_over:
            del self._told[job.job_id]
        self.publish("index", {"job_id": job.job_id, "phase": job.state, "done": job.done, "total": job.total})

    def _do(self, job: Job, progress: Progress) -> IndexReport | str:
        if not job.model:
            store = self.provider.store(create=True)
            report = store.index(job.path, progress=progress)
            if job.watch is not None:
                store.watch(job.path, job.watch)
            return report

        # While a model is changed, the summary says which of the steps is counted.
        from jupyter_memory.embedders.download import install_extra
        from jupyter_memory.interface import models
        from jupyter_memory.interface.commands.command import as_typed

        folder = models_folder(self.settings)
        _, dimensions, cached = models.wanted(job.model, None, folder)
        if cached is not None:
            to_fetch = cached.entry.is_fetched and not cached.is_here
            if models.lacking(cached.entry, to_fetch=to_fetch):
                job.summary = "installing"
                install_extra(cached.entry, to_fetch=to_fetch)
            if to_fetch:
                job.summary = "fetching"
                models.get(cached, None, progress=progress)
        job.summary = "embedding"
        progress(0, None)
        store = self.provider.store(create=True)
        return as_typed(models.switch(store, job.model, dimensions, folder, progress=progress))
