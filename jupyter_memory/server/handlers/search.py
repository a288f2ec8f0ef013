"""The queries of the panel: search, explain, related, related-to, browse; the log of searches, feedback on a hit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jupyter_memory.errors import QueryError
from jupyter_memory.server.client_errors import invalid
from jupyter_memory.server.handlers.base import MemoryHandler, read, write
from jupyter_memory.server.serializers import Serializer, lists, recent

if TYPE_CHECKING:
    from jupyter_memory.server.locations import Root
    from jupyter_memory.store.memory_store import MemoryStore

_RECENT = 20


class Search(MemoryHandler):
    """POST: the best memories for a query; stopped when the client goes away."""

    @read
    async def post(self) -> None:
        """Answer ``ISearch`` with ``IAnswer``."""
        body = await self.body("search-request")

        def search() -> dict[str, Any]:
            chosen = search_arguments(body, self.service.settings.profile)
            store = self.service.provider.store()
            serializer = Serializer(store, self.service.root)
            if body.get("lists"):
                trace = store.trace(body["query"], **chosen)
                answer, found = trace.answer, {**serializer.answer(trace.answer), "lists": lists(trace)}
            else:
                answer = store.hits(body["query"], **chosen)
                found = serializer.answer(answer)
            if body.get("log"):
                store.note_search(answer, "panel")
            return found

        await self.reply_with(search)


class Explain(MemoryHandler):
    """POST: why a memory is where it is for a query."""

    @read
    async def post(self) -> None:
        """Answer ``ISearch`` with a memory's id with ``IExplanation``."""
        body = await self.body("explain-request")

        def explain() -> dict[str, Any]:
            chosen = search_arguments(body, self.service.settings.profile)
            store = self.service.provider.store()
            explanation = store.explain(body["query"], body["memory_id"], **chosen)
            return Serializer(store, self.service.root).explanation(explanation)

        await self.reply_with(explain)


class Related(MemoryHandler):
    """POST: memories that are like a memory."""

    @read
    async def post(self) -> None:
        """Answer with ``IAnswer``, without the memory itself."""
        body = await self.body("related-request")

        def related(store: MemoryStore) -> dict[str, Any]:
            answer = store.related(body["memory_id"], **search_arguments(body, self.service.settings.profile))
            return Serializer(store, self.service.root).answer(answer)

        await self.reply(related)


class RelatedTo(MemoryHandler):
    """POST: cells that are like one which somebody works on; nothing of it is noted."""

    @read
    async def post(self) -> None:
        """Answer with ``IAnswer``, without the cells of the notebook that is open."""
        body = await self.body("related-to-request")

        def related_to(store: MemoryStore) -> dict[str, Any]:
            chosen = search_arguments(body, self.service.settings.profile)
            chosen["filters"] = _elsewhere(chosen.get("filters"), self.service.root, body.get("path", ""))
            return Serializer(store, self.service.root).answer(store.related_to(body["text"], **chosen))

        await self.reply(related_to)


class Browse(MemoryHandler):
    """POST: memories without a query."""

    @read
    async def post(self) -> None:
        """Answer with ``IAnswer``, its scores null."""
        body = await self.body("browse-request")

        def browse(store: MemoryStore) -> dict[str, Any]:
            answer = store.browsed(**search_arguments(body, self.service.settings.profile))
            return Serializer(store, self.service.root).answer(answer)

        await self.reply(browse)


class Recent(MemoryHandler):
    """POST: the searches made a while ago, here and by magics; DELETE: forget them."""

    @read
    async def post(self) -> None:
        """Answer with the searches, the newest first."""
        limit = (await self.body("recent-request")).get("limit", _RECENT)
        await self.reply(lambda store: {"searches": [recent(one) for one in store.recent(limit)]})

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


ROUTES = {
    "search": Search,
    "explain": Explain,
    "related": Related,
    "related-to": RelatedTo,
    "browse": Browse,
    "recent": Recent,
    "feedback": Feedback,
}


def search_arguments(body: Mapping[str, Any], default: str) -> dict[str, Any]:
    """Return the keyword arguments of ``MemoryStore`` for the body of a query; ``default`` is the settings' profile.

    Raises:
        ClientError: a time cannot be read, or there is no such profile; the field is named.
    """
    from jupyter_memory.search.profiles import PROFILES

    chosen = {name: body[name] for name in ("limit", "profile", "filters", "prefix", "time") if name in body}
    chosen |= _times(body)
    # A profile may also be a file; over the network only the one that the settings chose.
    if chosen.get("profile", default) not in (*PROFILES, default):
        raise invalid("profile", f"there is none of this name. Known: {', '.join(PROFILES)}")
    return chosen


def _elsewhere(given: Mapping[str, Any] | None, root: Root, path: str) -> dict[str, Any]:
    """Return filters for the cells of other notebooks than the one with this contents path."""
    from jupyter_memory.types import Filters

    # Where Lab shows no folder of this machine, no file that was indexed is open in it.
    here = [str(root.within(path))] if path and root.folder is not None else []
    return {**(given or {}), "also": Filters(kind=("cell",), not_path=tuple(here))}


def _times(body: Mapping[str, Any]) -> dict[str, datetime]:
    from jupyter_memory.text.moments import moment

    now, bounds = datetime.now(UTC), {}
    for name in ("since", "until"):
        try:
            at = moment(body.get(name), now, end=name == "until")
        except QueryError:
            raise invalid(name, "it cannot be read as a time. Write 2026-03-01, or: last week") from None
        if at is not None:
            bounds[name] = at
    if len(bounds) == 2 and bounds["since"] >= bounds["until"]:
        raise invalid("until", "it must be later than since")
    return bounds
