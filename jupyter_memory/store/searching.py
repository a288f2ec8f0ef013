"""Searching a store: from the keywords of a search to its answer, by the profile and the embedder that it uses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ForwardRef, Literal, TypedDict, TypeVar, Unpack
from zoneinfo import ZoneInfo

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError, QueryError, UnknownMemory, guess
from jupyter_memory.search.context import Scale
from jupyter_memory.search.engine import Pooled, QueryVectors, SearchEngine, SearchRequest
from jupyter_memory.search.explanation import explained, labels
from jupyter_memory.search.presentation import folders, with_matches, with_notices
from jupyter_memory.search.profiles import PROFILES, Profile, alike, profile_named
from jupyter_memory.search.profiles.profile import adapted
from jupyter_memory.search.prompt import BUDGET, PromptText, checked_budget, prompt_text
from jupyter_memory.search.query.parser import filters_from, parse
from jupyter_memory.search.query.reading import read_through
from jupyter_memory.storage.databases import PartOfStore, SearchStorage
from jupyter_memory.storage.sql import delegated, must_read
from jupyter_memory.store.models import ModelChoice
from jupyter_memory.store.sources import Scope
from jupyter_memory.text.display import count_of
from jupyter_memory.text.markdown import day
from jupyter_memory.text.moments import moment
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Answer, Explanation, Filters, Hit, Memory, Query, as_tuple
from jupyter_memory.types.protocols import FileState
from jupyter_memory.types.search import AS_OF, NO_MATCH, NO_MATCH_FILTERED, NONE_ALIKE, Trace

if TYPE_CHECKING:
    from jupyter_memory.ingest.moves import DisconnectedDrives
    from jupyter_memory.search.receipt import Receipt

# Whether the file of a memory is still what was indexed.
Freshness = Literal["current", "changed", "gone", "unknown"]
# Bytes of a file that is read again if only its time differs: more would take longer than a search may.
_CHECKED = 1_000_000


def _disconnected_drives() -> DisconnectedDrives:
    from jupyter_memory.ingest.moves import DisconnectedDrives  # imported late: most searches need none

    return DisconnectedDrives()


def freshness(state: FileState, drives: Callable[[], DisconnectedDrives] = _disconnected_drives) -> Freshness:
    """Return whether a file is unchanged since it was indexed; ``"unknown"`` if its drive is not connected."""
    path = Path(state.path)
    try:
        status = path.stat()
        if (status.st_mtime_ns, status.st_size) == (state.mtime_ns, state.size):
            return "current"
        if status.st_size != state.size or status.st_size > _CHECKED:
            return "changed"
        # Imported late: most searches need nothing of what reads files.
        from jupyter_memory.ingest.readers.registry import digest

        # What an earlier version of the reader read is current too: the file is the same.
        same = digest(path).partition(".")[0] == state.content_hash.partition(".")[0]
        return "current" if same else "changed"
    except (FileNotFoundError, NotADirectoryError):
        return "gone" if drives().folder_of(state) is None else "unknown"
    except (OSError, ValueError):
        return "unknown"


def changes_notice(hits: Iterable[Hit]) -> str:
    """Return a notice of the files of hits that changed or went since they were indexed; nothing where none did."""
    files = {(hit.memory.source, hit.memory.space): hit for hit in hits}.values()
    changed = [hit.memory.indexed_at for hit in files if hit.freshness == "changed"]
    gone = sum(hit.freshness == "gone" for hit in files)
    parts = []
    if changed:
        on = day(min(changed)).partition(" ")[2]
        parts.append(f"{len(changed)} of these files {'has' if len(changed) == 1 else 'have'} changed since {on}")
    if gone:
        of_these = "" if changed else " of these files"
        parts.append(f"{gone}{of_these} no longer {'exists' if gone == 1 else 'exist'}")
    return f"{' and '.join(parts)}. `index` brings the store up to date." if parts else ""


Function = TypeVar("Function", bound=Callable[..., Any])
Moment = str | date | datetime | None
FilterInput = Filters | Mapping[str, Any] | None
# Characters of a text that is like others: what follows says little, and costs a larger model seconds.
_READ = 4_000


def keywords(known: type[Any]) -> Callable[[Function], Function]:
    """Show these keywords one by one in a function's signature, where completion and help look for them."""

    def decorate(function: Function) -> Function:
        written = inspect.signature(function)
        own = [one for one in written.parameters.values() if one.kind is not one.VAR_KEYWORD]
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default={"tags": (), "prefix": False, "time": True}.get(name),
                # What is written in the class, not the reference that it was made.
                annotation=of.__forward_arg__ if isinstance(of, ForwardRef) else of,
            )
            for name, of in known.__annotations__.items()
        ]
        shown = sorted([*own, *shown], key=lambda one: one.kind)
        function.__signature__ = written.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return decorate


class BrowseOptions(TypedDict, total=False):
    """The keywords of a list without a query; ``MemoryStore.search`` explains them."""

    limit: int | None
    filters: FilterInput
    since: Moment
    until: Moment
    as_of: Moment


class SearchOptions(BrowseOptions, total=False):
    """The keywords of a search; ``MemoryStore.search`` explains them."""

    profile: str | Profile | None
    now: Moment
    tags: str | Sequence[str]
    domain: str | None


class QueryOptions(SearchOptions, total=False):
    """The keywords of what reads a query as it is typed; ``MemoryStore.hits`` explains the last two."""

    prefix: bool
    time: bool


class Searching:
    def __init__(
        self,
        storage: SearchStorage,
        engine: SearchEngine,
        model: ModelChoice,
        query_vectors: QueryVectors,
        settings: JupyterMemory,
        profile: Profile,
        scope: Scope,
    ) -> None:
        self._storage, self._engine, self._model, self._query_vectors = storage, engine, model, query_vectors
        self._settings, self._profile, self._scope = settings, profile, scope
        # A person's own profiles have no registry: those that were used can be asked about later.
        self._used: dict[str, Profile] = {profile.name: profile}

    asked = delegated("_engine", SearchEngine.asked)

    @keywords(QueryOptions)
    def hits(
        self, query: str, *, scales: Mapping[str, Scale] = MappingProxyType({}), **options: Unpack[QueryOptions]
    ) -> Answer:
        """Return what ``MemoryStore.hits`` does of this store; ``scales`` are what `Vaults` gives to each."""
        asked, chosen = self._query(query, options), self._chosen(options.get("profile"))
        if not asked.text:  # nothing but filters was typed
            return self._reported(self._engine.browse(asked.filters, asked))
        answer = self._engine.answer(replace(self._search(asked, chosen), scales=scales))
        self._query_vectors.flush()
        return self._reported(answer)

    def scale(self, query: str, **options: Unpack[QueryOptions]) -> Scale | None:
        """Return the scale of meaning for a query here, so that several stores can share one."""
        asked, chosen = self._query(query, options), self._chosen(options.get("profile"))
        scale = self._engine.scale(self._search(asked, chosen))
        self._query_vectors.flush()
        return scale

    @keywords(QueryOptions)
    def trace(self, query: str, **options: Unpack[QueryOptions]) -> Trace:
        """Return what ``hits`` does, with every list that the search made: by words, by meaning, and both fused.

        ``trace.without`` gives for each hit the rank that it would have without the points of each term.
        """
        asked, chosen = self._query(query, options), self._chosen(options.get("profile"))
        if not asked.text:
            return Trace(self.hits(query, **options), (), (), (), {})
        trace = self._engine.trace(self._search(asked, chosen))
        self._query_vectors.flush()
        return replace(trace, answer=self._reported(trace.answer))

    @keywords(QueryOptions)
    def pooled(self, query: str, **options: Unpack[QueryOptions]) -> Pooled:
        """Return an answer with the whole pool that it was chosen from, so that other weights need no other search.

        The keywords are those of ``hits``; ``pooled.weighed(profile)`` is the answer by other weights.
        """
        asked, chosen = self._query(query, options), self._chosen(options.get("profile"))
        if not asked.text:
            raise QueryError("Without a question nothing is ranked, so there is nothing to weigh. Add some words.")
        pooled = self._engine.pooled(self._search(asked, chosen))
        self._query_vectors.flush()
        return pooled

    @keywords(QueryOptions)
    def explain(self, query: str, memory_id: str, **options: Unpack[QueryOptions]) -> Explanation:
        """Say why a memory is where it is for a query, or why it is not in the answer.

        The reasons are the main ones; ``.whole()`` has them all. The keywords are those of ``hits``.

        Raises:
            UnknownMemory: no memory has this id.
        """
        asked, chosen = self._query(query, options), self._chosen(options.get("profile"))
        return self._engine.explain(self._search(asked, chosen), memory_id)

    @keywords(SearchOptions)
    def related(self, memory_id: str, **options: Unpack[SearchOptions]) -> Answer:
        """Return the memories most like one, by its most distinctive words and its meaning; it is not among them.

        The keywords are those of ``hits``. No model is loaded: the memory's own vectors are compared. The answer has no
        verdict, since there was no question. Raises ``UnknownMemory`` when no memory has this id.
        """
        base = self._search(self._query("*", options, SearchOptions), self._chosen(options.get("profile")))
        answer = self._reported(self._engine.related(base, memory_id))
        said = (NONE_ALIKE if one in (NO_MATCH, NO_MATCH_FILTERED) else one for one in answer.notices)
        return replace(answer, notices=tuple(said))

    @keywords(BrowseOptions)
    def related_to(self, text: str, **options: Unpack[BrowseOptions]) -> Answer:
        """Return the memories that are likely about the same as a text, such as a cell that is being written.

        Often there are none: what you did not ask for must be worth reading. Nothing is noted of the text. The keywords
        are those of ``browsed``.
        """
        if not isinstance(text, str):
            raise InputError(
                f"related_to() takes a text, not {type(text).__name__}; related() takes the id of a memory."
            )
        base = self._search(self._query("*", options, BrowseOptions), alike)
        answer = self._engine.related_to(base, storable(text[:_READ]))
        # Nothing is said of the filters: they were not typed.
        return self._reported(answer, typed=False)

    def explain_in(self, answer: Answer, memory_id: str) -> Explanation:
        """Say why a memory is where it is in an answer given before, with that answer's query, time and filters."""
        with self._storage.snapshot() as snapshot:
            snapshot.key_of(memory_id)  # it may have been forgotten since
        for hit in answer.hits:
            if hit.memory.id == memory_id and hit.signals:
                without, judged_by = self._engine.told(answer.query_id, memory_id)
                named = labels(*PROFILES.values(), *self._used.values()) | judged_by
                return explained(hit, answer.query, answer.counts["fused"], answer.profile, named, without)
        if not answer.query.text:
            raise QueryError("These memories were listed without a question, so nothing was ranked. Search first.")
        return self._engine.explain(self._search(answer.query, self._chosen(answer.profile)), memory_id)

    def context(self, answer: Answer, max_tokens: int = BUDGET) -> PromptText:
        """Return the hits of an answer as a text for a prompt, at most ``max_tokens`` long by an estimate, best first.

        Every text stands within borders that it cannot forge, below a line with its path, cell, lines and date. Hits
        that say the same are one source, and neighbouring cells of a notebook stand together. A hit without room is
        left out whole, unless it alone is longer than the budget; of a long file, the part around the hit is quoted.
        With the verdict ``none`` the text says so and quotes nothing. Forgotten memories are left out.

        >>> import tempfile
        >>> from jupyter_memory import MemoryStore
        >>> store = MemoryStore(tempfile.mkdtemp() + "/memory.sqlite")
        >>> memory = store.add("We scaled the prices to zero mean.", title="Prices", event_at="2026-03-02")
        >>> print(store.context(store.hits("how did we scale the prices")).partition(", about ")[0])
        From the user's notebooks, files and notes for “how did we scale the prices”: 1 of 1 result
        >>> store.close()
        """
        checked_budget(max_tokens)
        return prompt_text(replace(answer, hits=tuple(self.present(answer.hits))), max_tokens)

    def present(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return those of these hits that were not forgotten since, as their memories are now."""
        found = []
        with self._storage.snapshot() as snapshot:
            for hit in hits:
                with suppress(UnknownMemory):
                    memory = snapshot.memory(hit.memory.id)
                    span = hit.span if memory.text == hit.memory.text else (0, 0)
                    found.append(replace(hit, memory=memory, span=span))
        return found

    def became(self, hit: Mapping[str, Any], receipt: Receipt) -> tuple[str, Memory | None]:
        """Return what became of a hit of a receipt here."""
        with self._storage.snapshot() as snapshot:
            return receipt.became(hit, snapshot)

    @keywords(BrowseOptions)
    def browsed(self, **options: Unpack[BrowseOptions]) -> Answer:
        """Return what ``browse`` shows as ``Hit`` values without scores."""
        query = self._query("*", options, BrowseOptions)
        return self._reported(self._engine.browse(query.filters, replace(query, text="", written="")))

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Return how many memories have each kind, language, tier and tag; to list some of them takes longer."""
        return self._engine.facets(self._query("*", {}).filters)

    def folders(self) -> list[str]:
        """Return the folders that have files of the store in them, without those below another, and addresses."""
        with self._storage.snapshot() as snapshot:
            return folders(snapshot.facet_values("path"))

    def listed(self, memories: Sequence[Memory]) -> Answer:
        """Return memories that were chosen otherwise as an answer, in their order, without scores."""
        return self._engine.listed(memories, replace(self._query("*", {}), text="", written=""))

    def within(self, part: PartOfStore) -> Searching:
        """Return the searches of a part of the store, by the same model, settings and profile."""
        engine = SearchEngine(part, self._query_vectors.vector)
        scope = replace(self._scope, storage=part)
        return Searching(part, engine, self._model, self._query_vectors, self._settings, self._profile, scope)

    def close(self) -> None:
        """Let go of the searches that were kept."""
        self._engine.close()

    def _reported(self, answer: Answer, *, typed: bool = True) -> Answer:
        answer = with_matches(with_notices(answer, self._storage) if typed else answer)
        notices = (*answer.query.notices, *answer.notices, *(self._left_out(answer) if typed else ()))
        hits = tuple(_with_description(hit, answer.query.described) for hit in answer.hits)
        answer = replace(answer, hits=hits, notices=notices)
        from_files = [hit.memory for hit in answer.hits if hit.memory.kind in ("file", "cell") and hit.memory.source]
        if not from_files:
            return answer
        places = dict.fromkeys((memory.source, memory.space) for memory in from_files)
        with self._storage.snapshot() as snapshot:
            states = snapshot.file_states(list(places))
        drives = cache(_disconnected_drives)
        seen = {place: freshness(state, drives) for place, state in states.items()}
        hits = tuple(
            replace(hit, freshness=seen.get((hit.memory.source, hit.memory.space), "unknown")) for hit in answer.hits
        )
        notice = changes_notice(hits)
        return replace(answer, hits=hits, notices=(*answer.notices, notice) if notice else answer.notices)

    def _left_out(self, answer: Answer) -> Iterator[str]:
        query = answer.query
        if not query.left_out or (answer.hits and answer.verdict not in ("weak", "none")):
            return
        with self._storage.snapshot() as snapshot:
            count = snapshot.count(query.filters & Filters(path=query.left_out))
        if count:
            where = f"Below {query.left_out[0]}" if len(query.left_out) == 1 else f"In {len(query.left_out)} folders"
            them = count_of(count, "memory is", "memories are")
            yield f"{where}, {them} hidden from searches that do not name the path."

    def _query(self, text: str, options: Mapping[str, Any], known: type[Any] = QueryOptions) -> Query:
        if unknown := sorted(options.keys() - known.__annotations__):
            wrong, names = ", ".join(unknown), known.__annotations__
            raise TypeError(f"There is no keyword {wrong}.{guess(unknown[0], names)} There are: {', '.join(names)}.")
        now, limit = options.get("now"), options.get("limit")
        this_moment = datetime.now(UTC)
        at = this_moment if now is None else moment(now, this_moment) or this_moment
        if isinstance(now, datetime) and isinstance(now.tzinfo, ZoneInfo):
            at = at.astimezone(now.tzinfo)  # "yesterday" is that of the place
        since, until, as_of = (options.get(name) for name in ("since", "until", "as_of"))
        given = filters_from(options.get("filters"), since, until, at, as_of)
        if given.as_of is not None:
            at = min(at, given.as_of.astimezone(at.tzinfo))
        query = parse(
            text,
            now=at,
            limit=self._settings.limit if limit is None else limit,
            filters=given,
            prefix=options.get("prefix", False),
            time=options.get("time", True),
            tags=as_tuple(options.get("tags", ())),
            domain=options.get("domain"),
        )
        filters, notices = self._scope.meant(query.filters)
        described, left_out = self._scope.described(query.filters, filters := self._scope.bound(filters))
        if must_read(filters):
            filters = read_through(filters, query.terms, self._storage)
        if given.as_of is not None:
            notices = (*notices, AS_OF.format(given.as_of.astimezone()))
        notices = (*query.notices, *notices)
        return replace(query, filters=filters, notices=notices, described=described, left_out=left_out)

    def _chosen(self, profile: str | Profile | None) -> Profile:
        chosen = self._profile
        if profile is not None:
            chosen = (self._used.get(profile) if isinstance(profile, str) else None) or profile_named(profile)
            self._used[chosen.name] = chosen
        if not chosen.adaptive:
            return chosen
        with self._storage.snapshot() as snapshot:
            return adapted(chosen, *snapshot.accepted())

    def _search(self, query: Query, profile: Profile) -> SearchRequest:
        embedder, notices = self._model.for_searching()
        return SearchRequest(query, profile, embedder, self._settings.threshold, notices)


def _with_description(hit: Hit, described: Mapping[tuple[str, str], str]) -> Hit:
    source, of_it = hit.memory.source, hit.memory.space
    above = [path for space, path in described if space == of_it and is_at_or_below(source, path)]
    return replace(hit, folder_description=described[of_it, max(above, key=len)]) if above else hit
