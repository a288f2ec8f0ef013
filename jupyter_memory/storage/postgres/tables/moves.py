"""Memories whose file or folder has a new path, as rows, within the caller's transaction."""

from __future__ import annotations

import os
from typing import Any

from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import at_or_below
from jupyter_memory.storage.postgres.tables import memories


def in_the_way(session: Session, old: str, new: str) -> list[int]:
    """Return the keys of memories at the new path that must be removed: what was indexed there, and equal notes."""
    parameters: dict[str, Any] = {"old": old, "new": new}
    there = at_or_below("source", "from", [old], parameters)
    rows = session.rows(
        f"""
        with moving as (
            select {_moved("source")} as target, space, kind, location, content_hash
            from memories where {of("memories")} and {there}
        )
        select distinct memories.key
        from memories join moving on memories.space = moving.space and memories.source = moving.target
        where memories.kind in ('file', 'cell') and moving.kind in ('file', 'cell')
            or (memories.kind, memories.location, memories.content_hash)
                = (moving.kind, moving.location, moving.content_hash)
        """,
        parameters,
    )
    return [row[0] for row in rows]


def move(session: Session, old: str, new: str) -> int:
    """Give everything at or below the old path its new one; return how many memories moved.

    The files are marked to be read again, since titles and contexts contain their names.
    """
    parameters: dict[str, Any] = {"old": old, "new": new}
    source, notebook, path = (at_or_below(name, name, [old], parameters) for name in ("source", "notebook", "path"))
    moved = [
        row[0]
        for row in session.rows(
            f"update memories set source = {_moved('source')} where {of('memories')} and {source} returning key",
            parameters,
        )
    ]
    memories.identify(session, moved)
    session.execute(f"update runs set notebook = {_moved('notebook')} where {of('runs')} and {notebook}", parameters)
    for table in ("files", "folders"):
        # What is noted at the new path gives way to what is noted of the file that is there now.
        targets = f"select space, md5({_moved('path')}) from {table} where {of(table)} and {path}"
        session.execute(f"delete from {table} where {of(table)} and (space, md5(path)) in ({targets})", parameters)
    session.execute(
        f"update files set path = {_moved('path')}, mtime_ns = -1, content_hash = '' where {of('files')} and {path}",
        parameters,
    )
    session.execute(f"update folders set path = {_moved('path')} where {of('folders')} and {path}", parameters)
    return len(moved)


def drop_vacated(session: Session, space: str) -> None:
    """Remove unwatched folders that no longer exist and hold no memories, with the record of their files."""
    rows = session.rows("select path from folders where space = %(space)s and not watched", {"space": space})
    for path in (str(row[0]) for row in rows):
        if os.path.lexists(path):
            continue
        parameters: dict[str, Any] = {"space": space, "path": path}
        source, below = (at_or_below(name, name, [path], parameters) for name in ("source", "path"))
        held = f"space = %(space)s and kind in ('file', 'cell') and {source}"
        if session.value(f"select exists (select 1 from memories where {held})", parameters):
            continue
        session.execute("delete from folders where space = %(space)s and path = %(path)s", parameters)
        session.execute(f"delete from files where space = %(space)s and {below}", parameters)


def _moved(column: str) -> str:
    return f"%(new)s || substr({column}, length(%(old)s) + 1)"
