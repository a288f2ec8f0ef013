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
    from jupyter_memory.server.locations import Root
    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Memory
    from jupyter_memory.types.memory import Thumbnail

RESOURCE = "jupyter_memory:store"
# Bytes of a body that the loop of the server reads itself: some milliseconds at most.
_AT_ONCE = 16 * 1024

Result = TypeVar("Result")
_Handler = TypeVar("_Handler", bound="MemoryHandler")
_Verb = Callable[[_Handler], Awaitable[None]]
_Guarded = Callable[..., Awaitable[None] | None]


def read(verb: _Verb[_Handler]) -> _Guarded:
    """Admit authenticated users who may read; a search only reads, although it is a POST."""
    return _guarded(verb, "read")


def write(verb: _Verb[_Handler]) -> _Guarded:
    """Admit authenticated users who may write; the change is made even if the client has left meanwhile."""

    @wraps(verb)
    async def to_its_end(handler: _Handler) -> None:
        handler.stoppable = False
        await verb(handler)

    return _guarded(to_its_end, "write")


def _guarded(verb: _Verb[_Handler], action: str) -> _Guarded:
    # Both arguments are given: left out, the decorator keeps those of the first request that it sees.
    return web.authenticated(authorized(action, RESOURCE)(verb))


class MemoryHandler(APIHandler):
    """A route of the memory."""

    auth_resource = RESOURCE

    def initialize(self, service: Service) -> None:
        """Take what the handlers share."""
        self.service = service
        self.stoppable = True
        self._ticket: Ticket | None = None

    async def prepare(self, **options: Any) -> None:
        """Refuse users that the settings leave out."""
        await super().prepare(**options)
        only, user = self.service.only_user, self.current_user
        if only and user is not None and user.username != only:
            raise ClientError(403, "This memory is another user's: the server's setting only_user says so.", "OnlyUser")

    async def body(self, schema: str) -> dict[str, Any]:
        """Return the body of the request, checked against a schema; in a thread of the usual pool, if that takes long.

        Raises:
            ClientError: 400, naming the field that is wrong; 413, it is too large.
        """
        raw = self.request.body
        if len(raw) <= _AT_ONCE:
            return validated(schema, raw)
        found: dict[str, Any] = await self._usual_pool.run(Ticket(lambda: validated(schema, raw)))
        return found

    @property
    def _usual_pool(self) -> Pool:
        return self.service.search_pool if self.stoppable else self.service.write_pool

    async def reply(
        self, call: Callable[[MemoryStore], Any], *, create: bool = False, pool: Pool | None = None
    ) -> None:
        """Answer with the result of a call that takes the open store, as ``reply_with`` does."""
        await self.reply_with(lambda: call(self.service.provider.store(create=create)), pool)

    async def reply_with(self, call: Callable[[], Any], pool: Pool | None = None) -> None:
        """Answer with the result of a call in a thread of ``pool``, by default the one for searches or for changes."""
        answer = await self.result(lambda: json_text(call(), allow_nan=False), pool)
        if answer is not None:
            self.finish(answer)

    async def result(self, call: Callable[[], Result], pool: Pool | None = None) -> Result | None:
        """Return the result of a call in such a thread; None if the client did not wait for it."""
        self.service.events.loop = asyncio.get_running_loop()
        ticket = self._ticket = Ticket(call)
        try:
            found: Result = await (pool or self._usual_pool).run(ticket)
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
        """Stop what the client does not wait for any more: typing on makes a search useless."""
        if self._ticket is not None and self.stoppable:
            self._ticket.drop(self.service.provider.interrupt)
        super().on_connection_close()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write an error as ``{message, reason}``."""
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
        """Log where something went wrong, without what the exception says: it may quote the user."""
        if isinstance(value, web.HTTPError):
            return  # the line of the request says it
        if value is not None:
            self.service.log_error(value)


# Information about the memory itself: status, profiles, models, doctor.


class Status(MemoryHandler):
    """GET: what the store holds and what is going on; polled, so it neither loads a model nor looks at folders."""

    _track_activity = False

    @read
    async def get(self) -> None:
        """Answer with ``IStatus``, also where the store cannot be opened."""
        await self.reply_with(lambda: status(self.service))
        # Not before: the panel waits for its status, not for what other programs do.
        self.service.follow_folders()


class Profiles(MemoryHandler):
    """GET: the ways of ranking."""

    @read
    async def get(self) -> None:
        """Answer with the profiles, including the one that the settings name."""
        await self.reply_with(lambda: {"profiles": profiles(self.service.settings.profile)})


class Models(MemoryHandler):
    """GET: the models that have a name."""

    @read
    async def get(self) -> None:
        """Answer with the models, whether they are here, and which is in use."""
        await self.reply_with(lambda: {"models": models(self.service)})


class Doctor(MemoryHandler):
    """GET: what is wrong with the store."""

    @read
    async def get(self) -> None:
        """Answer with sentences about problems and their cures; none if all is well."""
        # The whole file is read: that may take long.
        await self.reply(lambda store: {"problems": store.doctor()}, pool=self.service.scan_pool)


class Sizes(MemoryHandler):
    """GET: what the bytes of the store are for."""

    @read
    async def get(self) -> None:
        """Answer with the bytes by kind, which add up to ``bytes``, and with the budget."""
        # The whole file is looked at.
        await self.reply(sizes, pool=self.service.scan_pool)


ABOUT = {"sizes": Sizes, "status": Status, "profiles": Profiles, "models": Models, "doctor": Doctor}


def status(service: Service) -> dict[str, Any]:
    """Return ``IStatus``; the notices say why a store cannot be opened."""
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
    empty = {
        "path": str(path),
        "exists": service.provider.exists,
        "memories": 0,
        "files": 0,
        "bytes": 0,
        "read_only": False,
    }
    return {
        "version": version("jupyter-memory"),
        "api": API,
        "store": {**empty, **said.get("store", {})},
        "model": said.get("model"),
        "folders": said.get("folders", []),
        "jobs": service.jobs.listed(),
        "notices": [*notices, *(store.notices if store is not None else ()), *offered],
        "log_searches": service.settings.log_searches,
        "history": locations.history(path, said.get("history")),
        "root": service.root.folder or "",
    }


def profiles(chosen: str) -> list[dict[str, Any]]:
    """Return the profiles that come with the package, and the one that the settings name if it is in a file."""
    from jupyter_memory.search.profiles import PROFILES, profile_named

    known = list(PROFILES.values())
    default = profile_named(chosen)
    if default.name not in PROFILES:
        known.append(default)
    return [serializers.profile(one, default.name) for one in known]


def models(service: Service) -> list[dict[str, Any]]:
    """Return the models that have a name."""
    from jupyter_memory.interface.models import listed

    try:
        stats = service.provider.store().stats()
    except JupyterMemoryError:
        stats = None
    return [serializers.model(one) for one in listed(models_folder(service.settings), stats)]


def sizes(store: MemoryStore) -> dict[str, Any]:
    """Return ``ISizes``."""
    stats = store.stats(sizes=True)
    return {name: stats[name] for name in ("bytes", "held", "budget", "sizes")}


# Indexing: jobs, and the folders that were indexed or are watched.


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
    listed = {one.path: one.memories for one in store.folders()}
    return listed[path] if path in listed else len(store.selection(source=path, filters={"kind": ["file", "cell"]}))


FOLDERS = {"index": Index, "jobs": Jobs, "folders": Folders}

# One memory at a time: read in full, remembered, changed, pinned; and several forgotten.


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


MEMORIES = {"item": Item, "access": Access, "add": Add, "update": Update, "pin": Pin, "forget": Forget}

# The queries of the panel: search, explain, related, related-to, browse; the log of searches, feedback on a hit.

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


SEARCH = {
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


# The pictures of memories, one at a time, for the panel and for the results that it shows in a notebook.

# Whatever a store says: a browser must never take a picture for a page.
_MEDIA_TYPES = ("image/webp", "image/png")
_LONGEST_ID = 64


class Picture(MemoryHandler):
    """GET: a picture of a memory, ``thumbnail?memory_id=…&place=0``."""

    # A list of results asks for many of them: that is no sign of somebody at work.
    _track_activity = False

    @read
    async def get(self) -> None:
        """Answer with the bytes of a thumbnail, or 404."""
        memory_id = self.get_query_argument("memory_id", "")
        place = self.get_query_argument("place", "0")
        if not 0 < len(memory_id) <= _LONGEST_ID:
            raise invalid("memory_id", "it must be the id of a memory")
        if place not in map(str, range(MOST_THUMBNAILS)):
            raise invalid("place", f"it must be a whole number from 0 to {MOST_THUMBNAILS - 1}")
        found = await self.result(lambda: self._found(memory_id, int(place)))
        if found is not None:
            # No cache keeps what may be forgotten in the store.
            self.set_header("Cache-Control", "private, no-store")
            self.set_header("X-Content-Type-Options", "nosniff")
            self.set_header("Cross-Origin-Resource-Policy", "same-origin")
            self.finish(found.image, set_content_type=found.media_type)

    def _found(self, memory_id: str, place: int) -> Thumbnail:
        found = self.service.provider.store().thumbnail(memory_id, place)
        if found is None or found.media_type not in _MEDIA_TYPES:
            raise ClientError(404, "This memory has no such picture: it may have been forgotten.", "NoPicture")
        return found


THUMBNAILS = {"thumbnail": Picture}

# The routes below ``jupyter-memory/``, a file a subject.

ROUTES = {**ABOUT, **SEARCH, **MEMORIES, **FOLDERS, **THUMBNAILS}


def routes(base_url: str, service: Service) -> list[tuple[str, type, dict[str, Any]]]:
    """Return the handlers with their addresses, as tornado takes them."""
    return [
        (url_path_join(re.escape(base_url), "jupyter-memory", name), handler, {"service": service})
        for name, handler in ROUTES.items()
    ]
