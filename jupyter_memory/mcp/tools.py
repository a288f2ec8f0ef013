"""The eight tools: the arguments and the answer of each, with its bounds, its budget and its record."""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar
from uuid import uuid4

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from jupyter_memory.errors import InputError, JupyterMemoryError, StoreError
from jupyter_memory.interface.commands.history import NOTHING_ALIKE
from jupyter_memory.interface.options import period_of
from jupyter_memory.mcp import results
from jupyter_memory.mcp.bound import NOT_HERE, UNEXPECTED, Bound, ToolError, sentence, source_of
from jupyter_memory.mcp.results import Page, Part, Result, priced
from jupyter_memory.search.prompt import quotes_for
from jupyter_memory.store.listed import Stores
from jupyter_memory.text.code import is_code
from jupyter_memory.types import Answer, Filters, Memory
from jupyter_memory.types.memory import PINNED_BY
from jupyter_memory.types.report import Recent
from jupyter_memory.types.search import EMPTY, NO_MATCH, OWN, UNANSWERED, address, parted

if TYPE_CHECKING:
    from jupyter_memory.interface.running import StoreProvider
    from jupyter_memory.store.searching import Searching
    from jupyter_memory.store.store import MemoryStore

# Keys that a schema need not have: an agent pays for the list of tools before it has asked anything.
_UNSAID = ("title", "$defs", "maxLength", "minLength", "maxItems", "minItems", "ge", "le")


def lean(schema: Any, definitions: Mapping[str, Any] | None = None) -> Any:
    """Return a schema of pydantic without titles, without references, and without null for what may be left out.

    >>> lean({"title": "A", "properties": {"b": {"title": "B", "anyOf": [{"type": "string"}, {"type": "null"}]}}})
    {'properties': {'b': {'type': 'string'}}}
    """
    if isinstance(schema, list):
        return [lean(one, definitions) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    if definitions is None:
        definitions = schema.get("$defs", {})
    if "$ref" in schema:
        named = definitions[str(schema["$ref"]).rpartition("/")[2]]
        return lean({**named, **{key: value for key, value in schema.items() if key != "$ref"}}, definitions)
    chosen = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(chosen) == 1:
        beside = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return lean({**chosen[0], **beside}, definitions)
    kept = {
        key: value
        for key, value in schema.items()
        if key not in _UNSAID
        and not (key == "default" and value in ("", [], None, 0))
        and not (key == "additionalProperties" and value is False)
    }
    if "properties" in kept:
        kept.pop("description", None)  # of the class, for readers of the source
        # The names of properties are not keywords: a property may be called title.
        kept["properties"] = {name: lean(one, definitions) for name, one in kept["properties"].items()}
    return {key: value if key == "properties" else lean(value, definitions) for key, value in kept.items()}


LEAST_TOKENS, MOST_TOKENS, USUAL_TOKENS = 200, 50_000, 2_000
USUAL_HITS, MOST_HITS, MOST_IDS = 10, 50, 20

_A = TypeVar("_A", bound="Arguments")

_WORDS = ("query", "around", "title", "text")  # where "null" may be meant


# What models send: lists and objects as JSON text, a word alone, `File`, `true` for a number.
def _as_json(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _several(value: Any) -> Any:
    value = _as_json(value)
    return [value] if isinstance(value, str) else value


_LOWER = BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)
_NO_TRUTH = BeforeValidator(lambda value: str(value) if isinstance(value, bool) else value)

Several = Annotated[list[Annotated[str, Field(max_length=1_000)]], BeforeValidator(_several), Field(max_length=50)]
Ids = Annotated[
    list[Annotated[str, Field(max_length=100)]], BeforeValidator(_several), Field(min_length=1, max_length=MOST_IDS)
]
Whole = Annotated[int, _NO_TRUTH]
MaxTokens = Annotated[Whole, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)]
Limit = Annotated[Whole, Field(ge=1, le=MOST_HITS)]
Kind = Annotated[Literal["note", "file", "cell", "history"], _LOWER]
Tier = Annotated[Literal["core", "file", "mcp", "note"], _LOWER]
Severity = Annotated[Literal["critical", "warning", "suggestion"], _LOWER]
Ending = Annotated[Literal["ok", "error"], _LOWER]
Mode = Annotated[Literal["scan", "full"], _LOWER]


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nothing(cls, given: Any) -> Any:
        given = _as_json(given)
        if not isinstance(given, Mapping):
            return given
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value
            for name, value in given.items()
            if not (value is None and name in cls.model_fields)
            and not (name in optional and (value == "" or (value in ("null", '""') and name not in _WORDS)))
        }

    @classmethod
    def input_schema(cls) -> dict[str, Any]:
        found: dict[str, Any] = lean(cls.model_json_schema())
        return found

    @classmethod
    def read(cls: type[_A], given: dict[str, Any] | None) -> _A:
        """Return the arguments of a call; an error names the one that is wrong, but not what it was."""
        try:
            return cls.model_validate(given or {})
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
        filters = FilterArguments.model_fields
        path = [part for part in first["loc"] if isinstance(part, str)]
        if first["type"] == "extra_forbidden":
            known = filters if len(path) > 1 else cls.model_fields
            meant = f" {path[0]} is one of filters." if path[0] in filters and "filters" in cls.model_fields else ""
            raise ToolError(f"There is an argument that is not known.{meant} Known: {', '.join(known) or 'none'}.")
        field = ".".join(dict.fromkeys(part for part in path if part in cls.model_fields or part in filters))
        said = _RULES.get(first["type"], "it cannot be used").format(**first.get("ctx", {}))
        raise ToolError(f"{field or 'arguments'}: {said}.")


class FilterArguments(Arguments):
    """What a memory must match; of several values, any is enough."""

    kind: Annotated[list[Kind], BeforeValidator(_several)] | None = None
    tag: Several | None = None
    path: Several | None = Field(None, description="files or folders, or the last names of their paths")
    lang: Several | None = None
    tier: Annotated[list[Tier], BeforeValidator(_several)] | None = Field(None, description="core: pinned")
    since: str | None = Field(None, max_length=100, description="2026-03-01, last week")
    until: str | None = Field(None, max_length=100)
    as_of: str | None = Field(None, max_length=100, description="only what was stored by then")
    outcome: Annotated[list[Ending], BeforeValidator(_several)] | None = Field(None, description="of cells and runs")

    def filters(self) -> Filters:
        times: dict[str, Any] = period_of(
            vars(self), datetime.now(UTC), lambda name, why: ToolError(f"filters.{name}: {why}.")
        )
        if not all(path.strip() for path in self.path or ()):
            raise ToolError("filters.path: it is empty. Name a file or a folder, or leave it out.")
        facets: dict[str, Any] = {
            name: tuple(getattr(self, name) or ()) for name in ("kind", "tag", "path", "lang", "tier", "outcome")
        }
        return Filters(**facets, **times)


class SearchArguments(Arguments):
    query: str | None = Field(None, max_length=5_000, description="question or words")
    filters: FilterArguments | None = None
    about_tags: Several = Field([], description="count in favour")
    stores: Several | None = Field(None, description="only these of memory_status")
    mode: Mode = Field("scan", description="full: whole texts while they fit")
    limit: Limit = USUAL_HITS
    max_tokens: MaxTokens = Field(USUAL_TOKENS, description="of the whole answer")
    cursor: str | None = Field(None, max_length=100, description="next of an answer")


class GetArguments(Arguments):
    ids: Ids
    around: str | None = Field(None, max_length=5_000, description="only the part about these words, such as a snippet")
    runnable: bool = Field(False, description="code below the cells that it needs")
    offset: Whole = Field(0, ge=0, description="next_offset of an answer; one id")
    max_tokens: MaxTokens = USUAL_TOKENS


class RelatedArguments(Arguments):
    id: str | None = Field(None, max_length=100)
    limit: Limit = 5
    max_tokens: MaxTokens = USUAL_TOKENS
    cursor: str | None = Field(None, max_length=100)


class FixArguments(Arguments):
    traceback: str = Field(min_length=1, max_length=200_000)
    limit: Limit = 3
    max_tokens: MaxTokens = USUAL_TOKENS


class RememberArguments(Arguments):
    text: str = Field(min_length=1, max_length=50_000)
    title: str = Field("", max_length=200)
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], BeforeValidator(_several)] = Field(
        [], max_length=10
    )
    severity: Severity | None = None
    domain: str | None = Field(None, max_length=200)
    valid_from: str | None = Field(None, max_length=100)
    valid_until: str | None = Field(None, max_length=100)
    space: str | None = Field(None, max_length=200)


class ForgetArguments(Arguments):
    ids: Ids


class PinArguments(Arguments):
    ids: Ids
    pinned: bool = True


# By the type of pydantic's error; what was sent is in none of them.
_RULES = {
    "missing": "it is missing",
    "string_too_short": "it is empty",
    "string_too_long": "it may have up to {max_length:,} characters",
    "too_short": "it is empty",
    "too_long": "it may hold up to {max_length} values",
    "greater_than_equal": "it must be {ge} or more",
    "less_than_equal": "it must be {le} or less",
    "literal_error": "it must be one of {expected}",
    "string_type": "it must be text",
    "int_type": "it must be a whole number",
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "list_type": "it must be a list",
    "model_type": "it must be an object",
    "model_attributes_type": "it must be an object",
}


log = logging.getLogger(__name__)

# In place of `UNANSWERED`, which a person is shown: a program that sees hits would use them.
_NOTHING = "Nothing here answers this."
# What a person is shown, and what a program is shown instead, since it knows no commands.
_INSTEAD = {
    UNANSWERED: "",
    NO_MATCH: "Try other words.",
    EMPTY: "There is nothing yet in the part of the memory that you may see. The person adds files and notes.",
}


class _Part(NamedTuple):
    store: MemoryStore
    within: Filters
    searches: Searching


@dataclass(slots=True)
class Call:
    """One call of a tool while it is answered: what it is about, and the memories that the program was shown."""

    client: str
    about: str = ""
    shown: list[str] = field(default_factory=list)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


# Seconds, and how many writes they may see: no agent has that much to say, but one in a loop has.
_LIMITS = ((60.0, 20), (3600.0, 200))


class Tools:
    """The tools over one store; a client sees what the bound lets through, in whatever way it asks."""

    def __init__(self, provider: StoreProvider, bound: Bound, clock: Callable[[], float] = time.monotonic) -> None:
        self.provider = provider
        self._stores = Stores(provider.settings, provider.store, projects=False)
        self.bound = bound
        self._names = bound.stores or (OWN,)
        self._clock = clock
        self._writes: deque[float] = deque(maxlen=max(most for _, most in _LIMITS))
        self._writing = threading.Lock()
        self._pages = results.Pages()
        self._lock = threading.Lock()
        # More are not expected while another program holds the lock of the store.
        self._unnoted: deque[tuple[Recent, list[str]]] = deque(maxlen=1_000)
        self._parts: dict[tuple[str, str], _Part] = {}

    @property
    def offered(self) -> Sequence[Tool]:
        """Return the tools that there are: without writing, only those that read."""
        return [tool for tool in TOOLS.values() if self.bound.writing or not tool.writes]

    def call(self, name: str, arguments: dict[str, Any] | None, client: str) -> Result | str:
        """Return the answer to a call of the program ``client``, or the sentence of an error; the call is noted."""
        tool = TOOLS.get(name)
        if tool is None:
            return f"There is no such tool. There are: {', '.join(one.name for one in self.offered)}."
        call = Call(client)
        try:
            if tool.writes and not self.bound.writing:
                raise ToolError("This memory is read-only for you: the user started it with --read-only.")
            return tool.run(self, tool.arguments.read(arguments), call)
        except JupyterMemoryError as error:
            return sentence(error)
        except Exception as error:  # noqa: BLE001  a program must get an answer, and no text of the user in it
            # After the client left, calls that are still in threads find the store closed.
            if not self.provider.closed:
                place = "".join(traceback.format_tb(error.__traceback__))
                log.error("%s in %s\n%s", type(error).__name__, name, place)
            return UNEXPECTED
        finally:
            noted = Recent(uuid4().hex, call.about[:500], "auto", call.at, "mcp", len(call.shown), client, name)
            try:
                store = self.provider.store()
                self._unnoted.append((noted, call.shown))
                # What a busy store does not take waits for the next call.
                with self._lock:
                    while self._unnoted and store.note_call(*self._unnoted[0]):
                        self._unnoted.popleft()
            except (JupyterMemoryError, OSError) as error:
                log.info("a call was not noted: %s", type(error).__name__)

    def warm(self) -> None:
        """Open the store and search it once, so that the first call need not wait; that call reports what fails."""
        try:
            # Any words will do: what they need to be looked up, the first question needs as well.
            self._part("", self._names[0]).searches.hits("first question about prices", limit=USUAL_HITS)
        except (JupyterMemoryError, OSError) as error:
            log.info("not warmed: %s", type(error).__name__)

    def memory_search(self, asked: SearchArguments, call: Call) -> results.SearchResult:
        """Search the user's notebooks, notes and files by meaning and exact words. Use it first for whatever the user
        may have done, decided or noted before: data, code, results, errors.
        """
        from jupyter_memory.search.profiles import profile_named  # imported late, as all that only calls need

        call.about = asked.query or ""
        if asked.cursor is not None:
            page = self._pages.at(asked.cursor)
        elif asked.query is None:
            raise ToolError("query: it is missing. Give words, a question, or the cursor of an earlier answer.")
        elif not asked.query.strip():
            raise ToolError("query: it is empty. Give words, a question, or a filter such as kind:note.")
        else:
            if not {*(asked.stores or ())} <= {*self._names}:
                raise ToolError(
                    "stores: you may not search one of them. memory_status lists those that you may search."
                )
            names = tuple(name for name in self._names if not asked.stores or name in asked.stores)
            chosen = asked.filters.filters() if asked.filters is not None else None
            search = partial(self._hits, call.client, asked.query, names, filters=chosen, tags=asked.about_tags)
            # One more than a page has tells whether there is another page.
            answer = search(limit=min(asked.limit + 1, MOST_HITS))
            if answer.hits and answer.verdict != "none":
                away = [notice for notice in answer.notices if answer.stores and "is left out: " in notice]
                notices = (*answer.query.notices, *away) if answer.verdict == "strong" else answer.notices
                if unread := profile_named(self.provider.settings.profile).unread(asked.about_tags):
                    notices = (unread, *notices)
                page = self._pages.first(answer, notices, partial(search, limit=MOST_HITS))
            else:
                # No filler: what is nearest to a question that nothing answers would only be paid for.
                said = (_INSTEAD.get(notice, notice) for notice in answer.notices)
                page = self._pages.first(replace(answer, hits=()), (_NOTHING, *filter(None, said)))
        return self._page(page, asked, call, full=asked.mode == "full")

    def memory_related(self, asked: RelatedArguments, call: Call) -> results.SearchResult:
        """Memories like one. Use it to see more on the topic of a good hit."""
        if asked.cursor is not None:
            page = self._pages.at(asked.cursor)
        elif asked.id is None:
            raise ToolError("id: it is missing. Give the id of a memory, or the cursor of an earlier answer.")
        else:
            [memory] = self._seen([asked.id], call.client, all_of=True)
            call.about = memory.title
            name, memory_id = _parted(asked.id)

            def search(limit: int = MOST_HITS) -> Answer:
                answer = self._part(call.client, name).searches.related(memory_id, limit=limit)
                return answer.of_store(name).addressed()

            answer = search(min(asked.limit + 1, MOST_HITS))
            page = self._pages.first(answer, () if answer.hits else (_NOTHING,), search)
        return self._page(page, asked, call)

    def _page(
        self, page: Page, asked: SearchArguments | RelatedArguments, call: Call, *, full: bool = False
    ) -> results.SearchResult:
        if asked.cursor is not None:
            call.about = page.query
        memories = self._seen([hit.memory.id for hit in page.hits[page.start :]], call.client)
        result, quotes = results.page_result(page, memories, asked.limit, full, asked.max_tokens)
        if page.start == 0:
            # The pages after it need not explain their borders.
            self._pages.keep(replace(page, quotes=quotes))
        call.shown += [hit.id for hit in result.hits]
        return result

    def memory_get(self, asked: GetArguments, call: Call) -> results.GetResult:
        """Read memories by id, whole or the part around some words. Use it when a snippet is not enough."""
        memories = self._seen(asked.ids, call.client)
        missing = [id_ for id_ in dict.fromkeys(asked.ids) if id_ not in {one.id for one in memories}]
        if not memories:
            raise ToolError(NOT_HERE.format("this id" if len(missing) == 1 else "any of these ids"))
        call.about = memories[0].title
        for place, memory in enumerate(memories):
            if asked.runnable and memory.kind != "note" and is_code(memory.kind, memory.lang):
                name, memory_id = _parted(memory.id)
                part = self._part(call.client, name)
                memories[place] = replace(memory, text=part.store.runnable(memory_id, within=part.within).text)
        parts, note = results.parts_of(memories, asked.around, asked.offset)
        result = results.get_result(parts, missing, note, asked.max_tokens)
        call.shown += [one.id for one in result.memories]
        return result

    def memory_fix(self, asked: FixArguments, call: Call) -> results.GetResult:
        """How an error like one was fixed before, as diffs. Use it on a traceback before you look for a fix."""
        part = self._part(call.client, self._names[0])
        fixes = part.store.fixes.within(part.searches, part.within)
        try:
            run = fixes.run_of(asked.traceback)
        except InputError:
            raise ToolError("traceback: it is none of Python. It ends with a line such as KeyError: 'a'.") from None
        call.about = run.error.name if run.error is not None else ""
        found = {fix.mended.memory_id: fix for fix in fixes.of_run(run, limit=asked.limit)}
        texts = {id_: f"{fix.error}\n\n{fix.diff or fix.mended.source}" for id_, fix in found.items()}
        of = {address(self._names[0], id_): id_ for id_ in found}
        memories = [replace(one, text=texts[of[one.id]]) for one in self._seen([*of], call.client)]
        if not memories:
            return priced(results.GetResult(memories=[], note=NOTHING_ALIKE, rule=quotes_for(()).rule, tokens=0), 999)
        result = results.get_result([Part(one) for one in memories], (), None, asked.max_tokens)
        call.shown += [one.id for one in result.memories]
        # Offsets are of the memory's own text.
        return result.model_copy(
            update={"memories": [one.model_copy(update={"next_offset": None}) for one in result.memories]}
        )

    def memory_remember(self, asked: RememberArguments, call: Call) -> results.RememberResult:
        """Store a short note that stays useful: a decision, a fact, a fix. Use it when the user asks you to remember,
        or when you found out what later sessions need.
        """
        from jupyter_memory.ingest.redaction.redactor import redact

        call.about = asked.title
        space = self.bound.space or self.provider.settings.space
        if asked.space and space and asked.space != space:
            raise ToolError("space: you may not write to this one. Leave it out.")
        window: dict[str, Any] = period_of(
            vars(asked), call.at, lambda name, why: ToolError(f"{name}: {why}."), ("valid_from", "valid_until")
        )
        with self._one_write():
            memory = self._store(self._names[0], create=True).add(
                asked.text,
                title=asked.title or None,
                tags=asked.tags,
                tier="mcp",
                source=source_of(call.client),
                severity=asked.severity,
                domain=asked.domain,
                **window,
                space=asked.space or space or None,
                metadata={"client": call.client},
            )
        call.shown.append(address(self._names[0], memory.id))
        told = (asked.title, asked.text, asked.domain or "", *asked.tags) if self.provider.settings.redact else ()
        hidden = sum(redact(text)[1] for text in told)
        return priced(results.RememberResult(id=call.shown[-1], redacted=hidden, tokens=0), 999)

    def memory_forget(self, asked: ForgetArguments, call: Call) -> results.ForgetResult:
        """Remove notes that you stored. Use it when one is wrong or out of date."""
        memories = self._seen(asked.ids, call.client, all_of=True)
        if not self.bound.forgetting_any:
            _refuse_others(memories, call.client, "forget")
        with self._one_write():
            forgotten = self._stores.forget([memory.id for memory in memories])
        return priced(results.ForgetResult(forgotten=forgotten, tokens=0), 999)

    def memory_pin(self, asked: PinArguments, call: Call) -> results.PinResult:
        """Keep notes that you stored on top, or no longer."""
        memories = self._seen(asked.ids, call.client, all_of=True)
        _refuse_others(memories, call.client, "pin and unpin")
        call.shown += [memory.id for memory in memories]
        with self._one_write():
            for store, id_ in ((self._store(name), id_) for name, id_ in map(_parted, call.shown)):
                store.pin(id_, by=call.client) if asked.pinned else store.unpin(id_)
        return priced(results.PinResult(changed=len(memories), tokens=0), 999)

    def memory_status(self, _: Arguments, call: Call) -> results.StatusResult:
        """What the memory holds and allows: kinds, languages, tags, folders. Use it to choose filters, or when a search
        finds nothing.
        """
        facets, folders, there = dict[str, Counter[str]](), dict[str, None](), list[str]()
        for name in self._names:
            try:
                searches = self._part(call.client, name).searches
                held, of_it = searches.facets(), searches.folders()
            except (JupyterMemoryError, OSError):
                # One that is away keeps no other from being told of.
                if name == self._names[-1] and not there:
                    raise
                continue
            facets = {facet: facets.get(facet, Counter()) + Counter(of) for facet, of in held.items()}
            folders |= dict.fromkeys(of_it)
            there.append(name)
        bound = replace(self.bound, stores=tuple(there)) if self.bound.stores else self.bound
        return results.status_result(facets, list(folders), bound)

    # Whatever clients call themselves, what is done within counts as one write, unless it fails.
    @contextmanager
    def _one_write(self) -> Iterator[None]:
        with self._writing:
            now, times = self._clock(), list(self._writes)
            for seconds, most in _LIMITS:
                first = times[-most] if len(times) >= most else None
                if first is not None and (wait := first + seconds - now) > 0:
                    every = "a minute" if seconds == 60 else "an hour"
                    said = f"Nothing was changed: at most {most} changes in {every}."
                    raise ToolError(f"{said} Try again in {round(wait) + 1} s.")
            self._writes.append(now)
        try:
            yield
        except BaseException:
            with self._writing:
                self._writes.remove(now)
            raise

    def _seen(self, ids: Sequence[str], client: str, *, all_of: bool = False) -> list[Memory]:
        by_id: dict[str, Memory] = {}
        for name in self._names:
            if wanted := [id_ for of, id_ in map(_parted, ids) if of == name]:
                part = self._part(client, name)
                seen = part.store.among(wanted, part.within)
                by_id |= {address(name, one.id): replace(one, id=address(name, one.id)) for one in seen}
        found = [by_id[id_] for id_ in dict.fromkeys(ids) if id_ in by_id]
        if all_of and len(found) < len(set(ids)):
            raise ToolError(NOT_HERE.format("this id" if len(set(ids)) == 1 else "one of these ids"))
        return found

    # What a client may see of one store, or of several together; then an id begins with the name of its store.
    def _hits(self, client: str, query: str, names: Sequence[str], **asked: Any) -> Answer:
        if names == (OWN,):
            return self._part(client, OWN).searches.hits(query, **asked)
        # Imported late: a server without calls need not wait for it.
        from jupyter_memory.store.federation import Vault, Vaults

        def searched(name: str, store: MemoryStore) -> Searching:
            return self._part(client, name, store).searches

        vaults = {name: Vault(name, partial(self._store, name), 1.0, partial(searched, name)) for name in names}
        settings = self.provider.settings
        try:
            found = Vaults(**vaults).hits(
                query, profile=settings.profile, deadline=settings.stores_seconds, told=sentence, **asked
            )
        except StoreError as error:
            raise ToolError(str(error)) from None
        return found.answer.addressed()

    def _store(self, name: str, *, create: bool = False) -> MemoryStore:
        return self.provider.store(create=create) if name == OWN else self._stores.named(name)

    def _part(self, client: str, name: str, store: MemoryStore | None = None) -> _Part:
        # It is kept, with the samples that its searches have drawn.
        store, known = store or self._store(name), self._parts.get((client, name))
        if known is None or known.store is not store:
            # Links are followed here once: looking through all folders of a store takes longer than a call.
            within = store.memories.bound(self.bound.filters(client))
            known = self._parts[client, name] = _Part(store, within, store.part(within))
        return known

    def close(self) -> None:
        self.provider.close()
        self._stores.close()


def _refuse_others(memories: Sequence[Memory], client: str, what: str) -> None:
    for one in memories:
        if one.source != source_of(client) or (one.pinned and one.metadata.get(PINNED_BY) != client):
            raise ToolError(
                f"Nothing was changed: you may {what} only notes that you stored yourself and that no person has "
                "pinned. Ask the person to do it."
            )


def _parted(address: str) -> tuple[str, str]:
    name, id_ = parted(address)
    return name or OWN, id_


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the method that answers it, whose name and docstring a program sees."""

    run: Callable[[Tools, Any, Call], Result]
    arguments: type[Arguments]
    result: type[Result]
    writes: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def about(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


_TOOLS = (
    Tool(Tools.memory_search, SearchArguments, results.SearchResult),
    Tool(Tools.memory_get, GetArguments, results.GetResult),
    Tool(Tools.memory_related, RelatedArguments, results.SearchResult),
    Tool(Tools.memory_fix, FixArguments, results.GetResult),
    Tool(Tools.memory_remember, RememberArguments, results.RememberResult, writes=True),
    Tool(Tools.memory_forget, ForgetArguments, results.ForgetResult, writes=True),
    Tool(Tools.memory_pin, PinArguments, results.PinResult, writes=True),
    Tool(Tools.memory_status, Arguments, results.StatusResult),
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}
