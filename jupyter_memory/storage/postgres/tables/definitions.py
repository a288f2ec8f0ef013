"""The names that memories in Python define as rows, within the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.text.code import PYTHON, Definitions

_LACKING = f"""
    {of("memories")} and lower(memories.lang) = lower(%(python)s) and not exists (
        select 1 from definitions where definitions.space = memories.space and definitions.memory = memories.key
    )
"""


def insert(session: Session, found: Mapping[int, Definitions]) -> int:
    """Write what memories define, for those that are there, are in Python and have no definitions; return how many."""
    if not found:
        return 0
    names = list(found.values())
    return session.changed(
        f"""
        insert into definitions (space, memory, defined, assigned, nested)
        select memories.space, memories.key, held.defined, held.assigned, held.nested
        from unnest(%(keys)s::bigint[], %(defined)s::text[], %(assigned)s::text[], %(nested)s::text[])
            as held (key, defined, assigned, nested)
        join memories on memories.key = held.key
        where {_LACKING}
        """,
        {
            "python": PYTHON,
            "keys": list(found),
            "defined": [one.defined for one in names],
            "assigned": [one.assigned for one in names],
            "nested": [one.nested for one in names],
        },
    )


def of_memories(session: Session, keys: Sequence[int]) -> dict[int, Definitions]:
    """Return what memories define, by key, for those for which it is stored."""
    rows = session.rows(
        "select memory, defined, assigned, nested from definitions "
        f"where {of('definitions')} and memory = any(%(keys)s) order by memory",
        {"keys": list(keys)},
    )
    return {row[0]: Definitions(*row[1:]) for row in rows}


def lacking(session: Session, count: int, after: int) -> list[int]:
    """Return up to ``count`` memories in Python without definitions, those above ``after``, lowest first."""
    rows = session.rows(
        f"select key from memories where {_LACKING} and key > %(after)s order by key limit %(count)s",
        {"python": PYTHON, "after": after, "count": count},
    )
    return [row[0] for row in rows]


def drop(session: Session, keys: Sequence[int]) -> None:
    """Remove what memories define."""
    session.execute(
        f"delete from definitions where {of('definitions')} and memory = any(%(keys)s)", {"keys": list(keys)}
    )
