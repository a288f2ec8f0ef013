"""From the keywords of a search to its answer: the query made, the profile and the embedder chosen."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, TypedDict, TypeVar, cast
from zoneinfo import ZoneInfo

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import QueryError
from jupyter_memory.search.engine import SearchEngine, SearchRequest
from jupyter_memory.search.explanation import why_here
from jupyter_memory.search.presentation.notices import with_notices
from jupyter_memory.search.profiles import Profile, profile_named
from jupyter_memory.search.profiles.adaptive import adapted
from jupyter_memory.search.query.filters import filters_from, from_folder
from jupyter_memory.search.query.parser import parse
from jupyter_memory.search.query_vectors import QueryVectors
from jupyter_memory.search.reweighting import Pooled
from jupyter_memory.store.model import StoreModel
from jupyter_memory.text.dates.moments import moment
from jupyter_memory.types import Answer, Explanation, Filters, Query, as_tuple
from jupyter_memory.types.answer import Trace

Moment = str | date | datetime | None
Chosen = Filters | Mapping[str, Any] | None
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Listing(TypedDict, total=False):
    """The keywords of a list; ``MemoryStore.search`` explains them."""

    limit: int | None
    filters: Chosen
    since: Moment
    until: Moment


class Asked(Listing, total=False):
    """The keywords of a question; ``MemoryStore.search`` explains them."""

    profile: str | Profile | None
    now: Moment
    tags: str | Sequence[str]
    domain: str | None


def keywords(known: type[Listing]) -> Callable[[_Function], _Function]:
    """Show these keywords one by one in a function's signature, where completion and help look for them."""

    def decorate(function: _Function) -> _Function:
        written = inspect.signature(function)
        own = [one for one in written.parameters.values() if one.kind is not one.VAR_KEYWORD]
        shown = [
            # What is written in the class, not the reference that it was made.
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=() if name == "tags" else None,
                annotation=getattr(of, "__forward_arg__", of),
            )
            for name, of in known.__annotations__.items()
        ]
        shown = sorted([*own, *shown], key=lambda one: one.kind)
        function.__signature__ = written.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return decorate


class Asking:
    """What one store is asked; ``space`` bounds every question unless its filters name another.

    Relative paths among filters are those of ``folder``, of the working folder where it is empty.
    """

    def __init__(
        self,
        searcher: SearchEngine,
        model: StoreModel,
        questions: QueryVectors,
        settings: JupyterMemory,
        profile: Profile,
        space: str,
        folder: str = "",
    ) -> None:
        self._folder = folder
        self._searcher = searcher
        self._questions = questions
        self._model = model
        self._settings = settings
        self._profile = profile
        self._space = space
        # A person's own profiles have no registry: those that were used can be asked about later.
        self._used: dict[str, Profile] = {profile.name: profile}

    def answer(self, text: str, asked: Asked, *, prefix: bool, time: bool) -> Answer:
        """Return the hits for a question."""
        query, chosen = self._query(text, asked, prefix, time), self._chosen(asked.get("profile"))
        if not query.text:  # nothing but filters was typed
            return with_notices(self._searcher.browse(query.filters, query), self._searcher.storage)
        answer = self._searcher.answer(self._search(query, chosen))
        self._questions.settle()
        return with_notices(answer, self._searcher.storage)

    def pooled(self, text: str, asked: Asked) -> Pooled:
        """Return the answer to a question with the whole pool that it was chosen from."""
        query, chosen = self._query(text, asked), self._chosen(asked.get("profile"))
        if not query.text:
            raise QueryError("Without a question nothing is ranked, so there is nothing to weigh. Add some words.")
        pooled = self._searcher.pooled(self._search(query, chosen))
        self._questions.settle()
        return pooled

    def trace(self, text: str, asked: Asked, *, prefix: bool, time: bool) -> Trace:
        """Return the hits for a question with every list that was made for them."""
        query, chosen = self._query(text, asked, prefix, time), self._chosen(asked.get("profile"))
        if not query.text:
            return Trace(self.answer(text, asked, prefix=prefix, time=time), (), (), (), {})
        trace = self._searcher.trace(self._search(query, chosen))
        self._questions.settle()
        return replace(trace, answer=with_notices(trace.answer, self._searcher.storage))

    def related(self, memory_id: str, asked: Asked) -> Answer:
        """Return what is like a memory."""
        base, chosen = self._query("*", asked), self._chosen(asked.get("profile"))
        answer = self._searcher.related(self._search(base, chosen), memory_id)
        return with_notices(answer, self._searcher.storage)

    def browsed(self, listed: Listing) -> Answer:
        """Return what there is, without a question."""
        _refuse_unknown(listed, Listing)
        query = self._query("*", cast("Asked", listed))
        answer = self._searcher.browse(query.filters, replace(query, text="", written=""))
        return with_notices(answer, self._searcher.storage)

    def explanation(self, text: str, memory_id: str, asked: Asked, *, prefix: bool, time: bool) -> Explanation:
        """Say why a memory is where it is for a question."""
        return self._explained(self._query(text, asked, prefix, time), memory_id, self._chosen(asked.get("profile")))

    def explanation_in(self, answer: Answer, memory_id: str) -> Explanation:
        """Say why a memory is where it is in an answer given before: with its query, its time, its filters."""
        for hit in answer.hits:
            if hit.memory.id == memory_id and hit.signals:
                without = self._searcher.runs.without(answer.query_id, memory_id)
                reasons = why_here(hit, answer.counts["fused"], answer.query.limit, answer.profile, without)
                return Explanation(hit.memory, answer.query.text, answer.profile, hit.rank, hit, reasons, without)
        if not answer.query.text:
            raise QueryError("These memories were listed without a question, so nothing was ranked. Search first.")
        return self._explained(answer.query, memory_id, self._chosen(answer.profile))

    def filters(self, filters: Chosen, since: Moment, until: Moment, now: datetime) -> Filters:
        """Return checked filters, bound to the store's space unless they name one."""
        return self._bound(filters_from(filters, since, until, now))

    def _query(self, text: str, asked: Asked, prefix: bool = False, time: bool = True) -> Query:
        _refuse_unknown(asked, Asked)
        now, limit = asked.get("now"), asked.get("limit")
        this_moment = datetime.now(UTC)
        at = moment(now, this_moment) or this_moment
        if isinstance(now, datetime) and isinstance(now.tzinfo, ZoneInfo):
            at = at.astimezone(now.tzinfo)  # "yesterday" is that of the place
        query = parse(
            text,
            now=at,
            limit=self._settings.limit if limit is None else limit,
            filters=filters_from(asked.get("filters"), asked.get("since"), asked.get("until"), at),
            prefix=prefix,
            time=time,
            tags=as_tuple(asked.get("tags", ())),
            domain=asked.get("domain"),
        )
        return replace(query, filters=self._bound(query.filters))

    def _bound(self, filters: Filters) -> Filters:
        found = from_folder(filters, self._folder) if self._folder else filters
        return found.with_defaults(space=(self._space,)) if self._space else found

    def _chosen(self, profile: str | Profile | None) -> Profile:
        if profile is None:
            return self._learnt(self._profile)
        chosen = (self._used.get(profile) if isinstance(profile, str) else None) or profile_named(profile)
        self._used[chosen.name] = chosen
        return self._learnt(chosen)

    def _learnt(self, profile: Profile) -> Profile:
        """Return a profile as what was said of this store's hits has made it."""
        if not profile.adaptive:
            return profile
        with self._searcher.storage.snapshot() as snapshot:
            return adapted(profile, *snapshot.accepted())

    def _search(self, query: Query, profile: Profile) -> SearchRequest:
        """Return the search for a query, by the model that the store uses at the moment."""
        embedder, notices = self._model.for_searching()
        return SearchRequest(query, profile, embedder, self._settings.threshold, notices)

    def _explained(self, query: Query, memory_id: str, profile: Profile) -> Explanation:
        return self._searcher.explain(self._search(query, profile), memory_id)


def _refuse_unknown(given: Listing, known: type[Listing]) -> None:
    if unknown := sorted(set(given) - set(known.__annotations__)):
        raise TypeError(f"There is no keyword {', '.join(unknown)}. There are: {', '.join(known.__annotations__)}.")
