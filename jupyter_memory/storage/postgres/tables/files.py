"""The files that were read, as rows, within the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import at_or_below
from jupyter_memory.storage.shared.paths import spellings
from jupyter_memory.storage.shared.rows import to_micros
from jupyter_memory.types.protocols import FileState

INDEXED = "('file', 'cell')"  # the kinds of memory that come from files
# The memories that a file holds; the beginning of its path is in an index.
HELD = f"""
    memories.space = files.space and left(memories.source, 200) = left(files.path, 200)
    and memories.source = files.path and memories.kind in {INDEXED}
"""
_EMPTY = f"not exists (select 1 from memories where {HELD})"
# Conditions that memories are of some files, and that the row of a file is one of those.
SOURCES = f"""
    left(memories.source, 200) = any(array(select left(path, 200) from unnest(%(paths)s::text[]) as path))
    and memories.source = any(%(paths)s) and memories.kind in {INDEXED} and memories.space = %(space)s
"""


def under(session: Session, root: str, space: str) -> dict[str, FileState]:
    """Return the files at or below a path that are indexed in a space, by path."""
    parameters: dict[str, Any] = {"space": space}
    below = at_or_below("path", "root", [root], parameters)
    rows = session.rows(
        "select path, mtime_ns, size, content_hash, indexed_at, dated from files "
        f"where {of('files')} and space = %(space)s and {below} order by path",
        parameters,
    )
    return {row[0]: replace(FileState(*row[:-1]), dated=row[-1]) for row in rows}


def states(session: Session, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
    """Return what is known of files, by path and space."""
    rows = session.rows(
        f"""
        select files.space, files.path, mtime_ns, size, content_hash, indexed_at, dated
        from unnest(%(paths)s::text[], %(spaces_of)s::text[]) as place (path, space)
        join files on files.space = place.space and md5(files.path) = md5(place.path) where {of("files")}
        """,
        {"paths": [path for path, _ in places], "spaces_of": [space for _, space in places]},
    )
    return {(row[1], row[0]): replace(FileState(*row[1:-1]), dated=row[-1]) for row in rows}


def every(session: Session, space: str) -> Iterator[tuple[str, FileState]]:
    """Yield the files that are indexed in a space, or in all if it is empty, each with its space."""
    rows = session.rows(
        "select space, path, mtime_ns, size, content_hash, indexed_at, pictures, dated from files "
        f"where {of('files')} and %(space)s in ('', space) order by space, path",
        {"space": space},
    )
    return ((row[0], replace(FileState(*row[1:-2]), pictures=row[-2], dated=row[-1])) for row in rows)


def restore(session: Session, found: Iterable[tuple[str, FileState]]) -> None:
    """Note files that were read for another store, each with its space; what is known of one already stays."""
    rows = [
        {
            "space": space,
            "path": state.path,
            "mtime_ns": state.mtime_ns,
            "size": state.size,
            "content_hash": state.content_hash,
            "indexed_at": state.indexed_at or 0,
            "pictures": bool(state.pictures),
            "dated": bool(state.dated),
        }
        for space, state in found
    ]
    for row in rows:
        session.include(str(row["space"]))
    sql.insert(session, "files", rows, conflict="on conflict do nothing")


def note(session: Session, states: Sequence[FileState], now: datetime, space: str) -> None:
    """Note that files were read."""
    session.include(space)
    session.execute(
        """
        insert into files (space, path, mtime_ns, size, content_hash, indexed_at, pictures, dated)
        select %(space)s, path, mtime_ns, size, content_hash, %(now)s, coalesce(pictures, false), coalesce(dated, false)
        from unnest(%(paths)s::text[], %(times)s::bigint[], %(sizes)s::bigint[], %(hashes)s::text[],
            %(pictures)s::boolean[], %(dated)s::boolean[])
            as noted (path, mtime_ns, size, content_hash, pictures, dated)
        on conflict (space, md5(path)) do update set
            mtime_ns = excluded.mtime_ns, size = excluded.size, content_hash = excluded.content_hash,
            indexed_at = excluded.indexed_at,
            pictures = case when excluded.path = any(%(unsaid)s) then files.pictures else excluded.pictures end,
            dated = case when excluded.path = any(%(undated)s) then files.dated else excluded.dated end
        """,
        {
            "space": space,
            "now": to_micros(now),
            "paths": [state.path for state in states],
            "times": [state.mtime_ns for state in states],
            "sizes": [state.size for state in states],
            "hashes": [state.content_hash for state in states],
            "pictures": [state.pictures for state in states],
            "dated": [state.dated for state in states],
            "unsaid": [state.path for state in states if state.pictures is None],
            "undated": [state.path for state in states if state.dated is None],
        },
    )


def lock(session: Session, paths: Sequence[str], space: str) -> None:
    """Keep others from writing these files until the transaction ends, whether they are noted already or not."""
    session.execute(
        """
        select pg_advisory_xact_lock(locked.number)
        from (
            select distinct hashtextextended(%(space)s || chr(1) || path, 0) as number
            from unnest(%(paths)s::text[]) as path order by 1
        ) as locked
        """,
        {"space": space, "paths": list(paths)},
    )


def drop(session: Session, paths: Sequence[str], space: str) -> None:
    """Drop the record of files; the caller removes their memories."""
    session.execute(
        "delete from files where space = %(space)s and md5(path) = any(array(select md5(unnest(%(paths)s::text[]))))",
        {"space": space, "paths": list(paths)},
    )


def memories(session: Session, paths: Sequence[str], space: str) -> list[int]:
    """Return the keys of the memories that files hold in a space."""
    rows = session.rows(
        f"select key from memories where {of('memories')} and {SOURCES} order by key",
        {"paths": list(paths), "space": space},
    )
    return [row[0] for row in rows]


def holding(session: Session) -> list[tuple[str, str]]:
    """Return path and space of the files that hold any memory; one that could not be read, or is empty, holds none."""
    rows = session.rows(f"select path, space from files where {of('files')} and not ({_EMPTY})")
    return [(str(path), str(space)) for path, space in rows]


def texts(session: Session, paths: Sequence[str], space: str) -> dict[str, list[tuple[str, str]]]:
    """Return the location and the text of each memory of some files, by path."""
    found: dict[str, list[tuple[str, str]]] = {}
    rows = session.rows(
        f"""
        select source, location, text
        from memories join texts on texts.space = memories.space and texts.memory = memories.key
        where {of("memories")} and {SOURCES} order by memories.key
        """,
        {"paths": list(paths), "space": space},
    )
    for path, location, text in rows:
        found.setdefault(str(path), []).append((str(location), str(text)))
    return found


def drop_emptied(session: Session, held: Sequence[tuple[str, str]], paths: Sequence[str]) -> int:
    """Drop the record of files that hold no memory now, and of all such files below some paths; return how many."""
    dropped = session.changed(
        f"""
        delete from files using unnest(%(paths)s::text[], %(spaces_of)s::text[]) as held (path, space)
        where {of("files")} and files.space = held.space and md5(files.path) = md5(held.path) and {_EMPTY}
        """,
        {"paths": [path for path, _ in held], "spaces_of": [space for _, space in held]},
    )
    if paths:
        parameters: dict[str, Any] = {}
        below = at_or_below("files.path", "path", [form for path in paths for form in spellings(path)], parameters)
        dropped += session.changed(f"delete from files where {of('files')} and {below} and {_EMPTY}", parameters)
    return dropped


def drop_all_empty(session: Session) -> int:
    """Drop the record of every file that holds no memory; return how many there were."""
    return session.changed(f"delete from files where {of('files')} and {_EMPTY}")
