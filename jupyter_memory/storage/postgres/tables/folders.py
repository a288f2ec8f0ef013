"""The folders that were indexed, as rows, within the caller's transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from jupyter_memory.storage.base import NotedFolder
from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.filters import at_or_below
from jupyter_memory.storage.postgres.tables.memories import micros
from jupyter_memory.storage.shared.folders import FolderRow, is_below, topmost_unnoted
from jupyter_memory.storage.shared.paths import below
from jupyter_memory.storage.shared.rows import from_micros, to_micros
from jupyter_memory.types.protocols import UNREAD
from jupyter_memory.types.report import Folder

_NOTE = "insert into folders (space, path, watched, indexed_at) values (%(space)s, %(path)s, %(watched)s, %(at)s)"


def note(session: Session, path: str, space: str, now: datetime) -> None:
    """Note that a folder was indexed: it takes the place of those below it that nobody watches.

    A folder below one that is noted already is not noted separately, unless it was before.
    """
    session.include(space)
    known = {row.path for row in _rows(session, space)}
    if path not in known and any(is_below(path, folder) for folder in known):
        return
    _, low, high = below(path)
    session.execute(
        "delete from folders where space = %(space)s and path >= %(low)s and path < %(high)s and not watched",
        {"space": space, "low": low, "high": high},
    )
    session.execute(
        f"{_NOTE} on conflict (space, md5(path)) do update set indexed_at = excluded.indexed_at",
        {"space": space, "path": path, "watched": False, "at": to_micros(now)},
    )


def every(session: Session, space: str) -> Iterator[NotedFolder]:
    """Yield the noted folders of a space, of all if it is empty."""
    rows = session.rows(
        "select path, space, watched, indexed_at from folders "
        f"where {of('folders')} and %(space)s in ('', space) order by space, path",
        {"space": space},
    )
    for path, of_space, watched, indexed_at in rows:
        yield NotedFolder(path, of_space, watched, None if indexed_at is None else from_micros(indexed_at))


def restore(session: Session, found: Iterable[NotedFolder]) -> None:
    """Note folders that were indexed for another store; one that is on the list stays as it is."""
    rows = [
        {"space": one.space, "path": one.path, "watched": one.watched, "indexed_at": micros(one.indexed_at)}
        for one in found
    ]
    for row in rows:
        session.include(str(row["space"]))
    sql.insert(session, "folders", rows, conflict="on conflict do nothing")


def watch(session: Session, path: str, space: str, watched: bool) -> None:
    """Mark a folder as watched, or not; a new one is noted with the time when its files were last indexed."""
    session.include(space)
    session.execute(
        f"{_NOTE} on conflict (space, md5(path)) do update set watched = excluded.watched",
        {"space": space, "path": path, "watched": watched, "at": _last_indexed(session, path, space)},
    )


def remove(session: Session, path: str, space: str) -> None:
    """Remove a folder, and those below it, from the list."""
    parameters: dict[str, Any] = {"space": space}
    there = at_or_below("path", "folder", [path], parameters)
    session.execute(f"delete from folders where space = %(space)s and {there}", parameters)


def listed(session: Session, space: str) -> list[Folder]:
    """Return the folders of a space by path, not compared with the disk.

    For files that were indexed before folders were noted, the topmost folders that hold them are listed.
    """
    rows = _rows(session, space)
    files = session.rows("select path, indexed_at from files where space = %(space)s order by path", {"space": space})
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


def noted(session: Session, space: str) -> list[str]:
    """Return the paths of the noted folders, those that are above others first."""
    return sorted((row.path for row in _rows(session, space)), key=len)


def above(session: Session, path: str, space: str) -> str | None:
    """Return the topmost noted folder that a path lies in, None where there is none."""
    return min((row.path for row in _rows(session, space) if is_below(path, row.path)), key=len, default=None)


def holding(session: Session) -> list[tuple[str, str]]:
    """Return path and space of the noted folders that hold any indexed file."""
    rows = session.rows(f"select path, space from folders where {of('folders')} order by path")
    return [(str(path), str(space)) for path, space in rows if _counts(session, path, space)[0]]


def drop_emptied(session: Session, held: Sequence[tuple[str, str]]) -> int:
    """Remove folders that held files and no longer do from the list; return how many."""
    dropped = 0
    for path, space in held:
        if not _counts(session, path, space)[0]:
            dropped += session.changed(
                "delete from folders where space = %(space)s and path = %(path)s", {"space": space, "path": path}
            )
    return dropped


def _rows(session: Session, space: str) -> list[FolderRow]:
    rows = session.rows(
        f"select path, watched, indexed_at from folders where {of('folders')} and space = %(space)s order by path",
        {"space": space},
    )
    return [FolderRow(*row) for row in rows]


def _last_indexed(session: Session, path: str, space: str) -> int | None:
    """Return when a path was indexed last, with a folder above it or by itself; None if nothing of it is indexed."""
    parameters: dict[str, Any] = {"space": space}
    there = at_or_below("path", "folder", [path], parameters)
    newest = session.value(f"select max(indexed_at) from files where space = %(space)s and {there}", parameters)
    if newest is None:
        return None
    higher = [row.indexed_at for row in _rows(session, space) if row.indexed_at and is_below(path, row.path)]
    return max([int(newest), *higher])


def _counts(session: Session, path: str, space: str) -> tuple[int, int]:
    """Return how many indexed files are at or below a path, and how many memories came from them."""
    parameters: dict[str, Any] = {"space": space, "unread": UNREAD}
    [found] = session.rows(
        f"""
        select
            (
                select count(*) from files
                where left(content_hash, 1) <> %(unread)s and space = %(space)s
                    and {at_or_below("path", "folder", [path], parameters)}
            ),
            (
                select count(*) from memories
                where kind in ('file', 'cell') and space = %(space)s
                    and {at_or_below("source", "source", [path], parameters)}
            )
        """,
        parameters,
    )
    return int(found[0]), int(found[1])
