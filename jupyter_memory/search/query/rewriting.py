"""What a query means in this very store: other forms and spellings of words, and the time or sessions it names."""

from __future__ import annotations

import re
from dataclasses import replace

from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.search.query.inflections import inflected
from jupyter_memory.search.query.phrases import missing_phrases
from jupyter_memory.search.query.spelling import respelled
from jupyter_memory.search.query.temporal import notice_of
from jupyter_memory.storage.base import Snapshot
from jupyter_memory.types import Filters, Query, TemporalExpression

_NUMBER = re.compile(r"\d+")
# Kernels have sessions too, but nobody counts these.
_TALK = Filters(not_kind=("history",))


def rewrite(query: Query, snapshot: Snapshot, profile: Profile) -> tuple[Query, tuple[str, ...]]:
    """Return the query with what depends on the store filled in, and notices; only a timed profile asks for that."""
    if not profile.timed:
        return query, ()
    query, spellings = respelled(inflected(query, snapshot), snapshot, profile.columns)
    notices = (*spellings, *missing_phrases(query.terms, snapshot, profile.columns))
    if query.temporal is None:
        return query, notices
    then = _time_filters(query.temporal, query.filters, snapshot)
    if then is None:
        return query, notices
    empty = not snapshot.exists(query.filters & then)
    return replace(query, time_filters=then), (*notices, notice_of(query.temporal, empty=empty))


def _time_filters(temporal: TemporalExpression, filters: Filters, snapshot: Snapshot) -> Filters | None:
    """Return the time or the sessions that a query names as filters, None where the store numbers no sessions."""
    if temporal.sessions is None:
        return Filters(since=temporal.since, until=temporal.until)
    named = snapshot.sessions(filters & _TALK)
    numbers = {name: int(found[0]) for name in named if (found := _NUMBER.findall(name)[-1:])}
    if not numbers:
        return None
    first, last = temporal.sessions.among(max(numbers.values()))
    return Filters(session=tuple(name for name, number in numbers.items() if first <= number <= last) or ("",))
