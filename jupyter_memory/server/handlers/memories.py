"""One memory at a time: read in full, remembered, changed, pinned; and several forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_memory.server.client_errors import check_count, invalid
from jupyter_memory.server.handlers.base import MemoryHandler, read, write
from jupyter_memory.server.serializers import Serializer

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_memory.store.memory_store import MemoryStore
    from jupyter_memory.types import Memory


class ItemHandler(MemoryHandler):
    """A route that answers with a memory in full."""

    async def reply_item(self, call: Callable[[MemoryStore], Memory], *, create: bool = False) -> None:
        """Answer with the memory that a call gives, as ``IItem``."""
        await self.reply(lambda store: Serializer(store, self.service.root).item(call(store)), create=create)


class Item(ItemHandler):
    """POST: a memory in full."""

    @read
    async def post(self) -> None:
        """Answer a memory's id with ``IItem``."""
        wanted = (await self.body("item-request"))["memory_id"]
        await self.reply_item(lambda store: store.get(wanted))


class Access(MemoryHandler):
    """POST: a person opened, inserted or copied a memory, or read it in full."""

    @write
    async def post(self) -> None:
        """Answer whether it was counted: not in a busy or read-only store, nor where searches are not noted."""
        used = (await self.body("access-request"))["memory_id"]
        await self.reply(lambda store: {"recorded": store.note_access(used)})


class Add(ItemHandler):
    """POST: remember a text."""

    @write
    async def post(self) -> None:
        """Answer with the memory; a text that is known already comes back with the new tags."""
        body = await self.body("add-request")
        await self.reply_item(lambda store: store.add_many([body], progress=False)[0], create=True)


class Update(ItemHandler):
    """POST: change title, text or tags of a memory."""

    @write
    async def post(self) -> None:
        """Answer with the memory as it is now."""
        changes = await self.body("update-request")
        changed = changes.pop("memory_id", "")
        await self.reply_item(lambda store: store.update(changed, **changes))


class Pin(ItemHandler):
    """POST: pin a memory, or take its pin off."""

    @write
    async def post(self) -> None:
        """Answer with the memory as it is now."""
        body = await self.body("pin-request")

        def pin(store: MemoryStore) -> Memory:
            return store.pin(body["memory_id"]) if body["pinned"] else store.unpin(body["memory_id"])

        await self.reply_item(pin)


class Forget(MemoryHandler):
    """POST: remove memories for good; those of a source only with their number."""

    @write
    async def post(self) -> None:
        """Answer with how many went."""
        body = await self.body("forget-request")
        if not {"memory_ids", "source"} & set(body):
            raise invalid("", "Give one of memory_ids and source")

        def forget(store: MemoryStore) -> dict[str, Any]:
            if "memory_ids" in body:
                return {"forgotten": store.forget(body["memory_ids"])}
            selection = store.selection(source=body["source"])
            check_count(len(selection), body.get("count"))
            return {"forgotten": store.forget(selection)}

        await self.reply(forget)


ROUTES = {"item": Item, "access": Access, "add": Add, "update": Update, "pin": Pin, "forget": Forget}
