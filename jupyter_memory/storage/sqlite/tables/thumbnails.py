"""The thumbnails of memories as rows, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jupyter_memory.storage.sqlite import sql
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.tables.files import INDEXED
from jupyter_memory.types import Draft
from jupyter_memory.types.memory import Thumbnail

_COLUMNS = ("memory", "place", "media_type", "width", "height", "image", "origin")
_THUMBNAIL = "media_type, width, height, image, origin"
# Rows written by one statement: a megabyte of pictures.
_TOGETHER = 50
# What the text of a cell has in place of a picture.
_MARK = "[image/"


def insert(connection: Session, written: Sequence[tuple[int, Draft]]) -> None:
    """Write the thumbnails of memories that have none yet, by key."""
    rows = [
        (key, place, one.media_type, one.width, one.height, one.image, one.origin)
        for key, draft in written
        for place, one in enumerate(draft.pictures.thumbnails)
    ]
    sql.insert(connection, "thumbnails", _COLUMNS, rows, together=_TOGETHER)


def complete(connection: Session, key: int, draft: Draft) -> None:
    """Write the thumbnails of a memory that is there, if it has none."""
    if draft.pictures.thumbnails and not by_memory(connection, [key]):
        insert(connection, [(key, draft)])


def get(connection: Session, key: int, place: int) -> Thumbnail | None:
    row = connection.execute(
        f"select {_THUMBNAIL} from thumbnails where memory = ? and place = ?", (key, place)
    ).fetchone()
    return None if row is None else Thumbnail(*row)


def replace(connection: Session, key: int, draft: Draft) -> None:
    """Give a memory the thumbnails of a draft that has any."""
    if draft.pictures.thumbnails:
        connection.execute("delete from thumbnails where memory = ?", (key,))
        insert(connection, [(key, draft)])


def of_file(connection: Session, path: str, space: str) -> dict[str, Thumbnail]:
    found: Any = connection.execute(
        f"""
        select {_THUMBNAIL} from memories join thumbnails on memory = memories.key
        where source = ? and space = ? and kind in {INDEXED}
        """,
        (path, space),
    )
    return {row[-1]: Thumbnail(*row) for row in found}


def by_memory(connection: Session, keys: Sequence[int]) -> dict[int, tuple[Thumbnail, ...]]:
    """Return the thumbnails of memories in their order, by key; memories without any are left out."""
    rows: Any = connection.execute(
        f"""
        select memory, {_THUMBNAIL} from json_each(?) as wanted cross join thumbnails on memory = wanted.value
        order by memory, place
        """,
        (json.dumps(list(keys)),),
    )
    found: dict[int, tuple[Thumbnail, ...]] = {}
    for key, *values in rows:
        found[key] = (*found.get(key, ()), Thumbnail(*values))
    return found


def count(connection: Session) -> tuple[int, int]:
    rows: Any = connection.execute("select count(*), coalesce(sum(length(image)), 0) from thumbnails")
    [(number, size)] = rows
    return number, size


def size_in(connection: Session, paths: Sequence[str], space: str) -> int:
    size: Any = connection.execute(
        f"""
        select coalesce(sum(length(image)), 0)
        from json_each(?) as path cross join memories on source = path.value
        cross join thumbnails on memory = memories.key
        where space = ? and kind in {INDEXED}
        """,
        (json.dumps(list(paths)), space),
    ).get
    return int(size)


def unread(connection: Session, paths: Sequence[str], space: str) -> set[str]:
    found = connection.execute(
        f"""
        select files.path from json_each(?) as wanted cross join files on files.path = wanted.value
        where files.space = ? and not files.pictures and exists (
            select 1 from memories join texts on texts.memory = memories.key
            where memories.source = files.path and memories.space = files.space and memories.kind in {INDEXED}
              and instr(texts.text, ?) > 0
        )
        """,
        (json.dumps(list(paths)), space, _MARK),
    )
    return {str(row[0]) for row in found}


def clear(connection: Session) -> int:
    connection.execute("delete from thumbnails")
    removed = connection.changes()
    connection.execute("update files set pictures = 0 where pictures")
    return removed
