"""REST: what the panel asks."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from http.client import responses
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_memory.config import models_folder
from jupyter_memory.errors import InputError, JupyterMemoryError, NoStore, QueryError
from jupyter_memory.server import locations, serializers
from jupyter_memory.server.locations import typed
from jupyter_memory.server.serializers import Serializer, lists, recent
from jupyter_memory.server.service import API, Service
from jupyter_memory.server.threads import Pool, Ticket
from jupyter_memory.server.validation import ClientError, check_count, client_error, invalid, validated
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types.memory import MOST_THUMBNAILS

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Memory
    from jupyter_memory.types.memory import Thumbnail

_RESOURCE = "jupyter_memory:store"
# Bytes of a body that the loop of the server reads itself: some milliseconds at most.
_AT_ONCE = 16 * 1024

_Result = TypeVar("_Result")
_Handler = TypeVar("_Handler", bound="_MemoryHandler")
_Verb = Callable[[_Handler], Awaitable[None]]
_Guarded = Callable[..., Awaitable[None] | None]


def _read(verb: _Verb[_Handler]) -> _Guarded:
    # A search only reads, although it is a POST.
    return _guarded(verb, "read")


def _write(verb: _Verb[_Handler]) -> _Guarded:
    # The change is made even if the client has left meanwhile.

    @wraps(verb)
    async def to_its_end(handler: _Handler) -> None:
        handler.stoppable = False
        await verb(handler)

    return _guarded(to_its_end, "write")


def _guarded(verb: _Verb[_Handler], action: str) -> _Guarded:
    # Both arguments are given: left out, the decorator keeps those of the first request that it sees.
    return web.authenticated(authorized(action, _RESOURCE)(verb))


class _MemoryHandler(APIHandler):
    auth_resource = _RESOURCE

    def initialize(self, service: Service) -> None:
        self.service = service
        self.stoppable = True
        self._ticket: Ticket | None = None

    async def prepare(self, **options: Any) -> None:
        await super().prepare(**options)
        only, user = self.service.only_user, self.current_user
        if only and user is not None and user.username != only:
            raise ClientError(403, "This memory is another user's: the server's setting only_user says so.", "OnlyUser")

    async def body(self, schema: str) -> dict[str, Any]:
        raw = self.request.body
        if len(raw) <= _AT_ONCE:
            return validated(schema, raw)
        found: dict[str, Any] = await self._usual_pool.put(lambda: validated(schema, raw)).result()
        return found

    @property
    def _usual_pool(self) -> Pool:
        return self.service.search_pool if self.stoppable else self.service.write_pool

    async def reply(
        self, call: Callable[[MemoryStore], Any], *, create: bool = False, pool: Pool | None = None
    ) -> None:
        await self.reply_with(lambda: call(self.service.provider.store(create=create)), pool)

    async def reply_with(self, call: Callable[[], Any], pool: Pool | None = None) -> None:
        answer = await self.result(lambda: json_text(call(), allow_nan=False), pool)
        if answer is not None:
            self.finish(answer)

    async def result(self, call: Callable[[], _Result], pool: Pool | None = None) -> _Result | None:
        # None if the client did not wait for it.
        self.service.events.loop = asyncio.get_running_loop()
        ticket = self._ticket = (pool or self._usual_pool).put(call)
        try:
            found: _Result = await ticket.result()
        except asyncio.CancelledError:
            if not ticket.dropped:
                raise
            return None
        except JupyterMemoryError as error:
            if not ticket.dropped:
                raise client_error(error) from None
            return None
        return None if ticket.dropped else found

    def on_connection_close(self) -> None:
        # Typing on makes a search useless.
        if self._ticket is not None and self.stoppable:
            self._ticket.drop(self.service.provider.interrupt)
        super().on_connection_close()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs.get("exc_info", (None, None, None))[1]
        phrase = responses.get(status_code, "Unknown error")
        if isinstance(error, ClientError):
            problem = {"message": error.message, "reason": error.kind}
        elif isinstance(error, web.HTTPError):
            problem = {"message": error.log_message or phrase, "reason": error.reason or phrase}
        else:
            problem = {"message": "Something went wrong in the server; its log says where.", "reason": phrase}
        self.finish(json.dumps(problem))

    def log_exception(
        self,
        typ: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if isinstance(value, web.HTTPError):
            return  # the line of the request says it
        if value is not None:
            self.service.log_error(value)


class _Status(_MemoryHandler):
    # Polled, so it neither loads a model nor looks at folders.
    _track_activity = False

    @_read
    async def get(self) -> None:
        def status() -> dict[str, Any]:
            service = self.service
            store, notices = None, list(service.problems)
            try:
                store = service.provider.store()
                stats = store.stats()
                said = {
                    "store": {name: stats[name] for name in ("memories", "files", "bytes", "read_only")},
                    "model": stats["model"],
                    "folders": serializers.folders(store),
                    "history": store.history.status(),
                }
            except NoStore:
                said = {}
            except JupyterMemoryError as error:
                said = {}
                notices.append(str(error))
            # Another model may be in use since.
            offered = [service.offer] if service.offer and said.get("model") == "static" else []
            path = service.provider.path
            empty = {"memories": 0, "files": 0, "bytes": 0, "read_only": False}
            return {
                "version": version("jupyter-memory"),
                "api": API,
                "store": {"path": str(path), "exists": service.provider.exists, **empty, **said.get("store", {})},
                "model": said.get("model"),
                "folders": said.get("folders", []),
                "jobs": service.jobs.listed(),
                "notices": [*notices, *(store.notices if store is not None else ()), *offered],
                "log_searches": service.settings.log_searches,
                "history": locations.history(path, said.get("history")),
                "root": service.root.folder or "",
            }

        await self.reply_with(status)
        # Not before: the panel waits for its status, not for what other programs do.
        self.service.follow_folders()


class _Profiles(_MemoryHandler):
    @_read
    async def get(self) -> None:
        def profiles() -> dict[str, Any]:
            from jupyter_memory.search.profiles import PROFILES, profile_named

            known = list(PROFILES.values())
            default = profile_named(self.service.settings.profile)
            if default.name not in PROFILES:
                known.append(default)
            return {"profiles": [serializers.profile(one, default.name) for one in known]}

        await self.reply_with(profiles)


class _Models(_MemoryHandler):
    @_read
    async def get(self) -> None:
        def models() -> dict[str, Any]:
            from jupyter_memory.interface.models import listed

            try:
                stats = self.service.provider.store().stats()
            except JupyterMemoryError:
                stats = None
            folder = models_folder(self.service.settings)
            return {"models": [serializers.model(one) for one in listed(folder, stats)]}

        await self.reply_with(models)


class _Doctor(_MemoryHandler):
    @_read
    async def get(self) -> None:
        # The whole file is read: that may take long.
        await self.reply(lambda store: {"problems": store.doctor()}, pool=self.service.scan_pool)


class _Sizes(_MemoryHandler):
    @_read
    async def get(self) -> None:
        def sizes(store: MemoryStore) -> dict[str, Any]:
            stats = store.stats(sizes=True)
            return {name: stats[name] for name in ("bytes", "held", "budget", "sizes")}

        await self.reply(sizes, pool=self.service.scan_pool)


class _Index(_MemoryHandler):
    @_write
    async def post(self) -> None:
        body = await self.body("index-request")

        def begin() -> dict[str, Any]:
            path = self.service.root.admitted(body["path"])
            if not os.path.exists(path):  # noqa: PTH110  a folder without permission is no error
                raise invalid("path", "there is nothing at this path")
            return self.service.jobs.add(str(path), body.get("watch")).to_json()

        await self.reply_with(begin)


class _Jobs(_MemoryHandler):
    _track_activity = False

    @_read
    async def get(self) -> None:
        self.finish({"jobs": self.service.jobs.listed()})

    @_write
    async def post(self) -> None:
        self.finish(self.service.jobs.cancel((await self.body("jobs-request"))["job_id"]).to_json())


class _Folders(_MemoryHandler):
    @_read
    async def get(self) -> None:
        # One after the other: looking through large folders must not keep the searches waiting.
        await self.reply_with(
            lambda: {"folders": serializers.folders(self.service.provider.store(), self.service.root)},
            self.service.scan_pool,
        )

    @_write
    async def post(self) -> None:
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
                    held = next((one.memories for one in store.folders() if one.path == str(path)), None)
                    if held is None:
                        held = len(store.selection(source=str(path), filters={"kind": ["file", "cell"]}))
                    check_count(held, body.get("count"))
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


class _ItemHandler(_MemoryHandler):
    async def reply_item(self, call: Callable[[MemoryStore], Memory], *, create: bool = False) -> None:
        await self.reply(lambda store: Serializer(store, self.service.root).item(call(store)), create=create)


class _Item(_ItemHandler):
    @_read
    async def post(self) -> None:
        wanted = (await self.body("item-request"))["memory_id"]
        await self.reply_item(lambda store: store.get(wanted))


class _Access(_MemoryHandler):
    # A person opened, inserted or copied a memory, or read it in full.

    @_write
    async def post(self) -> None:
        used = (await self.body("access-request"))["memory_id"]
        await self.reply(lambda store: {"recorded": store.note_access(used)})


class _Add(_ItemHandler):
    @_write
    async def post(self) -> None:
        body = await self.body("add-request")
        await self.reply_item(lambda store: store.add_many([body], progress=False)[0], create=True)


class _Update(_ItemHandler):
    @_write
    async def post(self) -> None:
        changes = await self.body("update-request")
        changed = changes.pop("memory_id", "")
        await self.reply_item(lambda store: store.update(changed, **changes))


class _Pin(_ItemHandler):
    @_write
    async def post(self) -> None:
        body = await self.body("pin-request")

        def pin(store: MemoryStore) -> Memory:
            return store.pin(body["memory_id"]) if body["pinned"] else store.unpin(body["memory_id"])

        await self.reply_item(pin)


class _Forget(_MemoryHandler):
    @_write
    async def post(self) -> None:
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


class _Search(_MemoryHandler):
    @_read
    async def post(self) -> None:
        body = await self.body("search-request")

        def search() -> dict[str, Any]:
            chosen = _search_arguments(body, self.service.settings.profile)
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


class _Explain(_MemoryHandler):
    @_read
    async def post(self) -> None:
        body = await self.body("explain-request")

        def explain() -> dict[str, Any]:
            chosen = _search_arguments(body, self.service.settings.profile)
            store = self.service.provider.store()
            return store.explain(body["query"], body["memory_id"], **chosen).to_json()

        await self.reply_with(explain)


class _Related(_MemoryHandler):
    @_read
    async def post(self) -> None:
        body = await self.body("related-request")

        def related(store: MemoryStore) -> dict[str, Any]:
            answer = store.related(body["memory_id"], **_search_arguments(body, self.service.settings.profile))
            return Serializer(store, self.service.root).answer(answer)

        await self.reply(related)


class _RelatedTo(_MemoryHandler):
    # Cells that are like the one being edited; nothing of it is noted.

    @_read
    async def post(self) -> None:
        body = await self.body("related-to-request")

        def related_to(store: MemoryStore) -> dict[str, Any]:
            from jupyter_memory.types import Filters

            chosen = _search_arguments(body, self.service.settings.profile)
            root, path = self.service.root, body.get("path", "")
            # Where Lab shows no folder of this machine, no file that was indexed is open in it.
            here = (str(root.within(path)),) if path and root.folder is not None else ()
            chosen["filters"] = {**(chosen.get("filters") or {}), "also": Filters(kind=("cell",), not_path=here)}
            return Serializer(store, root).answer(store.related_to(body["text"], **chosen))

        await self.reply(related_to)


class _Browse(_MemoryHandler):
    @_read
    async def post(self) -> None:
        body = await self.body("browse-request")

        def browse(store: MemoryStore) -> dict[str, Any]:
            answer = store.browsed(**_search_arguments(body, self.service.settings.profile))
            return Serializer(store, self.service.root).answer(answer)

        await self.reply(browse)


class _Recent(_MemoryHandler):
    @_read
    async def post(self) -> None:
        limit = (await self.body("recent-request")).get("limit", 20)
        await self.reply(lambda store: {"searches": [recent(one) for one in store.recent(limit)]})

    @_write
    async def delete(self) -> None:
        await self.reply(lambda store: {"removed": store.forget_recent()})


class _Feedback(_MemoryHandler):
    @_write
    async def post(self) -> None:
        body = await self.body("feedback-request")
        await self.reply(lambda store: {"recorded": store.feedback(**body)})


def _search_arguments(body: Mapping[str, Any], default: str) -> dict[str, Any]:
    from jupyter_memory.search.profiles import PROFILES
    from jupyter_memory.text.moments import moment

    chosen = {name: body[name] for name in ("limit", "profile", "filters", "prefix", "time") if name in body}
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
    # A profile may also be a file; over the network only the one that the settings chose.
    if chosen.get("profile", default) not in (*PROFILES, default):
        raise invalid("profile", f"there is none of this name. Known: {', '.join(PROFILES)}")
    return {**chosen, **bounds}


class _Picture(_MemoryHandler):
    # A list of results asks for many of them: that is no sign of a person at work.
    _track_activity = False

    @_read
    async def get(self) -> None:
        memory_id = self.get_query_argument("memory_id", "")
        place = self.get_query_argument("place", "0")
        if not 0 < len(memory_id) <= 64:
            raise invalid("memory_id", "it must be the id of a memory")
        if place not in map(str, range(MOST_THUMBNAILS)):
            raise invalid("place", f"it must be a whole number from 0 to {MOST_THUMBNAILS - 1}")

        def picture() -> Thumbnail:
            found = self.service.provider.store().thumbnail(memory_id, int(place))
            # Whatever a store says: a browser must never take a picture for a page.
            if found is None or found.media_type not in ("image/webp", "image/png"):
                raise ClientError(404, "This memory has no such picture: it may have been forgotten.", "NoPicture")
            return found

        found = await self.result(picture)
        if found is not None:
            # No cache keeps what may be forgotten in the store.
            self.set_header("Cache-Control", "private, no-store")
            self.set_header("X-Content-Type-Options", "nosniff")
            self.set_header("Cross-Origin-Resource-Policy", "same-origin")
            self.finish(found.image, set_content_type=found.media_type)


_ROUTES = {
    "sizes": _Sizes,
    "status": _Status,
    "profiles": _Profiles,
    "models": _Models,
    "doctor": _Doctor,
    "search": _Search,
    "explain": _Explain,
    "related": _Related,
    "related-to": _RelatedTo,
    "browse": _Browse,
    "recent": _Recent,
    "feedback": _Feedback,
    "item": _Item,
    "access": _Access,
    "add": _Add,
    "update": _Update,
    "pin": _Pin,
    "forget": _Forget,
    "index": _Index,
    "jobs": _Jobs,
    "folders": _Folders,
    "thumbnail": _Picture,
}


def routes(base_url: str, service: Service) -> list[tuple[str, type, dict[str, Any]]]:
    """Return the handlers with their addresses, as tornado takes them."""
    return [
        (url_path_join(re.escape(base_url), "jupyter-memory", name), handler, {"service": service})
        for name, handler in _ROUTES.items()
    ]
