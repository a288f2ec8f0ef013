"""Memories whose file or folder has a new path, as rows, within the caller's transaction."""

from __future__ import annotations

import os

import apsw

from jupyter_memory.storage.shared.paths import below


def in_the_way(connection: apsw.Connection, old: str, new: str) -> list[int]:
    """Return the keys of memories at the new path that must be removed: what was indexed there, and equal notes."""
    found = connection.execute(
        f"""
        with moving as (
            select :new || substr(source, length(:old) + 1) as target, space, kind, location, content_hash
            from memories where {_at("source")}
        )
        select memories.key from memories join moving on memories.source = moving.target
            and memories.space = moving.space
        where memories.kind in ('file', 'cell') and moving.kind in ('file', 'cell')
            or (memories.kind, memories.location, memories.content_hash)
                = (moving.kind, moving.location, moving.content_hash)
        group by memories.key
        """,
        _named(old, new),
    )
    return [row[0] for row in found]


def move(connection: apsw.Connection, old: str, new: str) -> int:
    """Give everything at or below the old path its new one; return how many memories moved.

    The files are marked to be read again, since titles and contexts contain their names.
    """
    names = _named(old, new)
    connection.execute(
        f"update memories set source = :new || substr(source, length(:old) + 1) where {_at('source')}", names
    )
    moved = connection.changes()
    connection.execute(
        f"update runs set notebook = :new || substr(notebook, length(:old) + 1) where {_at('notebook')}", names
    )
    connection.execute(
        f"delete from files where (path, space) in "
        f"(select :new || substr(path, length(:old) + 1), space from files where {_at('path')})",
        names,
    )
    connection.execute(
        f"""
        update files set path = :new || substr(path, length(:old) + 1), mtime_ns = -1, content_hash = ''
        where {_at("path")}
        """,
        names,
    )
    # A folder that is noted at the new path already stays as it is noted there.
    connection.execute(
        f"update or replace folders set path = :new || substr(path, length(:old) + 1) where {_at('path')}", names
    )
    return moved


def drop_vacated(connection: apsw.Connection, space: str) -> None:
    """Remove unwatched folders that no longer exist and hold no memories, with the record of their files."""
    found = connection.execute("select path from folders where space = ? and not watched", (space,)).fetchall()
    for path in (str(row[0]) for row in found):
        if os.path.lexists(path):
            continue
        where = {"space": space, **dict(zip(("at", "low", "high"), below(path), strict=True))}
        held = "space = :space and kind in ('file', 'cell') and (source = :at or (source >= :low and source < :high))"
        if connection.execute(f"select exists (select 1 from memories where {held})", where).get:
            continue
        connection.execute("delete from folders where space = :space and path = :at", where)
        connection.execute(
            "delete from files where space = :space and (path = :at or (path >= :low and path < :high))", where
        )


def _at(column: str) -> str:
    return f"({column} = :old or ({column} >= :low and {column} < :high))"


def _named(old: str, new: str) -> dict[str, str]:
    _, low, high = below(old)
    return {"old": old, "new": new, "low": low, "high": high}
