"""The thumbnails of memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from jupyter_memory.storage.sql import Session
from jupyter_memory.storage.tables import files
from jupyter_memory.types import Draft
from jupyter_memory.types.memory import Thumbnail

_THUMBNAIL = "media_type, width, height, image, origin"


def insert(session: Session, written: Sequence[tuple[int, Draft]]) -> None:
    """Write the thumbnails of memories that have none yet, by key."""
    rows = [
        {"space": draft.space, "memory": key, "place": place, **asdict(one)}
        for key, draft in written
        for place, one in enumerate(draft.pictures.thumbnails)
    ]
    session.insert("thumbnails", rows)


def get(session: Session, key: int, place: int) -> Thumbnail | None:
    """Return a picture of a memory by its place, counted from 0; None where there is none."""
    chosen = f"{_of(session)} and place = :place"
    rows = session.rows(f"select {_THUMBNAIL} from thumbnails where {chosen}", keys=[key], place=place)
    return Thumbnail(*rows[0]) if rows else None


def put(session: Session, key: int, draft: Draft, *, replacing: bool) -> None:
    """Give a memory the thumbnails of a draft that has any, in place of its own or if it has none."""
    if draft.pictures.thumbnails and (replacing or not by_memory(session, [key])):
        session.changed(f"delete from thumbnails where {_of(session)}", keys=[key])
        insert(session, [(key, draft)])


def by_memory(session: Session, keys: Sequence[int]) -> dict[int, tuple[Thumbnail, ...]]:
    """Return the thumbnails of memories in their order, by key; memories without any are left out."""
    found: dict[int, tuple[Thumbnail, ...]] = {}
    for key, *values in session.rows(
        f"select memory, {_THUMBNAIL} from thumbnails where {_of(session)} order by memory, place", keys=list(keys)
    ):
        found[key] = (*found.get(key, ()), Thumbnail(*values))
    return found


def count(session: Session) -> tuple[int, int]:
    [(number, size)] = session.rows(
        f"select count(*), coalesce(sum(length(image)), 0) from thumbnails where {session.dialect.of('thumbnails')}"
    )
    return number, size


def size(session: Session, without: Sequence[str], space: str, /) -> int:
    """Return how many bytes all pictures have, but for those of some files in a space."""
    keys = files.memories_of_paths(session, without, space)
    of_them = session.value(f"select coalesce(sum(length(image)), 0) from thumbnails where {_of(session)}", keys=keys)
    return count(session)[1] - int(of_them)


def unread(session: Session, paths: Sequence[str], space: str) -> set[str]:
    """Return those of some files of whose pictures nothing is known, and in whose text a mark stands for one."""
    dialect = session.dialect
    unknown = f"{dialect.of('files')} and space = :space and {dialect.among('path', 'paths')} and not pictures"
    of_these = session.column(f"select path from files where {unknown} order by path", paths=list(paths), space=space)
    joined = dialect.join("texts", "memories", "texts.memory = memories.key")
    showing = session.column(
        f"""
        select distinct memories.source from memories {joined}
        where {dialect.of("memories")} and {dialect.among("memories.key", "keys")}
            and replace(texts.text, '[image/', '') <> texts.text order by memories.source
        """,
        keys=files.memories_of_paths(session, of_these, space),
    )
    return set(showing)


def note_read(session: Session, path: str, content_hash: str, space: str) -> None:
    """Note that the pictures of a file were read, if it is still the one that is known."""
    same = f"{session.dialect.of('files')} and path = :path and space = :space and content_hash = :content"
    session.changed(f"update files set pictures = true where {same}", path=path, space=space, content=content_hash)


def clear(session: Session) -> int:
    """Remove all thumbnails, so that their files count as unread; return the number removed."""
    session.changed(f"update files set pictures = false where {session.dialect.of('files')} and pictures")
    return session.changed(f"delete from thumbnails where {session.dialect.of('thumbnails')}")


def _of(session: Session) -> str:
    return f"{session.dialect.of('thumbnails')} and {session.dialect.among('thumbnails.memory', 'keys')}"
