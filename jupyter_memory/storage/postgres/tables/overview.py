"""What a store holds within filters: its memories without a question, their values and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import SHOWN_TIER, condition
from jupyter_memory.storage.postgres.tables import memories
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Filters, Memory, Selection

# Browsing shows what people chose to keep before what was indexed; a search ranks the tiers differently. Cells of one
# time come in the order of their file, whose cells are written together.
_BROWSE_ORDER = (
    f"case {SHOWN_TIER} when 'core' then 0 when 'note' then 1 when 'mcp' then 2 "
    "else 3 + (kind = 'history')::integer end, event_at desc, source, memories.key"
)


def selection(session: Session, filters: Filters) -> Selection:
    """Return which memories a filter lets through, with their kinds, and how many have a pin or a tag."""
    where, parameters = condition(filters)
    tagged = "exists (select 1 from tags where tags.space = memories.space and tags.memory = memories.key)"
    rows = session.rows(f"select id, kind, pinned, {tagged} from memories where {where} order by key", parameters)
    return Selection(
        ids=tuple(str(row[0]) for row in rows),
        kinds=dict(Counter(str(row[1]) for row in rows).most_common()),
        pinned=sum(bool(row[2]) for row in rows),
        tagged=sum(bool(row[3]) for row in rows),
        filters=filters,
    )


def browse(session: Session, filters: Filters, limit: int) -> list[Memory]:
    """Return memories without a query: core, note, mcp, file, history; the newest first within each."""
    where, parameters = condition(filters)
    rows = session.rows(
        f"{memories.SELECT} where {where} order by {_BROWSE_ORDER} limit %(limit)s", {**parameters, "limit": limit}
    )
    return [memories.memory_of(row) for row in rows]


def facet_counts(session: Session, filters: Filters) -> dict[str, dict[str, int]]:
    """Return how many of the memories that a filter lets through have each value of kind, lang, tier and tag."""
    where, parameters = condition(filters)
    found: dict[str, dict[str, int]] = {"kind": {}, "lang": {}, "tier": {}}
    together = (
        f"select kind, lang, {SHOWN_TIER}, count(*) from memories where {where} group by 1, 2, 3 order by 1, 2, 3"
    )
    for *values, number in session.rows(together, parameters):
        for of_facet, value in zip(found.values(), values, strict=True):
            of_facet[value] = of_facet.get(value, 0) + number
    tagged = f"""
        select tag, count(*) from tags join memories on memories.space = tags.space and memories.key = tags.memory
        where {where} group by tag order by tag
    """
    return {**found, "tag": dict(session.rows(tagged, parameters))}


def count(session: Session, filters: Filters) -> int:
    """Return how many memories a filter lets through."""
    where, parameters = condition(filters)
    return int(session.value(f"select count(*) from memories where {where}", parameters))


def sessions(session: Session, filters: Filters) -> list[str]:
    """Return the names of all sessions of the memories that the filters let through."""
    where, parameters = condition(filters)
    rows = session.rows(
        f"select distinct session from memories where session is not null and {where} order by 1", parameters
    )
    return [row[0] for row in rows]


def tags(session: Session) -> list[str]:
    """Return every tag of a store, the most used first."""
    rows = session.rows(f"select tag from tags where {of('tags')} group by tag order by count(*) desc, tag")
    return [row[0] for row in rows]


def known_contents(session: Session, contents: Mapping[str, str], filters: Filters) -> set[str]:
    """Return the ids, among those with these content hashes, that are there, or whose content another memory has."""
    where, parameters = condition(filters)
    rows = session.rows(
        f"""
        select id, content_hash from memories
        where {where} and (id = any(%(ids)s) or content_hash = any(%(contents)s))
        """,
        {**parameters, "ids": [*map(storable, contents)], "contents": [*map(storable, contents.values())]},
    )
    others = {content for id_, content in rows if id_ not in contents}
    return {id_ for id_, _ in rows if id_ in contents} | {one for one, held in contents.items() if held in others}
