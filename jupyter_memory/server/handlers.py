"""REST: what the panel asks."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import wraps
from http.client import responses
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_memory.config import models_folder
from jupyter_memory.errors import InputError, JupyterMemoryError, NoStore, StoreError
from jupyter_memory.server.exchange import ClientError, answered, check_count, folders, invalid, item, typed, validated
from jupyter_memory.server.service import Service
from jupyter_memory.server.threads import Pool, Ticket
from jupyter_memory.storage.journal import recording
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Filters
from jupyter_memory.types.search import OWN, parted

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Memory

# Raised when an older front end would misunderstand the server.
_API = 1
_RESOURCE = "jupyter_memory:store"
# Bytes of a body that the loop of the server reads itself: some milliseconds at most.
_AT_ONCE = 16 * 1024

_Json = dict[str, Any]
_Answer = Callable[..., _Json]
_Guarded = Callable[..., Awaitable[None] | None]


def _guarded(action: str) -> Callable[[Callable[[Any], Awaitable[None]]], _Guarded]:
    # A search only reads, although it is a POST; a change is made even if the client has left meanwhile.

    def guard(verb: Callable[[Any], Awaitable[None]]) -> _Guarded:
        @wraps(verb)
        async def checked(handler: _MemoryHandler) -> None:
            handler.stoppable = action == "read"
            await verb(handler)

        # Both arguments are given: left out, the decorator keeps those of the first request that it sees.
        return web.authenticated(authorized(action, _RESOURCE)(checked))

    return guard


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

    def store_of(self, memory_id: str) -> tuple[MemoryStore, str]:
        """Return the store that an id leads to, and the id there: of ``team:ID``, that of the list."""
        name, there = parted(memory_id)
        return self.service.stores.named(name), there

    def item(self, memory_id: str, do: Callable[[MemoryStore, str], Memory]) -> _Json:
        store, there = self.store_of(memory_id)
        return item(replace(do(store, there), id=memory_id), store, self.service.root)

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
        self.service.loop = asyncio.get_running_loop()
        ticket = self._ticket = (pool or self._usual_pool).put(lambda: json_text(call(), allow_nan=False))
        # A dropped one has a client that did not wait for it.
        try:
            answer = await ticket.result()
        except asyncio.CancelledError:
            if not ticket.dropped:
                raise
        except JupyterMemoryError as error:
            if not ticket.dropped:
                raise ClientError.of(error) from None
        else:
            if not ticket.dropped:
                self.finish(answer)

    def on_connection_close(self) -> None:
        # Typing on makes a search useless.
        if self._ticket is not None and self.stoppable:
            self._ticket.drop(self.service.interrupt)
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

    @_guarded("read")
    async def get(self) -> None:
        def status() -> _Json:
            service = self.service
            path, store, notices = service.provider.path, None, list(service.problems)
            counts: _Json = {"memories": 0, "files": 0, "bytes": 0, "read_only": False}
            history: _Json = {"runs": 0, "texts": 0, "since": None}
            model, listed = None, list[_Json]()
            try:
                store = self.store
                stats, held, listed = store.stats(), store.history.status(), folders(store)
                counts, model = {name: stats[name] for name in counts}, stats["model"]
                history = {"runs": held.runs, "texts": held.texts, "since": held.since and held.since.isoformat()}
            except NoStore:
                pass
            except JupyterMemoryError as error:
                notices.append(str(error))
            return {
                "version": version("jupyter-memory"),
                "api": _API,
                "store": {"path": str(path), "exists": service.provider.exists, **counts},
                "stores": service.store_names(),
                "model": model,
                "folders": listed,
                "jobs": service.jobs.listed(),
                "notices": [*notices, *(store.notices if store is not None else ())],
                "log_searches": service.settings.log_searches,
                "history": {"kernels": recording(path), **history},
                "root": service.root.folder or "",
            }

        await self.reply(status)
        # Not before: the panel waits for its status, not for what other programs do.
        self.service.follow_folders()


class _Jobs(_MemoryHandler):
    _track_activity = False

    @_guarded("read")
    async def get(self) -> None:
        self.finish({"jobs": self.service.jobs.listed()})

    @_guarded("write")
    async def post(self) -> None:
        self.finish(self.service.jobs.cancel((await self.body("jobs-request"))["job_id"]).to_json())


class _Folders(_MemoryHandler):
    @_guarded("write")
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
        await self.reply(change, self.service.index_pool if body.get("remove") else None)


_ROUTES: dict[str, type[_MemoryHandler]] = {"status": _Status, "jobs": _Jobs, "folders": _Folders}


def _route(
    name: str, action: str, verb: str = "post", *, scans: bool = False, by_hand: bool = True
) -> Callable[[_Answer], _Answer]:
    # Adds a verb of a function that returns the answer to a request, for POST with its checked body, in a thread: one
    # that is free for long work if it ``scans`` a whole store or folder. What no person does keeps no server awake.

    def add(answer: _Answer) -> _Answer:
        @_guarded(action)
        @wraps(answer)
        async def replying(handler: _MemoryHandler) -> None:
            given = [await handler.body(f"{name}-request")] if verb == "post" else []
            await handler.reply(lambda: answer(handler, *given), handler.service.scan_pool if scans else None)

        of_name = type(f"_{name}", (_MemoryHandler,), {"_track_activity": by_hand})
        setattr(_ROUTES.setdefault(name, of_name), verb, replying)
        return answer

    return add


@_route("profiles", "read", "get")
def _profiles(handler: _MemoryHandler) -> _Json:
    from jupyter_memory.search.profiles import PROFILES, profile_named

    default = profile_named(handler.service.settings.profile)
    known = {**PROFILES, default.name: PROFILES.get(default.name, default)}
    return {
        "profiles": [
            {
                "name": one.name,
                "summary": one.summary,
                "formula": one.formula,
                "terms": [term.name for term in one.terms],
                "default": one.name == default.name,
            }
            for one in known.values()
        ]
    }


@_route("models", "read", "get")
def _models(handler: _MemoryHandler) -> _Json:
    from jupyter_memory.embedders.registry import MODELS, CachedModel
    from jupyter_memory.interface.models import cost, listed

    folder = models_folder(handler.service.settings)
    try:
        stats = handler.store.stats()
    except JupyterMemoryError:
        stats = None
    return {
        "models": [
            {
                "name": one["name"],
                "title": one["summary"],
                "active": one["in_use"],
                "dimensions": one["default_dimensions"],
                **{name: one[name] for name in ("state", "bytes", "licence", "languages")},
                **cost(CachedModel(folder, MODELS[one["name"]])),
            }
            for one in listed(folder, stats)
        ]
    }


# Nothing is fetched unless the client names how many bytes a person agreed to.
@_route("models", "write")
def _use_model(handler: _MemoryHandler, body: _Json) -> _Json:
    from jupyter_memory.embedders.registry import MODELS, CachedModel
    from jupyter_memory.interface.models import cost

    service, name = handler.service, body["name"]
    if name not in MODELS:
        raise invalid("name", f"there is no model of this name. Known: {', '.join(MODELS)}")
    if (chosen := service.settings.embedder) not in ("auto", name):
        raise ClientError(409, f"The setting embedder names {chosen}: remove it to change the model here.", "Fixed")
    costs = cost(CachedModel(models_folder(service.settings), MODELS[name]))
    download = costs["download"]
    if costs["problem"]:
        raise ClientError(409, costs["problem"], "FetchError")
    if download != body.get("download", 0):
        raise ClientError(409, f"This would fetch {download:,} bytes: send this number as download.", "CountDiffers")
    return service.jobs.add("", model=name).to_json()


@_route("doctor", "read", "get", scans=True)
def _doctor(handler: _MemoryHandler) -> _Json:
    return {"problems": [*handler.store.doctor(), *handler.service.stores.problems()]}


@_route("sizes", "read", "get", scans=True)
def _sizes(handler: _MemoryHandler) -> _Json:
    stats = handler.store.stats(sizes=True)
    return {name: stats[name] for name in ("bytes", "held", "budget", "sizes")}


@_route("index", "write")
def _index(handler: _MemoryHandler, body: _Json) -> _Json:
    path = handler.service.root.admitted(body["path"])
    if not os.path.exists(path):  # noqa: PTH110  a folder without permission is no error
        raise invalid("path", "there is nothing at this path")
    return handler.service.jobs.add(str(path), body.get("watch")).to_json()


# One after the other: looking through large folders must not keep the searches waiting.
@_route("folders", "read", "get", scans=True)
def _folders(handler: _MemoryHandler) -> _Json:
    return {"folders": folders(handler.store, handler.service.root)}


@_route("item", "read")
def _item(handler: _MemoryHandler, body: _Json) -> _Json:
    found = handler.item(body["memory_id"], lambda store, there: store.get(there))
    if body.get("runnable"):
        store, there = handler.store_of(body["memory_id"])
        with suppress(InputError):  # it is not code
            found["runnable"] = store.runnable(there).text
    return found


# A list of results asks for many of them.
@_route("thumbnail", "read", by_hand=False)
def _thumbnail(handler: _MemoryHandler, body: _Json) -> _Json:
    store, there = handler.store_of(body["memory_id"])
    found = store.thumbnail(there, body["place"])
    # Whatever a store says: a browser must never take a picture for a page.
    if found is None or found.media_type not in ("image/webp", "image/png"):
        raise ClientError(404, "This memory has no such picture: it may have been forgotten.", "NoPicture")
    return {"picture": f"data:{found.media_type};base64,{b64encode(found.image).decode()}"}


@_route("versions", "read")
def _versions(handler: _MemoryHandler, body: _Json) -> _Json:
    store, there = handler.store_of(body["memory_id"])
    history = store.history
    found = history.versions(there)
    return {"versions": [one.to_json() for one in found], "notice": "" if found else history.nothing_ran}


# A person opened, inserted or copied a memory, or read it in full.
@_route("access", "write")
def _access(handler: _MemoryHandler, body: _Json) -> _Json:
    store, there = handler.store_of(body["memory_id"])
    return {"recorded": store.note_access(there)}


@_route("add", "write")
def _add(handler: _MemoryHandler, body: _Json) -> _Json:
    store = handler.service.provider.store(create=True)
    return item(store.add_many([body], progress=False)[0], store, handler.service.root)


@_route("update", "write")
def _update(handler: _MemoryHandler, body: _Json) -> _Json:
    return handler.item(body.pop("memory_id"), lambda store, there: store.update(there, **body))


@_route("pin", "write")
def _pin(handler: _MemoryHandler, body: _Json) -> _Json:
    return handler.item(body["memory_id"], lambda store, there: (store.pin if body["pinned"] else store.unpin)(there))


@_route("forget", "write")
def _forget(handler: _MemoryHandler, body: _Json) -> _Json:
    if not {"memory_ids", "source"} & set(body):
        raise invalid("", "Give one of memory_ids and source")
    handler.service.asked_together.clear()
    if "memory_ids" in body:
        return {"forgotten": handler.service.stores.forget(body["memory_ids"])}
    store = handler.store
    selection = store.selection(source=body["source"])
    check_count(len(selection), body.get("count"))
    return {"forgotten": store.forget(selection)}


def _search_arguments(handler: _MemoryHandler, body: _Json) -> _Json:
    from jupyter_memory.interface.options import period_of
    from jupyter_memory.search.profiles import PROFILES

    default = handler.service.settings.profile
    chosen: _Json = {name: body[name] for name in ("limit", "profile", "filters", "prefix", "time") if name in body}
    bounds = period_of(body, datetime.now(UTC), invalid)
    # A profile may also be a file; over the network only the one that the settings chose.
    if chosen.get("profile", default) not in (*PROFILES, default):
        raise invalid("profile", f"there is none of this name. Known: {', '.join(PROFILES)}")
    tags = {"tags": body["about_tags"]} if "about_tags" in body else {}
    return {**chosen, **bounds, **tags}


@_route("search", "read")
def _search(handler: _MemoryHandler, body: _Json) -> _Json:
    chosen = _search_arguments(handler, body)
    root = handler.service.root
    if names := body.get("stores"):
        answer, store = handler.service.stores.hits(names, body["query"], **chosen), None
        handler.service.asked_together.append((answer.query_id, answer.query))
        with suppress(StoreError):  # others may have answered without it
            store = handler.store
            if body.get("log"):
                store.note_search(answer, "panel")
        return answered(answer, store, root)
    store = handler.store
    if body.get("lists"):
        trace = store.trace(body["query"], **chosen)
        answer, found = trace.answer, answered(trace.answer, store, root)
        rankings = {"keyword": trace.keyword, "vector": trace.vector, "fused": trace.fused}
        found["lists"] = {
            **{name: [asdict(one) for one in ranking[:200]] for name, ranking in rankings.items()},
            "without": {memory_id: dict(ranks) for memory_id, ranks in trace.without.items()},
        }
    else:
        answer = store.hits(body["query"], **chosen)
        found = answered(answer, store, root)
    if body.get("log"):
        store.note_search(answer, "panel")
        if answer.verdict == "weak" and (offer := store.model_offer()):
            from jupyter_memory.interface.commands.command import as_typed

            found["notices"].append(as_typed(offer))
    return found


@_route("explain", "read")
def _explain(handler: _MemoryHandler, body: _Json) -> _Json:
    chosen, memory_id = _search_arguments(handler, body), body["memory_id"]
    store, there = handler.store_of(memory_id)
    found = None
    if names := body.get("stores"):
        answer = handler.service.stores.hits(names, body["query"], **chosen)
        hits = tuple(hit for hit in answer.hits if hit.address == memory_id)
        found = store.explain_in(replace(answer, hits=hits), there) if hits else None
    found = found or store.explain(body["query"], there, **chosen)
    return found.to_json() | {"memory_id": memory_id}


@_route("related", "read")
def _related(handler: _MemoryHandler, body: _Json) -> _Json:
    chosen = _search_arguments(handler, body)
    store, there = handler.store_of(body["memory_id"])
    answer = store.related(there, **chosen).of_store(parted(body["memory_id"])[0])
    return answered(answer, store, handler.service.root)


# Cells that are like the one being edited; nothing of it is noted.
@_route("related-to", "read")
def _related_to(handler: _MemoryHandler, body: _Json) -> _Json:
    chosen = _search_arguments(handler, body)
    store, root, path = handler.store, handler.service.root, body.get("path", "")
    # Where Lab shows no folder of this machine, no file that was indexed is open in it.
    here = (str(root.within(path)),) if path and root.folder is not None else ()
    chosen["filters"] = {**(chosen.get("filters") or {}), "also": Filters(kind=("cell",), not_path=here)}
    return answered(store.related_to(body["text"], **chosen), store, root)


@_route("browse", "read")
def _browse(handler: _MemoryHandler, body: _Json) -> _Json:
    chosen, root = _search_arguments(handler, body), handler.service.root
    if names := body.get("stores"):
        return answered(handler.service.stores.hits(names, None, **chosen), None, root)
    return answered(handler.store.browsed(**chosen), handler.store, root)


@_route("recent", "read")
def _recent(handler: _MemoryHandler, body: _Json) -> _Json:
    recent = handler.store.recent(body.get("limit", 20))
    return {"searches": [{**asdict(one), "at": one.at.isoformat()} for one in recent]}


@_route("recent", "write", "delete")
def _forget_recent(handler: _MemoryHandler) -> _Json:
    handler.service.asked_together.clear()
    return {"removed": handler.store.forget_recent()}


@_route("feedback", "write")
def _feedback(handler: _MemoryHandler, body: _Json) -> _Json:
    (of, there), first = parted(body["memory_id"]), body.pop("first", False)
    store, accepted, query_id = handler.service.stores.named(of), body["accepted"], body.get("query_id", "")
    # The golden set measures your own store. Ratings in another are feedback alone.
    from jupyter_memory.evaluation import golden

    path = golden.golden_file(handler.service.settings) if of in ("", OWN) else None
    if accepted is None:
        return {"recorded": bool(golden.take_back(path, store, there, body.get("query", ""), query_id))}
    recorded = store.feedback(**body | {"memory_id": there})
    query = store.searching.asked(query_id) or dict(handler.service.asked_together.copy()).get(query_id)
    if recorded and path and query is not None and query.text:
        verdict: golden.Verdict = "first" if first else "right" if accepted else "wrong"
        golden.judge(path, golden.asked(query), [store.get(there)], verdict)
    return {"recorded": recorded}


def load(server: ServerApp) -> Service:
    """Add the routes to a server, and return what they share."""
    service = Service(server)
    web_app: Any = server.web_app
    web_app.settings["jupyter_memory_service"] = service
    base = url_path_join(re.escape(web_app.settings["base_url"]), "jupyter-memory")
    added = [(url_path_join(base, name), handler, {"service": service}) for name, handler in _ROUTES.items()]
    web_app.add_handlers(".*$", added)
    atexit.register(service.close)
    return service
