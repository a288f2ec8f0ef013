"""REST: what the panel asks."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import wraps
from http.client import responses
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_memory.config import models_folder
from jupyter_memory.errors import InputError, JupyterMemoryError, NoStore, QueryError
from jupyter_memory.server.serializers import answered, folders, iso, item, typed
from jupyter_memory.server.threads import Pool, Ticket
from jupyter_memory.server.validation import ClientError, check_count, client_error, invalid, validated
from jupyter_memory.storage.journal import recording
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types.memory import MOST_THUMBNAILS

if TYPE_CHECKING:
    from jupyter_memory.server.service import Service
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types.memory import Thumbnail

# Raised when an older front end would misunderstand the server.
_API = 1
_RESOURCE = "jupyter_memory:store"
# Bytes of a body that the loop of the server reads itself: some milliseconds at most.
_AT_ONCE = 16 * 1024

_Json = dict[str, Any]
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


def _answering(action: str, schema: str = "", *, scans: bool = False) -> Callable[[Callable[..., _Json]], _Guarded]:
    # Makes a verb of a method that returns the answer to a checked body, in a thread: one that is free for long work
    # if it ``scans`` a whole store or folder.

    def verb_of(answer: Callable[..., _Json]) -> _Guarded:
        @wraps(answer)
        async def verb(handler: _MemoryHandler) -> None:
            given = [await handler.body(schema)] if schema else []
            await handler.reply(lambda: answer(handler, *given), handler.service.scan_pool if scans else None)

        return _read(verb) if action == "read" else _write(verb)

    return verb_of


class _MemoryHandler(APIHandler):
    auth_resource = _RESOURCE

    def initialize(self, service: Service) -> None:
        self.service = service
        self.stoppable = True
        self._ticket: Ticket | None = None

    @property
    def store(self) -> MemoryStore:
        # Opening it takes time: only in a thread of a pool.
        return self.service.provider.store()

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

    async def reply(self, call: Callable[[], _Json], pool: Pool | None = None) -> None:
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

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        if isinstance(value, web.HTTPError):
            return  # the line of the request says it
        if value is not None:
            self.service.log_error(value)


class _Status(_MemoryHandler):
    # Polled, so it neither loads a model nor looks at folders.
    _track_activity = False

    @_read
    async def get(self) -> None:
        def status() -> _Json:
            service = self.service
            path, store, notices = service.provider.path, None, list(service.problems)
            told: _Json = {
                "store": {"memories": 0, "files": 0, "bytes": 0, "read_only": False},
                "model": None,
                "folders": [],
                "history": {"runs": 0, "texts": 0, "since": None},
            }
            try:
                store = self.store
                stats, held = store.stats(), store.history.status()
                told = {
                    "store": {name: stats[name] for name in told["store"]},
                    "model": stats["model"],
                    "folders": folders(store),
                    "history": {"runs": held.runs, "texts": held.texts, "since": iso(held.since)},
                }
            except NoStore:
                pass
            except JupyterMemoryError as error:
                notices.append(str(error))
            # Another model may be in use since.
            offered = [service.offer] if service.offer and told["model"] == "static" else []
            return {
                "version": version("jupyter-memory"),
                "api": _API,
                "store": {"path": str(path), "exists": service.provider.exists, **told["store"]},
                "model": told["model"],
                "folders": told["folders"],
                "jobs": service.jobs.listed(),
                "notices": [*notices, *(store.notices if store is not None else ()), *offered],
                "log_searches": service.settings.log_searches,
                "history": {"kernels": recording(path), **told["history"]},
                "root": service.root.folder or "",
            }

        await self.reply(status)
        # Not before: the panel waits for its status, not for what other programs do.
        self.service.follow_folders()


class _Profiles(_MemoryHandler):
    @_answering("read")
    def get(self) -> _Json:
        from jupyter_memory.search.profiles import PROFILES, profile_named

        known = list(PROFILES.values())
        default = profile_named(self.service.settings.profile)
        if default.name not in PROFILES:
            known.append(default)
        return {
            "profiles": [
                {
                    "name": one.name,
                    "summary": one.summary,
                    "formula": one.formula,
                    "terms": [term.name for term in one.terms],
                    "default": one.name == default.name,
                }
                for one in known
            ]
        }


class _Models(_MemoryHandler):
    @_answering("read")
    def get(self) -> _Json:
        from jupyter_memory.interface.models import listed

        try:
            stats = self.store.stats()
        except JupyterMemoryError:
            stats = None
        models = [
            {
                "name": one["name"],
                "title": one["summary"],
                "active": one["in_use"],
                "dimensions": one["default_dimensions"],
                **{name: one[name] for name in ("state", "bytes", "licence", "languages")},
            }
            for one in listed(models_folder(self.service.settings), stats)
        ]
        return {"models": models}


class _Doctor(_MemoryHandler):
    @_answering("read", scans=True)
    def get(self) -> _Json:
        return {"problems": self.store.doctor()}


class _Sizes(_MemoryHandler):
    @_answering("read", scans=True)
    def get(self) -> _Json:
        stats = self.store.stats(sizes=True)
        return {name: stats[name] for name in ("bytes", "held", "budget", "sizes")}


class _Index(_MemoryHandler):
    @_answering("write", "index-request")
    def post(self, body: _Json) -> _Json:
        path = self.service.root.admitted(body["path"])
        if not os.path.exists(path):  # noqa: PTH110  a folder without permission is no error
            raise invalid("path", "there is nothing at this path")
        return self.service.jobs.add(str(path), body.get("watch")).to_json()


class _Jobs(_MemoryHandler):
    _track_activity = False

    @_read
    async def get(self) -> None:
        self.finish({"jobs": self.service.jobs.listed()})

    @_write
    async def post(self) -> None:
        self.finish(self.service.jobs.cancel((await self.body("jobs-request"))["job_id"]).to_json())


class _Folders(_MemoryHandler):
    # One after the other: looking through large folders must not keep the searches waiting.
    @_answering("read", scans=True)
    def get(self) -> _Json:
        return {"folders": folders(self.store, self.service.root)}

    @_write
    async def post(self) -> None:
        body = await self.body("folders-request")
        path = typed(body["path"])
        if not path.is_absolute():
            raise invalid("path", "it must be the absolute path of a folder that was indexed")
        if body.get("watched"):
            # To watch is to index later; a folder of elsewhere may still be removed, or watched no longer.
            path = self.service.root.admitted(body["path"])

        def change() -> _Json:
            store = self.store
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
            return {"folders": folders(store)}

        if body.get("remove"):
            self.service.jobs.cancel_all(path)
            # Not during an indexing, which would take a half-removed folder for unchanged.
            await self.reply(change, self.service.index_pool)
        else:
            await self.reply(change)


class _Item(_MemoryHandler):
    @_answering("read", "item-request")
    def post(self, body: _Json) -> _Json:
        store = self.store
        return item(store.get(body["memory_id"]), store, self.service.root)


class _Access(_MemoryHandler):
    # A person opened, inserted or copied a memory, or read it in full.

    @_answering("write", "access-request")
    def post(self, body: _Json) -> _Json:
        return {"recorded": self.store.note_access(body["memory_id"])}


class _Add(_MemoryHandler):
    @_answering("write", "add-request")
    def post(self, body: _Json) -> _Json:
        store = self.service.provider.store(create=True)
        return item(store.add_many([body], progress=False)[0], store, self.service.root)


class _Update(_MemoryHandler):
    @_answering("write", "update-request")
    def post(self, body: _Json) -> _Json:
        store = self.store
        return item(store.update(body.pop("memory_id", ""), **body), store, self.service.root)


class _Pin(_MemoryHandler):
    @_answering("write", "pin-request")
    def post(self, body: _Json) -> _Json:
        store = self.store
        pinned = (store.pin if body["pinned"] else store.unpin)(body["memory_id"])
        return item(pinned, store, self.service.root)


class _Forget(_MemoryHandler):
    @_answering("write", "forget-request")
    def post(self, body: _Json) -> _Json:
        if not {"memory_ids", "source"} & set(body):
            raise invalid("", "Give one of memory_ids and source")
        store = self.store
        if "memory_ids" in body:
            return {"forgotten": store.forget(body["memory_ids"])}
        selection = store.selection(source=body["source"])
        check_count(len(selection), body.get("count"))
        return {"forgotten": store.forget(selection)}


class _Search(_MemoryHandler):
    @_answering("read", "search-request")
    def post(self, body: _Json) -> _Json:
        chosen = _search_arguments(body, self.service.settings.profile)
        store, root = self.store, self.service.root
        if body.get("lists"):
            trace = store.trace(body["query"], **chosen)
            answer, found = trace.answer, answered(trace.answer, root)
            rankings = {"keyword": trace.keyword, "vector": trace.vector, "fused": trace.fused}
            found["lists"] = {
                **{name: [asdict(one) for one in ranking[:200]] for name, ranking in rankings.items()},
                "without": {memory_id: dict(ranks) for memory_id, ranks in trace.without.items()},
            }
        else:
            answer = store.hits(body["query"], **chosen)
            found = answered(answer, root)
        if body.get("log"):
            store.note_search(answer, "panel")
        return found


class _Explain(_MemoryHandler):
    @_answering("read", "explain-request")
    def post(self, body: _Json) -> _Json:
        chosen = _search_arguments(body, self.service.settings.profile)
        return self.store.explain(body["query"], body["memory_id"], **chosen).to_json()


class _Related(_MemoryHandler):
    @_answering("read", "related-request")
    def post(self, body: _Json) -> _Json:
        chosen = _search_arguments(body, self.service.settings.profile)
        return answered(self.store.related(body["memory_id"], **chosen), self.service.root)


class _RelatedTo(_MemoryHandler):
    # Cells that are like the one being edited; nothing of it is noted.

    @_answering("read", "related-to-request")
    def post(self, body: _Json) -> _Json:
        from jupyter_memory.types import Filters

        chosen = _search_arguments(body, self.service.settings.profile)
        root, path = self.service.root, body.get("path", "")
        # Where Lab shows no folder of this machine, no file that was indexed is open in it.
        here = (str(root.within(path)),) if path and root.folder is not None else ()
        chosen["filters"] = {**(chosen.get("filters") or {}), "also": Filters(kind=("cell",), not_path=here)}
        return answered(self.store.related_to(body["text"], **chosen), root)


class _Browse(_MemoryHandler):
    @_answering("read", "browse-request")
    def post(self, body: _Json) -> _Json:
        chosen = _search_arguments(body, self.service.settings.profile)
        return answered(self.store.browsed(**chosen), self.service.root)


class _Recent(_MemoryHandler):
    @_answering("read", "recent-request")
    def post(self, body: _Json) -> _Json:
        recent = self.store.recent(body.get("limit", 20))
        return {"searches": [{**asdict(one), "at": one.at.isoformat()} for one in recent]}

    @_answering("write")
    def delete(self) -> _Json:
        return {"removed": self.store.forget_recent()}


class _Feedback(_MemoryHandler):
    @_answering("write", "feedback-request")
    def post(self, body: _Json) -> _Json:
        return {"recorded": self.store.feedback(**body)}


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
        place = self.get_query_argument("place", "0", strip=False)  # which would make a blank of NUL, too
        if not 0 < len(memory_id) <= 64:
            raise invalid("memory_id", "it must be the id of a memory")
        if place not in map(str, range(MOST_THUMBNAILS)):
            raise invalid("place", f"it must be a whole number from 0 to {MOST_THUMBNAILS - 1}")

        def picture() -> Thumbnail:
            found = self.store.thumbnail(memory_id, int(place))
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
