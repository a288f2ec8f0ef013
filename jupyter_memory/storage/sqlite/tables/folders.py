"""The folders that were indexed, as rows, within the caller's transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime

import apsw

from jupyter_memory.storage.base import NotedFolder
from jupyter_memory.storage.shared.folders import FolderRow, is_below, topmost_unnoted
from jupyter_memory.storage.shared.paths import below
from jupyter_memory.storage.shared.rows import from_micros, to_micros
from jupyter_memory.types.protocols import UNREAD
from jupyter_memory.types.report import Folder


def note(connection: apsw.Connection, path: str, space: str, now: datetime) -> None:
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


def every(connection: apsw.Connection, space: str) -> Iterator[NotedFolder]:
    """Yield the noted folders of a space, of all if it is empty."""
    rows = connection.execute(
        "select path, space, watched, indexed_at from folders where ? in ('', space) order by space, path", (space,)
    )
    for path, of_space, watched, indexed_at in rows:
        yield NotedFolder(path, of_space, bool(watched), None if indexed_at is None else from_micros(indexed_at))


def restore(connection: apsw.Connection, found: Iterable[NotedFolder]) -> None:
    """Note folders that were indexed for another store; one that is on the list stays as it is."""
    connection.executemany(
        "insert or ignore into folders (path, space, watched, indexed_at) values (?, ?, ?, ?)",
        (
            (one.path, one.space, int(one.watched), None if one.indexed_at is None else to_micros(one.indexed_at))
            for one in found
        ),
    )


def watch(connection: apsw.Connection, path: str, space: str, watched: bool) -> None:
    """Mark a folder as watched, or not; a new one is noted with the time when its files were last indexed."""
    connection.execute(
        """
        insert into folders (path, space, watched, indexed_at) values (?, ?, ?, ?)
        on conflict do update set watched = excluded.watched
        """,
        (path, space, int(watched), _last_indexed(connection, path, space)),
    )


def remove(connection: apsw.Connection, path: str, space: str) -> None:
    """Remove a folder, and those below it, from the list."""
    at, low, high = below(path)
    connection.execute(
        "delete from folders where space = ? and (path = ? or (path >= ? and path < ?))", (space, at, low, high)
    )


def listed(connection: apsw.Connection, space: str) -> list[Folder]:
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


def noted(connection: apsw.Connection, space: str) -> list[str]:
    """Return the paths of the noted folders, those that are above others first."""
    return sorted((row.path for row in _rows(connection, space)), key=len)


def above(connection: apsw.Connection, path: str, space: str) -> str | None:
    """Return the topmost noted folder that a path lies in, None where there is none."""
    return min((row.path for row in _rows(connection, space) if is_below(path, row.path)), key=len, default=None)


def holding(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Return path and space of the noted folders that hold any indexed file."""
    noted = [(str(path), str(space)) for path, space in connection.execute("select path, space from folders")]
    return [(path, space) for path, space in noted if _counts(connection, path, space)[0]]


def drop_emptied(connection: apsw.Connection, held: Iterable[tuple[str, str]]) -> None:
    """Remove folders that held files and no longer do from the list."""
    for path, space in held:
        if not _counts(connection, path, space)[0]:
            connection.execute("delete from folders where path = ? and space = ?", (path, space))


def _rows(connection: apsw.Connection, space: str) -> list[FolderRow]:
    found = connection.execute("select path, watched, indexed_at from folders where space = ?", (space,))
    return [FolderRow(path, bool(watched), indexed_at) for path, watched, indexed_at in found]


def _last_indexed(connection: apsw.Connection, path: str, space: str) -> int | None:
    """Return when a path was indexed last, with a folder above it or by itself; None if nothing of it is indexed."""
    sql = "select max(indexed_at) from files where space = ? and (path = ? or (path >= ? and path < ?))"
    newest = connection.execute(sql, (space, *below(path))).get
    if newest is None:
        return None
    above = [row.indexed_at for row in _rows(connection, space) if row.indexed_at and is_below(path, row.path)]
    return max([int(newest), *above])


def _counts(connection: apsw.Connection, path: str, space: str) -> tuple[int, int]:
    """Return how many indexed files are at or below a path, and how many memories came from them."""
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
