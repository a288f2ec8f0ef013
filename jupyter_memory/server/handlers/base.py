"""What all handlers share: authorization, the thread of a call, and how answers and errors are written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import wraps
from http.client import responses
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.server.client_errors import ClientError, client_error
from jupyter_memory.server.thread_pool import Pool, Ticket
from jupyter_memory.server.validation import validated
from jupyter_memory.text.unicode import json_text

if TYPE_CHECKING:
    from jupyter_memory.server.service import Service
    from jupyter_memory.store.memory_store import MemoryStore

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
