"""Keeps watched folders up to date: the contents manager reports what Lab does to files, and the store follows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_memory.errors import JupyterMemoryError, NoStore
from jupyter_memory.server.client_errors import ClientError
from jupyter_memory.server.thread_pool import Pool, Ticket
from jupyter_memory.text.paths import called_before

if TYPE_CHECKING:
    from jupyter_memory.interface.store_provider import StoreProvider
    from jupyter_memory.server.locations import Root
    from jupyter_memory.store.memory_store import MemoryStore

SCHEMA = "https://events.jupyter.org/jupyter_server/contents_service/v1"
# Seconds of quiet after which changes are applied, and seconds after which they are applied in any case.
QUIET, LONGEST = 1.0, 5.0


@dataclass(frozen=True, slots=True)
class Change:
    """A file or folder to look at: it was written, is gone, or has moved here from ``old``."""

    path: Path
    old: Path | None = None


class Watcher:
    """Collects changes in the loop of the server and passes them to the thread that indexes."""

    def __init__(
        self,
        provider: StoreProvider,
        root: Root,
        pool: Pool,
        log: Callable[[BaseException], object],
        notify: Callable[[int], object],
    ) -> None:
        """Call ``notify`` with how many changes made a difference, in the thread that applied them."""
        self._provider = provider
        self._root = root
        self._pool = pool
        self._log = log
        self._notify = notify
        self._changes: list[Change] = []
        # Submitted and not begun: later changes join them, however long an indexing before them takes.
        self._pending: list[Change] = []
        self._is_submitted = False
        self._lock = threading.Lock()
        self._first = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def on_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        """Take an event of the contents manager."""
        change = self._change(data)
        if change is None:
            return
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        if not self._changes:
            self._first = loop.time()
        self._changes.append(change)
        self._timer = loop.call_at(min(loop.time() + QUIET, self._first + LONGEST), self._submit)

    def close(self) -> None:
        """Ignore further events."""
        if self._timer is not None:
            self._timer.cancel()
        self._changes = []

    def _change(self, data: dict[str, Any]) -> Change | None:
        """Return what an event says, None where it says nothing of what files hold."""
        folder, action = self._root.folder, data["action"]
        if folder is None:
            return None
        path = self._root.within(data["path"])
        if action in ("save", "upload", "copy", "delete"):
            return Change(path)
        if action == "rename":
            return Change(path, self._root.within(data["source_path"]))
        return None

    def _submit(self) -> None:
        changes, self._changes, self._timer = self._changes, [], None
        with self._lock:
            self._pending += changes
            if not self._is_submitted:
                # Refused while very many jobs wait: then the next change submits these as well.
                with suppress(ClientError):
                    self._pool.put(Ticket(self._apply))
                    self._is_submitted = True

    def _apply(self) -> None:
        with self._lock:
            changes, self._pending, self._is_submitted = self._pending, [], False
        problems: list[Exception] = []
        try:
            made = apply_changes(self._provider.store(), changes, problems, self._provider.settings.ignore)
        except NoStore:
            return
        except Exception as error:  # noqa: BLE001  nothing above a thread would report it
            # Changes before the error may have been applied.
            made = 1
            problems.append(error)
        for problem in problems:
            self._log(problem)
        if made:
            self._notify(made)


def apply_changes(
    store: MemoryStore, changes: Sequence[Change], problems: list[Exception], ignore: Sequence[str] = ()
) -> int:
    """Update a store after changes: moves of all files that it knows, other changes in the folders that are watched.

    A file that moved keeps its memories with their ids, tags and pins. What goes wrong with one file is added to
    ``problems``, and the others are applied. Return how many changes made a difference to the store.
    """
    made = 0
    # Lab names files by the folder that a link leads to; they may be known by the name of the link.
    names = [folder.path for folder in store.folders()]
    changes = [_as_known(change, names) for change in changes]
    for change in changes:
        if change.old is not None:
            made += _try(partial(store.rename, change.old, change.path), problems)
    # After the renaming: a folder that is watched may have moved itself.
    watched = [Path(folder.path) for folder in store.folders() if folder.watched]
    for path, folder in _touched([change.path for change in changes], watched).items():
        made += _try(partial(_look_at, store, path, folder, ignore), problems)
    return made


def _as_known(change: Change, names: Sequence[str]) -> Change:
    old = None if change.old is None else called_before(change.old, names)
    return Change(called_before(change.path, names), old)


def _look_at(store: MemoryStore, path: Path, folder: Path, ignore: Sequence[str]) -> int:
    if not path.exists():
        # Saved a moment ago it may be gone already, or have another name.
        return store.forget_gone(path)
    if not _is_wanted(path, folder, ignore):
        return 0
    report = store.index(path, progress=False)
    return report.files + report.forgotten + report.moved


def _touched(paths: Sequence[Path], watched: Sequence[Path]) -> dict[Path, Path]:
    """Return the paths to look at, each with its watched folder: the path itself, or watched folders below it."""
    touched: dict[Path, Path] = {}
    for path in paths:
        above = next((folder for folder in watched if path.is_relative_to(folder)), None)
        below = {folder: folder for folder in watched if folder.is_relative_to(path)}
        touched |= below if above is None else {path: above}
    return touched


def _try(step: Callable[[], int], problems: list[Exception]) -> int:
    """Return 1 if a step did something, 0 if nothing was to do or it failed."""
    try:
        return min(step(), 1)
    except (JupyterMemoryError, OSError) as error:
        problems.append(error)
        return 0


def _is_wanted(path: Path, folder: Path, ignore: Sequence[str]) -> bool:
    # Imported late: the server starts without what reads files.
    from jupyter_memory.ingest.walker import is_wanted

    return is_wanted(path, folder, ignore=ignore)
