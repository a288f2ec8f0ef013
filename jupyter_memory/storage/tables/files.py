"""Files, folders, and where files were moved."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from jupyter_memory.storage.base import NotedFile, NotedFolder, from_micros, micros, to_micros
from jupyter_memory.storage.sql import Dialect, Session, spellings
from jupyter_memory.text.paths import is_at_or_below, pure
from jupyter_memory.types.protocols import UNREAD, FileState
from jupyter_memory.types.report import Folder

# The kinds of memory that come from files, which PostgreSQL has in an index by their paths.
INDEXED = "('file', 'cell')"
# The memories that a file holds.
HELD = f"memories.space = files.space and memories.source = files.path and memories.kind in {INDEXED}"
_PLAIN, _UNLISTED = "description = '' and not hidden", "indexed_at is null and not watched"
_EMPTY = f"not exists (select 1 from memories where {HELD})"
_STATE = "path, mtime_ns, size, content_hash, indexed_at"


def of_paths(dialect: Dialect) -> str:
    """Return the condition that memories are those of the files ``:paths`` in ``:space``."""
    path = dialect.among("memories.source", "paths")
    return f"{dialect.of('memories')} and {path} and memories.space = :space and memories.kind in {INDEXED}"


def under(session: Session, root: str, space: str) -> dict[str, FileState]:
    there, places = session.dialect.below("files.path", "root", [root])
    rows = session.rows(
        f"select {_STATE}, dated from files where {_of(session, 'files')} and {there} order by path",
        space=space,
        **places,
    )
    return {row[0]: replace(FileState(*row[:-1]), dated=bool(row[-1])) for row in rows}


def states(session: Session, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], FileState]:
    """Return what is known of files, given and returned by path and space."""
    if not places:
        return {}
    rows = session.rows(
        f"""
        select files.space, files.{_STATE}, dated
        from {session.dialect.each("place", at="text", of_space="text")} cross join files
        where {session.dialect.of("files")} and files.path = place.at and files.space = place.of_space
        order by files.space, files.path
        """,
        place=list(places),
    )
    return {(row[1], row[0]): replace(FileState(*row[1:-1]), dated=bool(row[-1])) for row in rows}


def every(session: Session, space: str) -> list[NotedFile]:
    """Return all that is known of the files of a space, or of all of them, by space and path."""
    rows = session.rows(
        f"""
        select space, {_STATE}, pictures, dated from files
        where {session.dialect.of("files")} and :space in ('', space) order by space, path
        """,
        space=space,
    )
    return [NotedFile(row[0], FileState(*row[1:-2], *map(bool, row[-2:]))) for row in rows]


def restore(session: Session, found: Iterable[NotedFile]) -> None:
    """Note files that were read for another store; what is known of one already stays."""
    rows = []
    for space, state in found:
        read = {"indexed_at": state.indexed_at or 0, "pictures": bool(state.pictures), "dated": bool(state.dated)}
        rows.append({"space": space, **asdict(state), **read})
        session.include(space)
    session.insert("files", rows, known="do nothing")


def note(session: Session, states: Sequence[FileState], now: datetime, space: str) -> None:
    """Note files that were read; what a state does not say of one stays."""
    session.include(space)
    by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for state in states:
        row = {"space": space, **asdict(state), "indexed_at": to_micros(now)}
        said = {name: value for name, value in row.items() if value is not None}
        by_columns[tuple(said)].append(said)
    for columns, rows in by_columns.items():
        changed = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in ("space", "path"))
        session.insert("files", rows, known=f"do update set {changed}")


def drop(session: Session, paths: Sequence[str], space: str) -> None:
    """Drop the record of files; the caller removes their memories."""
    session.changed(
        f"delete from files where {_of(session, 'files')} and {session.dialect.among('files.path', 'paths')}",
        paths=list(paths),
        space=space,
    )


def memories_of_paths(session: Session, paths: Sequence[str], space: str) -> list[int]:
    return session.column(
        f"select memories.key from memories where {of_paths(session.dialect)} order by memories.key",
        paths=list(paths),
        space=space,
    )


def texts(session: Session, paths: Sequence[str], space: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    joined = session.dialect.join("texts", "memories", "texts.memory = memories.key")
    read = f"select source, location, text from memories {joined} where {of_paths(session.dialect)}"
    for path, *text in session.rows(f"{read} order by memories.key", paths=list(paths), space=space):
        found.setdefault(path, []).append((text[0], text[1]))
    return found


Held = tuple[list[tuple[str, str]], list[tuple[str, str]]]


def holding(session: Session) -> Held:
    """Return path and space of the files that hold any memory, and of the folders that hold files."""
    held = f"exists (select 1 from memories where {HELD})"
    files = session.rows(f"select path, space from files where {session.dialect.of('files')} and {held} order by 1, 2")
    folders = [(folder.path, folder.space) for folder in every_folder(session, "")]
    return [(path, space) for path, space in files], [place for place in folders if _counts(session, *place)[0]]


def drop_emptied(session: Session, held: Held, paths: Sequence[str], *, everything: bool) -> None:
    """Drop the record of files and folders that are empty now: that held something, below some paths, or all files."""
    empty = f"delete from files where {session.dialect.of('files')} and {_EMPTY}"
    files, folders = held
    if everything:
        session.changed(empty)
    elif files:
        each = session.dialect.each("held", at="text", of_space="text")
        session.changed(f"{empty} and (files.path, files.space) in (select at, of_space from {each})", held=files)
    there, places = session.dialect.below("files.path", "path", [form for path in paths for form in spellings(path)])
    session.changed(f"{empty} and {there}", **places)
    if everything:
        folders += [(one.path, one.space) for one in described(session, "")]
    for path, space in folders:
        if not _counts(session, path, space)[0]:
            _drop_folder(session, path, space)


# The folders that were indexed.


def note_folder(session: Session, path: str, space: str, now: datetime) -> None:
    """Note that a folder was indexed, unless it lies in a noted one; unwatched ones below it give way."""
    session.include(space)
    noted = _noted(session, space)
    if _above(path, noted) and path not in [folder.path for folder in noted]:
        return
    drop_below(session, "folders", path, space, f"and not watched and {_PLAIN}")
    there, places = session.dialect.below("folders.path", "path", [path])
    unlisted = f"update folders set indexed_at = null where {_of(session, 'folders')} and not watched and {there}"
    session.changed(unlisted, space=space, **places)
    row = {"space": space, "path": path, "indexed_at": to_micros(now)}
    session.insert("folders", [row], known="do update set indexed_at = excluded.indexed_at")


def every_folder(session: Session, space: str) -> list[NotedFolder]:
    """Return the folders of which anything is noted in a space, or in all of them, by space and path."""
    rows = session.rows(
        f"""
        select path, space, watched, indexed_at, description, hidden from folders
        where {session.dialect.of("folders")} and :space in ('', space) order by space, path
        """,
        space=space,
    )
    return [
        NotedFolder(path, of_space, bool(watched), None if at is None else from_micros(at), said, bool(hidden))
        for path, of_space, watched, at, said, hidden in rows
    ]


def restore_folders(session: Session, found: Iterable[NotedFolder]) -> None:
    """Note folders that were indexed for another store; one that is on the list stays as it is."""
    rows = []
    for folder in found:
        rows.append({**folder._asdict(), "indexed_at": micros(folder.indexed_at)})
        session.include(folder.space)
    session.insert("folders", rows, known="do nothing")


def describe_folder(session: Session, path: str, space: str, said: Mapping[str, Any]) -> None:
    """Note the ``description`` of a folder, or whether it is ``hidden``; what is said of it by neither is dropped."""
    session.include(space)
    changed = ", ".join(f"{name} = excluded.{name}" for name in said)
    session.insert("folders", [{"space": space, "path": path, **said}], known=f"do update set {changed}")
    session.changed(f"delete from folders where {_of(session, 'folders')} and {_PLAIN} and {_UNLISTED}", space=space)
    session.note_removal()


def described(session: Session, space: str) -> list[NotedFolder]:
    return [folder for folder in every_folder(session, space) if folder.description or folder.hidden]


def watch_folder(session: Session, path: str, space: str, watched: bool) -> None:
    """Note whether a folder is watched; one that is not on the list is put there."""
    session.include(space)
    there, places = session.dialect.below("files.path", "path", [path])
    newest = session.value(
        f"select max(indexed_at) from files where {_of(session, 'files')} and {there}", space=space, **places
    )
    if newest is not None:
        above = [to_micros(one.indexed_at) for one in _above(path, _noted(session, space)) if one.indexed_at]
        newest = max([newest, *above])
    row = {"space": space, "path": path, "watched": watched, "indexed_at": newest}
    session.insert("folders", [row], known="do update set watched = excluded.watched")


def listed_folders(session: Session, space: str) -> list[Folder]:
    """Return the folders of a space by path, with the topmost that hold files indexed without one."""
    listed = {folder.path: folder for folder in _noted(session, space)}
    unnoted = dict[str, int]()
    for path, indexed_at in session.rows(
        f"select path, indexed_at from files where {_of(session, 'files')} order by path", space=space
    ):
        if path not in listed:
            parent = str(pure(path).parent)
            unnoted[parent] = max(indexed_at, unnoted.get(parent, 0))
    upwards = {path: [path, *map(str, pure(path).parents)] for path in unnoted}
    unnoted = {path: at for path, at in unnoted.items() if not listed.keys() & upwards[path]}
    tops = dict[str, int]()
    for path, at in unnoted.items():
        *_, top = (folder for folder in upwards[path] if folder in unnoted)
        tops[top] = max(at, tops.get(top, 0))
    listed |= {path: NotedFolder(path, space, False, from_micros(at)) for path, at in tops.items()}
    return [
        Folder(
            path,
            folder.watched,
            *_counts(session, path, space),
            changed=None,
            indexed_at=folder.indexed_at,
            exists=os.path.exists(path),  # noqa: PTH110  a disk that does not answer is not an error
        )
        for path, folder in sorted(listed.items())
    ]


def noted_folders(session: Session, space: str) -> list[str]:
    """Return the paths of the folders on the list, the shortest first."""
    return sorted((folder.path for folder in _noted(session, space)), key=len)


def folder_above(session: Session, path: str, space: str) -> str | None:
    """Return the topmost folder on the list that a path lies in."""
    return min((folder.path for folder in _above(path, _noted(session, space))), key=len, default=None)


def drop_vacated(session: Session, space: str) -> None:
    """Remove unwatched folders that no longer exist and hold no memories, with the record of their files."""
    for path in (folder.path for folder in _noted(session, space) if not folder.watched):
        if not os.path.lexists(path) and not _counts(session, path, space)[1]:
            _drop_folder(session, path, space)
            drop_below(session, "files", path, space)


def _of(session: Session, table: str) -> str:
    return f"{session.dialect.of(table)} and {table}.space = :space"


def _noted(session: Session, space: str) -> list[NotedFolder]:
    # The space of a file may be without a name, which means all of them elsewhere.
    found = [folder for folder in every_folder(session, space) if folder.space == space]
    return [folder for folder in found if folder.watched or folder.indexed_at is not None]


def _above(path: str, folders: Iterable[NotedFolder]) -> list[NotedFolder]:
    return [folder for folder in folders if path != folder.path and is_at_or_below(path, folder.path)]


def drop_below(session: Session, table: str, path: str, space: str, further: str = "") -> None:
    there, places = session.dialect.below(f"{table}.path", "path", [path])
    session.changed(f"delete from {table} where {_of(session, table)} and {there} {further}", space=space, **places)


def _drop_folder(session: Session, path: str, space: str) -> None:
    session.changed(f"delete from folders where {_of(session, 'folders')} and path = :path", path=path, space=space)


def _counts(session: Session, path: str, space: str) -> tuple[int, int]:
    # Of the files that were read, and of their memories.
    files, places = session.dialect.below("files.path", "place", [path])
    memories, _ = session.dialect.below("memories.source", "place", [path])
    [(read, held)] = session.rows(
        f"""
        select
            (
                select count(*) from files
                where {_of(session, "files")} and substr(content_hash, 1, 1) <> :unread and {files}
            ),
            (
                select count(*) from memories
                where {_of(session, "memories")} and memories.kind in {INDEXED} and {memories}
            )
        """,
        unread=UNREAD,
        space=space,
        **places,
    )
    return read, held


# Memories whose file or folder has a new path.


def in_the_way(session: Session, old: str, new: str) -> list[int]:
    """Return the keys of memories at the new path that must be removed: what was indexed there, and equal notes."""
    there, places = session.dialect.below("memories.source", "old", [old])
    return session.column(
        f"""
        with moving as (
            select {_moved("source")} as target, space, kind, location, content_hash
            from memories where {session.dialect.of("memories")} and {there}
        )
        select distinct memories.key
        from memories join moving on memories.space = moving.space and memories.source = moving.target
        where memories.kind in {INDEXED} and moving.kind in {INDEXED}
            or (memories.kind, memories.location, memories.content_hash)
                = (moving.kind, moving.location, moving.content_hash)
        order by memories.key
        """,
        old=old,
        new=new,
        **places,
    )


def move(session: Session, old: str, new: str) -> list[int]:
    """Give everything at or below the old path its new one; return the keys of the memories that moved."""
    # The files are marked to be read again, since titles and contexts contain their names.
    dialect, known = session.dialect, {"old": old, "new": new}
    there, places = dialect.below("memories.source", "old", [old])
    moved = session.rows(
        f"update memories set source = {_moved('source')} where {dialect.of('memories')} and {there} returning key",
        **known,
        **places,
    )
    there, _ = dialect.below("runs.notebook", "old", [old])
    session.changed(
        f"update runs set notebook = {_moved('notebook')} where {dialect.of('runs')} and {there}", **known, **places
    )
    for table, read_again in (("files", ", mtime_ns = -1, content_hash = ''"), ("folders", "")):
        there, _ = dialect.below(f"{table}.path", "old", [old])
        of_them = f"{dialect.of(table)} and {there}"
        # What is noted at the new path gives way to what is noted of the file that is there now.
        targets = f"select {_moved('path')}, space from {table} where {of_them}"
        session.changed(
            f"delete from {table} where {dialect.of(table)} and (path, space) in ({targets})", **known, **places
        )
        session.changed(f"update {table} set path = {_moved('path')}{read_again} where {of_them}", **known, **places)
    return sorted(row[0] for row in moved)


def _moved(column: str) -> str:
    return f":new || substr({column}, length(:old) + 1)"
