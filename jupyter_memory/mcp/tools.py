"""The six tools: what a connected program may ask of a store, each call with its bounds, its budget and its record."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.mcp import results
from jupyter_memory.mcp.arguments import (
    MOST_HITS,
    USUAL_HITS,
    Arguments,
    ForgetArguments,
    GetArguments,
    RelatedArguments,
    RememberArguments,
    SearchArguments,
)
from jupyter_memory.mcp.bound import (
    NOT_HERE,
    UNEXPECTED,
    Bound,
    Call,
    CallLog,
    ToolError,
    WriteLimit,
    sentence,
    source_of,
)
from jupyter_memory.mcp.reading import get_result, parts_of
from jupyter_memory.mcp.results import Page, Pages, Result, page_result, priced, status_result
from jupyter_memory.types import Filters, Memory
from jupyter_memory.types.search import EMPTY, NO_MATCH, UNANSWERED

if TYPE_CHECKING:
    from jupyter_memory.interface.provider import StoreProvider
    from jupyter_memory.store.searching import Searching
    from jupyter_memory.store.store import MemoryStore

log = logging.getLogger(__name__)

# In place of `UNANSWERED`, which a person is shown: a program that sees hits would use them.
_NOTHING = "Nothing here answers this."
# What a person is shown, and what a program is shown instead, since it knows no commands.
_INSTEAD = {
    UNANSWERED: "",
    NO_MATCH: "Try other words.",
    EMPTY: "There is nothing yet in the part of the memory that you may see. The person adds files and notes.",
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a program sees it, and the method that answers it."""

    name: str
    about: str
    arguments: type[Arguments]
    result: type[Result]
    writes: bool = False


class _Part(NamedTuple):
    store: MemoryStore
    within: Filters
    searches: Searching


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to: a result, or the sentence of an error."""

    result: Result | None = None
    error: str = ""


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "memory_search",
            "Search the user's notebooks, notes and files by meaning and exact words. Use it first for whatever "
            "the user may have done, decided or noted before: data, code, results, errors.",
            SearchArguments,
            results.SearchResult,
        ),
        Tool(
            "memory_get",
            "Read memories by id, whole or the part around some words. Use it when a snippet is not enough.",
            GetArguments,
            results.GetResult,
        ),
        Tool(
            "memory_related",
            "Memories like one. Use it to see more on the topic of a good hit.",
            RelatedArguments,
            results.SearchResult,
        ),
        Tool(
            "memory_remember",
            "Store a short note that stays useful: a decision, a fact, a fix. Use it when the user asks you "
            "to remember, or when you found out what later sessions need.",
            RememberArguments,
            results.RememberResult,
            writes=True,
        ),
        Tool(
            "memory_forget",
            "Remove notes that you stored. Use it when one is wrong or out of date.",
            ForgetArguments,
            results.ForgetResult,
            writes=True,
        ),
        Tool(
            "memory_status",
            "What the memory holds and allows: kinds, languages, tags, folders. Use it to choose filters, or "
            "when a search finds nothing.",
            Arguments,
            results.StatusResult,
        ),
    )
}


class Tools:
    """The tools over one store; a client sees what the bound lets through, in whatever way it asks."""

    def __init__(self, provider: StoreProvider, bound: Bound | None = None, limit: WriteLimit | None = None) -> None:
        self.provider = provider
        self.bound = bound if bound is not None else Bound()
        self._limit = limit if limit is not None else WriteLimit()
        self._pages = Pages()
        self._log = CallLog()
        self._parts: dict[str, _Part] = {}
        self._run: Mapping[str, Callable[[Any, Call], Result]] = {
            "memory_search": self._search,
            "memory_get": self._get,
            "memory_related": self._related,
            "memory_remember": self._remember,
            "memory_forget": self._forget,
            "memory_status": self._status,
        }

    @property
    def offered(self) -> Sequence[Tool]:
        """Return the tools that there are: without writing, only those that read."""
        return [tool for tool in TOOLS.values() if self.bound.writing or not tool.writes]

    def call(self, name: str, arguments: dict[str, Any] | None, client: str) -> Outcome:
        """Answer a call of the program ``client``, and note it."""
        tool = TOOLS.get(name)
        if tool is None:
            return Outcome(error=f"There is no such tool. There are: {', '.join(one.name for one in self.offered)}.")
        call = Call(client, name)
        try:
            if tool.writes and not self.bound.writing:
                raise ToolError("This memory is read-only for you: the user started it with --read-only.")
            return Outcome(self._run[name](tool.arguments.read(arguments), call))
        except JupyterMemoryError as error:
            return Outcome(error=sentence(error))
        except Exception as error:  # noqa: BLE001  a program must get an answer, and no text of the user in it
            # After the client left, calls that are still in threads find the store closed.
            if not self.provider.closed:
                place = "".join(traceback.format_tb(error.__traceback__))
                log.error("%s in %s\n%s", type(error).__name__, name, place)
            return Outcome(error=UNEXPECTED)
        finally:
            try:
                self._log.note(self.provider.store(), call)
            except (JupyterMemoryError, OSError) as error:
                log.info("a call was not noted: %s", type(error).__name__)

    def warm(self) -> None:
        """Open the store and search it once, so that the first call need not wait; that call reports what fails."""
        try:
            # Any words will do: what they need to be looked up, the first question needs as well.
            self._part("").searches.hits("first question about prices", limit=USUAL_HITS)
        except (JupyterMemoryError, OSError) as error:
            log.info("not warmed: %s", type(error).__name__)

    def _search(self, asked: SearchArguments, call: Call) -> results.SearchResult:
        call.about = asked.query or ""
        if asked.cursor is not None:
            page = self._pages.at(asked.cursor)
            call.about = page.query
        elif asked.query is None:
            raise ToolError("query: it is missing. Give words, a question, or the cursor of an earlier answer.")
        elif not asked.query.strip():
            raise ToolError("query: it is empty. Give words, a question, or a filter such as kind:note.")
        else:
            chosen = asked.filters.filters() if asked.filters is not None else None
            search = partial(self._part(call.client).searches.hits, asked.query, filters=chosen)
            answer = search(limit=_one_more(asked.limit))
            if answer.hits and answer.verdict != "none":
                notices = answer.query.notices if answer.verdict == "strong" else answer.notices
                page = self._pages.first(answer, notices, partial(search, limit=MOST_HITS))
            else:
                # No filler: what is nearest to a question that nothing answers would only be paid for.
                said = (_INSTEAD.get(notice, notice) for notice in answer.notices)
                page = self._pages.first(replace(answer, hits=()), (_NOTHING, *filter(None, said)))
        return self._page(page, asked.limit, asked.mode == "full", asked.max_tokens, call)

    def _related(self, asked: RelatedArguments, call: Call) -> results.SearchResult:
        if asked.cursor is not None:
            page = self._pages.at(asked.cursor)
            call.about = page.query
        elif asked.id is None:
            raise ToolError("id: it is missing. Give the id of a memory, or the cursor of an earlier answer.")
        else:
            [memory] = self._seen([asked.id], call.client, all_of=True)
            call.about = memory.title
            search = partial(self._part(call.client).searches.related, asked.id)
            answer = search(limit=_one_more(asked.limit))
            page = self._pages.first(answer, () if answer.hits else (_NOTHING,), partial(search, limit=MOST_HITS))
        return self._page(page, asked.limit, False, asked.max_tokens, call)

    def _page(self, page: Page, limit: int, full: bool, max_tokens: int, call: Call) -> results.SearchResult:
        memories = self._seen([hit.memory.id for hit in page.hits[page.start :]], call.client)
        result, quotes = page_result(page, memories, limit, full, max_tokens)
        if page.start == 0:
            self._pages.quoted(page, quotes)
        call.shown += [hit.id for hit in result.hits]
        return result

    def _get(self, asked: GetArguments, call: Call) -> results.GetResult:
        memories = self._seen(asked.ids, call.client)
        missing = [id_ for id_ in dict.fromkeys(asked.ids) if id_ not in {one.id for one in memories}]
        if not memories:
            raise ToolError(NOT_HERE.format("this id" if len(missing) == 1 else "any of these ids"))
        call.about = memories[0].title
        parts, note = parts_of(memories, asked.around, asked.offset)
        result = get_result(parts, missing, note, asked.max_tokens)
        call.shown += [one.id for one in result.memories]
        return result

    def _remember(self, asked: RememberArguments, call: Call) -> results.RememberResult:
        from jupyter_memory.ingest.redaction.redactor import redact

        call.about = asked.title
        with self._limit.one_write():
            memory = self.provider.store(create=True).add(
                asked.text,
                title=asked.title or None,
                tags=asked.tags,
                tier="mcp",
                source=source_of(call.client),
                space=self.bound.space or None,
                metadata={"client": call.client},
            )
        call.shown.append(memory.id)
        told = (asked.title, asked.text, *asked.tags) if self.provider.settings.redact else ()
        hidden = sum(redact(text)[1] for text in told)
        return priced(results.RememberResult(id=memory.id, redacted=hidden, tokens=0), 999)

    def _forget(self, asked: ForgetArguments, call: Call) -> results.ForgetResult:
        memories = self._seen(asked.ids, call.client, all_of=True)
        own = [memory for memory in memories if memory.source == source_of(call.client) and not memory.pinned]
        if not self.bound.forgetting_any and len(own) < len(memories):
            raise ToolError(
                "Nothing was forgotten: you may forget only notes that you stored yourself and that nobody has pinned. "
                "Ask the person to forget the others."
            )
        with self._limit.one_write():
            forgotten = self.provider.store().forget([memory.id for memory in memories])
        return priced(results.ForgetResult(forgotten=forgotten, tokens=0), 999)

    def _status(self, _: Arguments, call: Call) -> results.StatusResult:
        searches = self._part(call.client).searches
        return status_result(searches.facets(), searches.folders(), self.bound)

    def _seen(self, ids: Sequence[str], client: str, *, all_of: bool = False) -> list[Memory]:
        part = self._part(client)
        found = part.store.among(ids, part.within)
        if all_of and len(found) < len(set(ids)):
            raise ToolError(NOT_HERE.format("this id" if len(set(ids)) == 1 else "one of these ids"))
        return found

    def _part(self, client: str) -> _Part:
        # It is kept, with the samples that its searches have drawn.
        store = self.provider.store()
        known = self._parts.get(client)
        if known is None or known.store is not store:
            # Links are followed here once: looking through all folders of a store takes longer than a call.
            within = store.memories.bound(self.bound.filters(client))
            known = self._parts[client] = _Part(store, within, store.part(within))
        return known


def _one_more(limit: int) -> int:
    # One more than a page has tells whether there is another page.
    return min(limit + 1, MOST_HITS)
