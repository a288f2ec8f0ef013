"""The log of searches: recent ones, and what a person thought of a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_memory.server import serializers
from jupyter_memory.server.handlers.base import MemoryHandler, read, write

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore

_RECENT = 20


class Recent(MemoryHandler):
    """POST: the searches made a while ago, here and by magics; DELETE: forget them."""

    @read
    async def post(self) -> None:
        """Answer with the searches, the newest first."""
        limit = (await self.body("recent-request")).get("limit", _RECENT)
        await self.reply(lambda store: {"searches": [serializers.recent(one) for one in store.recent(limit)]})

    @write
    async def delete(self) -> None:
        """Answer with how many were forgotten."""
        await self.reply(lambda store: {"removed": store.forget_recent()})


class Feedback(MemoryHandler):
    """POST: a hit was accepted or dismissed."""

    @write
    async def post(self) -> None:
        """Answer whether it is recorded, in the store alone: not where searches are not noted."""
        body = await self.body("feedback-request")

        def record(store: MemoryStore) -> dict[str, Any]:
            return {"recorded": store.feedback(**body)}

        await self.reply(record)


ROUTES = {"recent": Recent, "feedback": Feedback}
