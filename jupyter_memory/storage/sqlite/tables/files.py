"""Files, folders, and where files were moved."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from jupyter_memory.storage.shared import FolderRow, below, from_micros, is_below, spellings, to_micros, topmost_unnoted
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.writing import NotedFolder
from jupyter_memory.types.protocols import UNREAD, FileState
from jupyter_memory.types.report import Folder

INDEXED = "('file', 'cell')"  # the kinds of memory that come from files
_EMPTY = f"""
    not exists (
        select 1 from memories
        where memories.source = files.path and memories.space = files.space and memories.kind in {INDEXED}
    )
"""


def under(connection: Session, root: str, space: str) -> dict[str, FileState]:
    found = connection.execute(
        """
        select path, mtime_ns, size, content_hash, indexed_at, dated from files
        where space = ? and (path = ? or (path >= ? and path < ?))
        """,
        (space, *below(root)),
    )
    return {row[0]: replace(FileState(*row[:-1]), dated=bool(row[-1])) for row in found}


def states(connection: Session, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
    found = connection.execute(
        """
        select files.space, files.path, mtime_ns, size, content_hash, indexed_at, dated from json_each(?) as place
        cross join files where files.path = place.value ->> 0 and files.space = place.value ->> 1
        """,
        (json.dumps(list(places)),),
    )
    return {(row[1], row[0]): replace(FileState(*row[1:-1]), dated=bool(row[-1])) for row in found}


def every(connection: Session, space: str) -> Iterator[tuple[str, FileState]]:
    rows = connection.execute(
        """
        select space, path, mtime_ns, size, content_hash, indexed_at, pictures, dated from files
        where ? in ('', space) order by space, path
        """,
        (space,),
    )
    return ((row[0], replace(FileState(*row[1:-2]), pictures=bool(row[-2]), dated=bool(row[-1]))) for row in rows)


def restore(connection: Session, found: Iterable[tuple[str, FileState]]) -> None:
    """Note files that were read for another store, each with its space; what is known of one already stays."""
    connection.executemany(
        """
        insert or ignore into files (path, space, mtime_ns, size, content_hash, indexed_at, pictures, dated)
        values (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            (
                *(state.path, space, state.mtime_ns, state.size, state.content_hash),
                state.indexed_at or 0,
                *(bool(state.pictures), bool(state.dated)),
            )
            for space, state in found
        ),
    )


def note(connection: Session, states: Sequence[FileState], now: datetime, space: str) -> None:
    connection.executemany(
        """
        insert into files (path, space, mtime_ns, size, content_hash, indexed_at, pictures, dated)
        values (?1, ?2, ?3, ?4, ?5, ?6, coalesce(?7, 0), coalesce(?8, 0))
        on conflict (path, space) do update set
            mtime_ns = ?3, size = ?4, content_hash = ?5, indexed_at = ?6,
            pictures = coalesce(?7, pictures), dated = coalesce(?8, dated)
        """,
        [
            (
                *(state.path, space, state.mtime_ns, state.size, state.content_hash, to_micros(now)),
                *(state.pictures, state.dated),
            )
            for state in states
        ],
    )


def drop(connection: Session, paths: Iterable[str], space: str) -> None:
    """Drop the record of files; the caller removes their memories."""
    connection.executemany("delete from files where path = ? and space = ?", ((path, space) for path in paths))


def memories_of_paths(connection: Session, paths: Sequence[str], space: str) -> list[int]:
    found = connection.execute(
        f"""
        select memories.key from json_each(?) as path cross join memories
        where source = path.value and space = ? and kind in {INDEXED}
        """,
        (json.dumps(list(paths)), space),
    )
    return [row[0] for row in found]


def holding(connection: Session) -> list[tuple[str, str]]:
    """Return path and space of the files that hold any memory; one that could not be read, or is empty, holds none."""
    return [
        (str(path), str(space))
        for path, space in connection.execute(f"select path, space from files where not ({_EMPTY})")
    ]


def texts(connection: Session, paths: Sequence[str], space: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for path, location, text in connection.execute(
        f"""
        select source, location, text
        from json_each(?) as path cross join memories on source = path.value join texts on texts.memory = memories.key
        where space = ? and kind in {INDEXED}
        """,
        (json.dumps(list(paths)), space),
    ):
        found.setdefault(str(path), []).append((str(location), str(text)))
    return found


def drop_emptied(connection: Session, held: Iterable[tuple[str, str]], paths: Iterable[str]) -> None:
    """Drop the record of files that no longer hold memories, and of all empty files below some paths."""
    connection.executemany(f"delete from files where path = ? and space = ? and {_EMPTY}", held)
    for path in paths:
        for spelling in spellings(path):
            connection.execute(
                f"delete from files where (path = ? or (path >= ? and path < ?)) and {_EMPTY}", below(spelling)
            )


def drop_all_empty(connection: Session) -> None:
    connection.execute(f"delete from files where {_EMPTY}")


# The folders that were indexed, as rows, within the caller's transaction.


def note_folder(connection: Session, path: str, space: str, now: datetime) -> None:
    """Note that a folder was indexed: it takes the place of those below it that nobody watches.

    A folder below one that is noted already is not noted separately, unless it was before.
    """
    known = {row.path for row in _rows(connection, space)}
    if path not in known and any(is_below(path, folder) for folder in known):
        return
    _, low, high = below(path)
    connection.execute(
        "delete from folders where space = ? and path >= ? and path < ? and not watched", (space, low, high)
    )
    connection.execute(
        """
        insert into folders (path, space, indexed_at) values (?, ?, ?)
        on conflict do update set indexed_at = excluded.indexed_at
        """,
        (path, space, to_micros(now)),
    )


def every_folder(connection: Session, space: str) -> Iterator[NotedFolder]:
    rows = connection.execute(
        "select path, space, watched, indexed_at from folders where ? in ('', space) order by space, path", (space,)
    )
    for path, of_space, watched, indexed_at in rows:
        yield NotedFolder(path, of_space, bool(watched), None if indexed_at is None else from_micros(indexed_at))


def restore_folders(connection: Session, found: Iterable[NotedFolder]) -> None:
    """Note folders that were indexed for another store; one that is on the list stays as it is."""
    connection.executemany(
        "insert or ignore into folders (path, space, watched, indexed_at) values (?, ?, ?, ?)",
        (
            (one.path, one.space, int(one.watched), None if one.indexed_at is None else to_micros(one.indexed_at))
            for one in found
        ),
    )


def watch_folder(connection: Session, path: str, space: str, watched: bool) -> None:
    sql = "select max(indexed_at) from files where space = ? and (path = ? or (path >= ? and path < ?))"
    newest = connection.execute(sql, (space, *below(path))).get
    if newest is not None:
        above = [row.indexed_at for row in _rows(connection, space) if row.indexed_at and is_below(path, row.path)]
        newest = max([int(newest), *above])
    connection.execute(
        """
        insert into folders (path, space, watched, indexed_at) values (?, ?, ?, ?)
        on conflict do update set watched = excluded.watched
        """,
        (path, space, int(watched), newest),
    )


def remove_folder(connection: Session, path: str, space: str) -> None:
    at, low, high = below(path)
    connection.execute(
        "delete from folders where space = ? and (path = ? or (path >= ? and path < ?))", (space, at, low, high)
    )


def listed_folders(connection: Session, space: str) -> list[Folder]:
    """Return the folders of a space by path, not compared with the disk.

    For files that were indexed before folders were noted, the topmost folders that hold them are listed.
    """
    rows = _rows(connection, space)
    found = connection.execute("select path, indexed_at from files where space = ?", (space,))
    rows += topmost_unnoted(found, {row.path for row in rows})
    return [
        Folder(
            row.path,
            row.watched,
            *_counts(connection, row.path, space),
            changed=None,
            indexed_at=None if row.indexed_at is None else from_micros(row.indexed_at),
            exists=os.path.exists(row.path),  # noqa: PTH110  a disk that does not answer is not an error
        )
        for row in sorted(rows)
    ]


def noted_folders(connection: Session, space: str) -> list[str]:
    return sorted((row.path for row in _rows(connection, space)), key=len)


def folder_above(connection: Session, path: str, space: str) -> str | None:
    return min((row.path for row in _rows(connection, space) if is_below(path, row.path)), key=len, default=None)


def holding_folders(connection: Session) -> list[tuple[str, str]]:
    noted = [(str(path), str(space)) for path, space in connection.execute("select path, space from folders")]
    return [(path, space) for path, space in noted if _counts(connection, path, space)[0]]


def drop_emptied_folders(connection: Session, held: Iterable[tuple[str, str]]) -> None:
    """Remove folders that held files and no longer do from the list."""
    for path, space in held:
        if not _counts(connection, path, space)[0]:
            connection.execute("delete from folders where path = ? and space = ?", (path, space))


def _rows(connection: Session, space: str) -> list[FolderRow]:
    found = connection.execute("select path, watched, indexed_at from folders where space = ?", (space,))
    return [FolderRow(path, bool(watched), indexed_at) for path, watched, indexed_at in found]


def _counts(connection: Session, path: str, space: str) -> tuple[int, int]:
    at, low, high = below(path)
    files = f"""
        select count(*) from files
        where substr(content_hash, 1, 1) <> '{UNREAD}' and space = ? and (path = ? or (path >= ? and path < ?))
    """
    memories = """
        select count(*) from memories
        where kind in ('file', 'cell') and space = ? and (source = ? or (source >= ? and source < ?))
    """
    found = [int(connection.execute(sql, (space, at, low, high)).get) for sql in (files, memories)]
    return found[0], found[1]


# Memories whose file or folder has a new path, as rows, within the caller's transaction.


def in_the_way(connection: Session, old: str, new: str) -> list[int]:
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


def move(connection: Session, old: str, new: str) -> int:
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


def drop_vacated(connection: Session, space: str) -> None:
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
