"""The files that were read, as rows, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import apsw

from jupyter_memory.storage.shared.paths import below, spellings
from jupyter_memory.storage.shared.rows import to_micros
from jupyter_memory.types.protocols import FileState

INDEXED = "('file', 'cell')"  # the kinds of memory that come from files
_EMPTY = f"""
    not exists (
        select 1 from memories
        where memories.source = files.path and memories.space = files.space and memories.kind in {INDEXED}
    )
"""


def under(connection: apsw.Connection, root: str, space: str) -> dict[str, FileState]:
    """Return the files at or below a path that are indexed in a space, by path."""
    found = connection.execute(
        """
        select path, mtime_ns, size, content_hash, indexed_at, dated from files
        where space = ? and (path = ? or (path >= ? and path < ?))
        """,
        (space, *below(root)),
    )
    return {row[0]: replace(FileState(*row[:-1]), dated=bool(row[-1])) for row in found}


def states(connection: apsw.Connection, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
    """Return what is known of files, by path and space."""
    found = connection.execute(
        """
        select files.space, files.path, mtime_ns, size, content_hash, indexed_at, dated from json_each(?) as place
        cross join files where files.path = place.value ->> 0 and files.space = place.value ->> 1
        """,
        (json.dumps(list(places)),),
    )
    return {(row[1], row[0]): replace(FileState(*row[1:-1]), dated=bool(row[-1])) for row in found}


def every(connection: apsw.Connection, space: str) -> Iterator[tuple[str, FileState]]:
    """Yield the files that are indexed in a space, or in all if it is empty, each with its space."""
    rows = connection.execute(
        """
        select space, path, mtime_ns, size, content_hash, indexed_at, pictures, dated from files
        where ? in ('', space) order by space, path
        """,
        (space,),
    )
    return ((row[0], replace(FileState(*row[1:-2]), pictures=bool(row[-2]), dated=bool(row[-1]))) for row in rows)


def restore(connection: apsw.Connection, found: Iterable[tuple[str, FileState]]) -> None:
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


def note(connection: apsw.Connection, states: Sequence[FileState], now: datetime, space: str) -> None:
    """Note that files were read."""
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


def drop(connection: apsw.Connection, paths: Iterable[str], space: str) -> None:
    """Drop the record of files; the caller removes their memories."""
    connection.executemany("delete from files where path = ? and space = ?", ((path, space) for path in paths))


def memories(connection: apsw.Connection, paths: Sequence[str], space: str) -> list[int]:
    """Return the keys of the memories that files hold in a space."""
    found = connection.execute(
        f"""
        select memories.key from json_each(?) as path cross join memories
        where source = path.value and space = ? and kind in {INDEXED}
        """,
        (json.dumps(list(paths)), space),
    )
    return [row[0] for row in found]


def holding(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Return path and space of the files that hold any memory; one that could not be read, or is empty, holds none."""
    return [
        (str(path), str(space))
        for path, space in connection.execute(f"select path, space from files where not ({_EMPTY})")
    ]


def texts(connection: apsw.Connection, paths: Sequence[str], space: str) -> dict[str, list[tuple[str, str]]]:
    """Return the location and the text of each memory of some files, by path."""
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


def drop_emptied(connection: apsw.Connection, held: Iterable[tuple[str, str]], paths: Iterable[str]) -> None:
    """Drop the record of files that no longer hold memories, and of all empty files below some paths."""
    connection.executemany(f"delete from files where path = ? and space = ? and {_EMPTY}", held)
    for path in paths:
        for spelling in spellings(path):
            connection.execute(
                f"delete from files where (path = ? or (path >= ? and path < ?)) and {_EMPTY}", below(spelling)
            )


def drop_all_empty(connection: apsw.Connection) -> None:
    """Drop the record of every file that holds no memory."""
    connection.execute(f"delete from files where {_EMPTY}")
