"""Files, folders, and where files were moved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.sql import at_or_below
from jupyter_memory.storage.shared import (
    FolderRow,
    below,
    from_micros,
    is_below,
    micros,
    spellings,
    to_micros,
    topmost_unnoted,
)
from jupyter_memory.storage.writing import NotedFolder
from jupyter_memory.types.protocols import UNREAD, FileState
from jupyter_memory.types.report import Folder

INDEXED = "('file', 'cell')"  # the kinds of memory that come from files
# The memories that a file holds; the beginning of its path is in an index.
HELD = f"""
    memories.space = files.space and left(memories.source, 200) = left(files.path, 200)
    and memories.source = files.path and memories.kind in {INDEXED}
"""
_EMPTY = f"not exists (select 1 from memories where {HELD})"
# Conditions that memories are of some files, and that the row of a file is one of those.
SOURCES = f"""
    left(memories.source, 200) = any(array(select left(path, 200) from unnest(:paths::text[]) as path))
    and memories.source = any(:paths) and memories.kind in {INDEXED} and memories.space = :space
"""


def under(session: Session, root: str, space: str) -> dict[str, FileState]:
    parameters: dict[str, Any] = {"space": space}
    below = at_or_below("path", "root", [root], parameters)
    rows = session.rows(
        "select path, mtime_ns, size, content_hash, indexed_at, dated from files "
        f"where {of('files')} and space = :space and {below} order by path",
        **parameters,
    )
    return {row[0]: replace(FileState(*row[:-1]), dated=row[-1]) for row in rows}


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
    session.include(space)
    session.execute(
        """
        insert into files (space, path, mtime_ns, size, content_hash, indexed_at, pictures, dated)
        select :space, path, mtime_ns, size, content_hash, :now, coalesce(pictures, false), coalesce(dated, false)
        from unnest(:paths::text[], :times::bigint[], :sizes::bigint[], :hashes::text[],
            :pictures::boolean[], :dated::boolean[])
            as noted (path, mtime_ns, size, content_hash, pictures, dated)
        on conflict (space, md5(path)) do update set
            mtime_ns = excluded.mtime_ns, size = excluded.size, content_hash = excluded.content_hash,
            indexed_at = excluded.indexed_at,
            pictures = case when excluded.path = any(:unsaid) then files.pictures else excluded.pictures end,
            dated = case when excluded.path = any(:undated) then files.dated else excluded.dated end
        """,
        space=space,
        now=to_micros(now),
        paths=[state.path for state in states],
        times=[state.mtime_ns for state in states],
        sizes=[state.size for state in states],
        hashes=[state.content_hash for state in states],
        pictures=[state.pictures for state in states],
        dated=[state.dated for state in states],
        unsaid=[state.path for state in states if state.pictures is None],
        undated=[state.path for state in states if state.dated is None],
    )


def lock(session: Session, paths: Sequence[str], space: str) -> None:
    """Keep others from writing these files until the transaction ends, whether they are noted already or not."""
    session.execute(
        """
        select pg_advisory_xact_lock(locked.number)
        from (
            select distinct hashtextextended(:space || chr(1) || path, 0) as number
            from unnest(:paths::text[]) as path order by 1
        ) as locked
        """,
        space=space,
        paths=list(paths),
    )


def drop(session: Session, paths: Sequence[str], space: str) -> None:
    session.execute(
        "delete from files where space = :space and md5(path) = any(array(select md5(unnest(:paths::text[]))))",
        space=space,
        paths=list(paths),
    )


def memories_of_paths(session: Session, paths: Sequence[str], space: str) -> list[int]:
    rows = session.rows(
        f"select key from memories where {of('memories')} and {SOURCES} order by key",
        paths=list(paths),
        space=space,
    )
    return [row[0] for row in rows]


def holding(session: Session) -> list[tuple[str, str]]:
    rows = session.rows(f"select path, space from files where {of('files')} and not ({_EMPTY})")
    return [(str(path), str(space)) for path, space in rows]


def drop_emptied(session: Session, held: Sequence[tuple[str, str]], paths: Sequence[str]) -> None:
    """Drop the record of files that hold no memory now, and of all such files below some paths."""
    session.execute(
        f"""
        delete from files using unnest(:paths::text[], :spaces_of::text[]) as held (path, space)
        where {of("files")} and files.space = held.space and md5(files.path) = md5(held.path) and {_EMPTY}
        """,
        paths=[path for path, _ in held],
        spaces_of=[space for _, space in held],
    )
    if paths:
        parameters: dict[str, Any] = {}
        below = at_or_below("files.path", "path", [form for path in paths for form in spellings(path)], parameters)
        session.execute(f"delete from files where {of('files')} and {below} and {_EMPTY}", **parameters)


def drop_all_empty(session: Session) -> None:
    session.execute(f"delete from files where {of('files')} and {_EMPTY}")


# The folders that were indexed, as rows, within the caller's transaction.

_NOTE = "insert into folders (space, path, watched, indexed_at) values (:space, :path, :watched, :at)"


def note_folder(session: Session, path: str, space: str, now: datetime) -> None:
    """Note that a folder was indexed: it takes the place of those below it that are not watched."""
    session.include(space)
    known = {row.path for row in noted_folders(session, space)}
    if path not in known and any(is_below(path, folder) for folder in known):
        return
    _, low, high = below(path)
    session.execute(
        "delete from folders where space = :space and path >= :low and path < :high and not watched",
        space=space,
        low=low,
        high=high,
    )
    session.execute(
        f"{_NOTE} on conflict (space, md5(path)) do update set indexed_at = excluded.indexed_at",
        space=space,
        path=path,
        watched=False,
        at=to_micros(now),
    )


def restore_folders(session: Session, found: Iterable[NotedFolder]) -> None:
    rows = [
        {"space": one.space, "path": one.path, "watched": one.watched, "indexed_at": micros(one.indexed_at)}
        for one in found
    ]
    for row in rows:
        session.include(str(row["space"]))
    sql.insert(session, "folders", rows, conflict="on conflict do nothing")


def watch_folder(session: Session, path: str, space: str, watched: bool) -> None:
    session.include(space)
    parameters: dict[str, Any] = {"space": space}
    there = at_or_below("path", "folder", [path], parameters)
    at = session.value(f"select max(indexed_at) from files where space = :space and {there}", **parameters)
    if at is not None:
        above = (row.indexed_at for row in noted_folders(session, space) if is_below(path, row.path))
        at = max([int(at), *filter(None, above)])
    session.execute(
        f"{_NOTE} on conflict (space, md5(path)) do update set watched = excluded.watched",
        space=space,
        path=path,
        watched=watched,
        at=at,
    )


def remove_folder(session: Session, path: str, space: str) -> None:
    parameters: dict[str, Any] = {"space": space}
    there = at_or_below("path", "folder", [path], parameters)
    session.execute(f"delete from folders where space = :space and {there}", **parameters)


def listed_folders(session: Session, space: str) -> list[Folder]:
    """Return the folders of a space by path, with those that hold files and were never noted; the disk is not read."""
    rows = noted_folders(session, space)
    files = session.rows("select path, indexed_at from files where space = :space order by path", space=space)
    rows += topmost_unnoted(files, {row.path for row in rows})
    return [
        Folder(
            row.path,
            row.watched,
            *_counts(session, row.path, space),
            changed=None,
            indexed_at=None if row.indexed_at is None else from_micros(row.indexed_at),
            exists=os.path.exists(row.path),  # noqa: PTH110  a disk that does not answer is not an error
        )
        for row in sorted(rows)
    ]


def holding_folders(session: Session) -> list[tuple[str, str]]:
    rows = session.rows(f"select path, space from folders where {of('folders')} order by path")
    return [(str(path), str(space)) for path, space in rows if _counts(session, path, space)[0]]


def drop_emptied_folders(session: Session, held: Sequence[tuple[str, str]]) -> None:
    for path, space in held:
        if not _counts(session, path, space)[0]:
            session.execute("delete from folders where space = :space and path = :path", space=space, path=path)


def noted_folders(session: Session, space: str) -> list[FolderRow]:
    rows = session.rows(
        f"select path, watched, indexed_at from folders where {of('folders')} and space = :space order by path",
        space=space,
    )
    return [FolderRow(*row) for row in rows]


def _counts(session: Session, path: str, space: str) -> tuple[int, int]:
    parameters: dict[str, Any] = {"space": space, "unread": UNREAD}
    [found] = session.rows(
        f"""
        select
            (
                select count(*) from files
                where left(content_hash, 1) <> :unread and space = :space
                    and {at_or_below("path", "folder", [path], parameters)}
            ),
            (
                select count(*) from memories
                where kind in ('file', 'cell') and space = :space
                    and {at_or_below("source", "source", [path], parameters)}
            )
        """,
        **parameters,
    )
    return int(found[0]), int(found[1])


# Memories whose file or folder has a new path, as rows, within the caller's transaction.


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
        **parameters,
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
            **parameters,
        )
    ]
    session.execute(f"update runs set notebook = {_moved('notebook')} where {of('runs')} and {notebook}", **parameters)
    for table in ("files", "folders"):
        # What is noted at the new path gives way to what is noted of the file that is there now.
        targets = f"select space, md5({_moved('path')}) from {table} where {of(table)} and {path}"
        session.execute(f"delete from {table} where {of(table)} and (space, md5(path)) in ({targets})", **parameters)
    session.execute(
        f"update files set path = {_moved('path')}, mtime_ns = -1, content_hash = '' where {of('files')} and {path}",
        **parameters,
    )
    session.execute(f"update folders set path = {_moved('path')} where {of('folders')} and {path}", **parameters)
    return len(moved)


def drop_vacated(session: Session, space: str) -> None:
    """Remove unwatched folders that no longer exist and hold no memories, with the record of their files."""
    rows = session.rows("select path from folders where space = :space and not watched", space=space)
    for path in (str(row[0]) for row in rows):
        if os.path.lexists(path):
            continue
        parameters: dict[str, Any] = {"space": space, "path": path}
        source, below = (at_or_below(name, name, [path], parameters) for name in ("source", "path"))
        held = f"space = :space and kind in ('file', 'cell') and {source}"
        if session.value(f"select exists (select 1 from memories where {held})", **parameters):
            continue
        session.execute("delete from folders where space = :space and path = :path", **parameters)
        session.execute(f"delete from files where space = :space and {below}", **parameters)


def _moved(column: str) -> str:
    return f":new || substr({column}, length(:old) + 1)"
