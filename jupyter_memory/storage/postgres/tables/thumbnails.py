"""The thumbnails of memories."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.storage.postgres.database import Database, Session, of
from jupyter_memory.storage.postgres.tables import memories
from jupyter_memory.storage.sql import POSTGRES
from jupyter_memory.storage.tables.files import HELD, of_paths
from jupyter_memory.types import Draft
from jupyter_memory.types.memory import Thumbnail

SOURCES = of_paths(POSTGRES)
_THUMBNAIL = "media_type, width, height, image, origin"
_JOINED = "memories join thumbnails on thumbnails.space = memories.space and thumbnails.memory = memories.key"


def insert(session: Session, written: Sequence[tuple[int, Draft]]) -> None:
    shown = [
        (draft.space, key, place, one) for key, draft in written for place, one in enumerate(draft.pictures.thumbnails)
    ]
    if not shown:
        return
    pictures = [one for *_, one in shown]
    session.execute(
        f"""
        insert into thumbnails (space, memory, place, {_THUMBNAIL})
        select * from unnest(:spaces_of::text[], :memories::bigint[], :places::integer[], :types::text[],
            :widths::integer[], :heights::integer[], :images::bytea[], :origins::text[])
        """,
        spaces_of=[space for space, *_ in shown],
        memories=[key for _, key, *_ in shown],
        places=[place for _, _, place, _ in shown],
        types=[one.media_type for one in pictures],
        widths=[one.width for one in pictures],
        heights=[one.height for one in pictures],
        images=[one.image for one in pictures],
        origins=[one.origin for one in pictures],
    )


def by_memory(session: Session, keys: Sequence[int]) -> dict[int, tuple[Thumbnail, ...]]:
    found: dict[int, tuple[Thumbnail, ...]] = {}
    for memory, *one in session.rows(
        f"select memory, {_THUMBNAIL} from thumbnails "
        f"where {of('thumbnails')} and memory = any(:keys) order by memory, place",
        keys=list(keys),
    ):
        found[memory] = (*found.get(memory, ()), Thumbnail(*one))
    return found


def replace(session: Session, key: int, draft: Draft) -> None:
    """Give a memory the thumbnails of a draft that has any."""
    if draft.pictures.thumbnails:
        session.execute(f"delete from thumbnails where {of('thumbnails')} and memory = :key", key=key)
        insert(session, [(key, draft)])


def count(session: Session) -> tuple[int, int]:
    [(number, size)] = session.rows(
        f"select count(*), coalesce(sum(length(image)), 0)::bigint from thumbnails where {of('thumbnails')}"
    )
    return number, size


class PostgresThumbnails:
    """The thumbnails of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        with self._database.read() as session:
            rows = session.rows(
                f"select {_THUMBNAIL} from thumbnails where {of('thumbnails')} and memory = :key and place = :place",
                key=memories.known_key(session, memory_id),
                place=place,
            )
        return Thumbnail(*rows[0]) if rows else None

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        with self._database.read() as session:
            rows = session.rows(
                f"select {_THUMBNAIL} from {_JOINED} where {of('memories')} and {SOURCES}",
                paths=[path],
                space=space,
            )
        return {row[-1]: Thumbnail(*row) for row in rows}

    def size(self, without: Sequence[str], space: str, /) -> int:
        with self._database.read() as session:
            excluded = session.value(
                f"select coalesce(sum(length(image)), 0)::bigint from {_JOINED} where {of('memories')} and {SOURCES}",
                paths=list(without),
                space=space,
            )
            return count(session)[1] - int(excluded)

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        # The text of a cell has the mark in place of a picture.
        with self._database.read() as session:
            rows = session.rows(
                f"""
                select files.path from files
                where {of("files")} and files.space = :space and files.path = any(:paths) and not files.pictures
                    and exists (
                        select 1 from memories
                        join texts on texts.space = memories.space and texts.memory = memories.key
                        where {HELD} and strpos(texts.text, :mark) > 0
                    )
                """,
                paths=list(paths),
                space=space,
                mark="[image/",
            )
        return {str(row[0]) for row in rows}

    def clear(self) -> int:
        def remove(session: Session) -> int:
            session.execute(f"update files set pictures = false where {of('files')} and pictures")
            return session.changed(f"delete from thumbnails where {of('thumbnails')}")

        return self._database.change(remove)
