"""What a query means in this very store: spellings of words that it does not hold, the time and sessions it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import apsw

from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.search.query.temporal import told
from jupyter_memory.storage import sampling, spelling
from jupyter_memory.storage.expressions import expression
from jupyter_memory.storage.filters import condition
from jupyter_memory.storage.statistics import Statistics
from jupyter_memory.types import Anchor, Filters, Query, Terms

_NUMBER = re.compile(r"\d+")


def settled(
    connection: apsw.Connection, query: Query, profile: Profile, counts: Statistics | None = None
) -> tuple[Query, tuple[str, ...]]:
    """Return the query with what depends on the store filled in, for a profile that looks at it, and notices."""
    if not profile.timed:
        return query, ()
    query, respelled = spelling.respelled(connection, query, profile.columns, counts)
    notices = (*respelled, *_missing(connection, query.terms, profile.columns))
    if query.anchor is None:
        return query, notices
    then = _then(connection, query.anchor, query.filters)
    if then is None:
        return query, notices
    where, parameters = condition(query.filters & then)
    found = connection.execute(f"select exists (select 1 from memories where {where})", parameters).get
    return replace(query, then=then), (*notices, told(query.anchor, empty=not found))


def _missing(connection: apsw.Connection, terms: Terms, columns: Mapping[str, float]) -> Iterator[str]:
    """Yield what is to be said of quoted words that stand nowhere side by side."""
    for phrase in terms.phrases:
        # One word is no phrase, and text without spaces is indexed in pairs of its characters.
        if " " not in phrase:
            continue
        match = expression(Terms(phrases=(phrase,)), columns)
        if not connection.execute("select exists (select 1 from keyword where keyword match ?)", (match,)).get:
            yield f"Nothing here holds the words “{phrase}” side by side; without the quotes each is looked for."


def _then(connection: apsw.Connection, anchor: Anchor, filters: Filters) -> Filters | None:
    """Return the time or the sessions of an anchor as filters, None where the store numbers no sessions."""
    if anchor.sessions is None:
        return Filters(since=anchor.since, until=anchor.until)
    where, parameters = condition(filters)
    numbers = {
        name: int(found[0])
        for name in sampling.sessions(connection, where, parameters)
        if (found := _NUMBER.findall(name)[-1:])
    }
    if not numbers:
        return None
    first, last = anchor.sessions.among(max(numbers.values()))
    return Filters(session=tuple(name for name, number in numbers.items() if first <= number <= last) or ("",))
