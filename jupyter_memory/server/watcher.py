"""Keeps watched folders up to date: the contents manager reports what Lab does to files, and the store follows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jupyter_memory.errors import NoStore
from jupyter_memory.interface.watching import Change, apply_changes
from jupyter_memory.server.threads import Pool
from jupyter_memory.server.validation import ClientError

if TYPE_CHECKING:
    from jupyter_memory.interface.provider import StoreProvider
    from jupyter_memory.server.serializers import Root

SCHEMA = "https://events.jupyter.org/jupyter_server/contents_service/v1"
# Seconds of quiet after which changes are applied, and seconds after which they are applied in any case.
QUIET, LONGEST = 1.0, 5.0


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
        # ``notify`` gets how many changes made a difference, in the thread that applied them.
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
        action = data["action"]
        if self._root.folder is None or action not in ("save", "upload", "copy", "delete", "rename"):
            return
        path = self._root.within(data["path"])
        change = Change(path, self._root.within(data["source_path"])) if action == "rename" else Change(path)
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        if not self._changes:
            self._first = loop.time()
        self._changes.append(change)
        self._timer = loop.call_at(min(loop.time() + QUIET, self._first + LONGEST), self._submit)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._changes = []

    def _submit(self) -> None:
        changes, self._changes, self._timer = self._changes, [], None
        with self._lock:
            self._pending += changes
            if not self._is_submitted:
                # Refused while very many jobs wait: then the next change submits these as well.
                with suppress(ClientError):
                    self._pool.put(self._apply)
                    self._is_submitted = True

    def _apply(self) -> None:
        with self._lock:
            changes, self._pending, self._is_submitted = self._pending, [], False
        try:
            made = apply_changes(self._provider.store(), changes, self._log, self._provider.settings.ignore)
        except NoStore:
            return
        except Exception as error:  # noqa: BLE001  nothing above a thread would report it
            # Changes before the error may have been applied.
            made = 1
            self._log(error)
        if made:
            self._notify(made)
