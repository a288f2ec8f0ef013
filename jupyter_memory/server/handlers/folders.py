"""Indexing: jobs, and the folders that were indexed or are watched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from jupyter_memory.errors import InputError
from jupyter_memory.server import serializers
from jupyter_memory.server.client_errors import check_count, invalid
from jupyter_memory.server.handlers.base import MemoryHandler, read, write
from jupyter_memory.server.locations import typed

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore


class Index(MemoryHandler):
    """POST: index a folder or a file, after what is being indexed already."""

    @write
    async def post(self) -> None:
        """Answer with ``IJob``, which waits or runs."""
        body = await self.body("index-request")

        def begin() -> dict[str, Any]:
            path = self.service.root.admitted(body["path"])
            if not os.path.exists(path):  # noqa: PTH110  a folder without permission is no error
                raise invalid("path", "there is nothing at this path")
            return self.service.jobs.add(str(path), body.get("watch")).to_json()

        await self.reply_with(begin)


class Jobs(MemoryHandler):
    """GET: the jobs, polled; POST: stop one."""

    _track_activity = False

    @read
    async def get(self) -> None:
        """Answer with the jobs, the newest first."""
        self.finish({"jobs": self.service.jobs.listed()})

    @write
    async def post(self) -> None:
        """Answer with the job, which stops at its next file."""
        self.finish(self.service.jobs.cancel((await self.body("jobs-request"))["job_id"]).to_json())


class Folders(MemoryHandler):
    """GET: the folders, compared with what is on the disk; POST: watch one, or remove it with its memories."""

    @read
    async def get(self) -> None:
        """Answer with the folders, ``changed`` counted."""
        # One after the other: looking through large folders must not keep the searches waiting.
        await self.reply_with(
            lambda: {"folders": serializers.folders(self.service.provider.store(), self.service.root)},
            self.service.scan_pool,
        )

    @write
    async def post(self) -> None:
        """Answer with the folders as they are now."""
        body = await self.body("folders-request")
        path = typed(body["path"])
        if not path.is_absolute():
            raise invalid("path", "it must be the absolute path of a folder that was indexed")
        if body.get("watched"):
            # To watch is to index later; a folder of elsewhere may still be removed, or watched no longer.
            path = self.service.root.admitted(body["path"])

        def change(store: MemoryStore) -> dict[str, Any]:
            try:
                if body.get("remove"):
                    check_count(_held(store, str(path)), body.get("count"))
                    store.remove_folder(path)
                elif "watched" in body:
                    store.watch(path, body["watched"])
            # OSError, UnicodeError: nothing on this machine can have such a name.
            except (InputError, OSError, UnicodeError):
                raise invalid("path", "nothing at or below it was indexed") from None
            return {"folders": serializers.folders(store)}

        if body.get("remove"):
            self.service.jobs.cancel_below(path)
            # Not during an indexing, which would take a half-removed folder for unchanged.
            await self.reply_with(lambda: change(self.service.provider.store()), self.service.index_pool)
        else:
            await self.reply(change)


def _held(store: MemoryStore, path: str) -> int:
    """Return how many memories a folder holds: as many as its list says, if it is on that."""
    listed = {one.path: one.memories for one in store.folders()}
    return listed[path] if path in listed else len(store.selection(source=path, filters={"kind": ["file", "cell"]}))


ROUTES = {"index": Index, "jobs": Jobs, "folders": Folders}
