"""Takes memories out of a PostgreSQL store and puts them into one; `storage.base.Transfer` says what each does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jupyter_memory.storage.base import Arriving, Became, Contents, Model, NotedFile, NotedFolder
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.postgres.connection.database import Database
from jupyter_memory.storage.postgres.connection.session import Session
from jupyter_memory.storage.postgres.indexes import postings, vectors
from jupyter_memory.storage.postgres.tables import arrivals, files, folders, searches
from jupyter_memory.storage.postgres.writing.changes import Changes
from jupyter_memory.storage.postgres.writing.contents import PostgresContents
from jupyter_memory.storage.postgres.writing.writer import changed_and_folded
from jupyter_memory.storage.shared.rows import identity
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import Feedback

# A role sees the rights that it has, and no others; none of them binds who made the tables.
_REFUSED = """
    select wanted.space from unnest(%(wanted)s::text[]) as wanted (space)
    where not exists (
        select 1 from grants where level <> 'reader' and (grants.space is null or grants.space = wanted.space)
    ) and not pg_has_role(current_user, (select relowner from pg_class where oid = 'grants'::regclass), 'usage')
"""


class PostgresTransfer:
    """Takes memories out of a PostgreSQL store and puts them into one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def contents(self, space: str, /) -> Iterator[Contents]:
        with self._database.read() as session:
            yield PostgresContents(session, space)

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        with self._database.read() as session:
            rows = session.rows(_REFUSED, {"wanted": list(spaces)})
            return [str(space) for (space,) in rows]

    def begin(self, embedder: Embedder, /) -> Model:
        return self._database.change(lambda session: vectors.register(session, embedder, indexed=False))

    def finish(self) -> None:
        self._database.change(postings.fold)
        self._database.change(vectors.index)

    def put(self, arriving: Sequence[Arriving], embedder: Embedder | None, /, *, update: bool) -> list[Became]:
        return changed_and_folded(self._database, lambda changes: _put(changes, arriving, embedder, update))

    def note(
        self,
        files_read: Sequence[NotedFile],
        folders_read: Sequence[NotedFolder],
        feedback: Sequence[Feedback],
        /,
    ) -> None:
        def note(session: Session) -> None:
            files.restore(session, files_read)
            folders.restore(session, folders_read)
            searches.restore_feedback(session, feedback)

        self._database.change(note)


def _put(changes: Changes, arriving: Sequence[Arriving], embedder: Embedder | None, update: bool) -> list[Became]:
    model = changes.model(embedder)
    new = _new(changes.session, arriving)
    changes.lock_known([*arrivals.keys_by_id(changes.session, [one.id for one in arriving]).values()])
    changes.put_in([arriving[place] for place in sorted(new)], model)
    return ["added" if place in new else _settle(changes, one, embedder, update) for place, one in enumerate(arriving)]


def _new(session: Session, arriving: Sequence[Arriving]) -> set[int]:
    """Return the places of those whose id and content are not there, the first of several alike."""
    taken: set[object] = set(arrivals.keys_by_id(session, [one.id for one in arriving]))
    new: set[int] = set()
    for place, (one, known) in enumerate(zip(arriving, arrivals.same_content(session, arriving), strict=True)):
        draft = one.prepared.draft
        name = (content_hash(draft), draft.space) if draft.kind == "history" else identity(draft)
        if known is None and not taken & {one.id, name}:
            new.add(place)
            taken |= {one.id, name}
    return new


def _settle(changes: Changes, one: Arriving, embedder: Embedder | None, update: bool) -> Became:
    """Bring together what arrives and the memory that has its id or its content; return what became of it."""
    session = changes.session
    by_id = arrivals.keys_by_id(session, [one.id]).get(one.id)
    [by_content] = arrivals.same_content(session, [one])
    became: Became = "kept"
    if by_content is not None and by_content != by_id and (by_id is None or update):
        changes.merge(by_content, one.prepared.draft)
        by_id, became = by_content, "merged"
    elif update and by_id is not None and arrivals.differs(session, by_id, one):
        changes.overwrite(by_id, one, changes.model(embedder))
        became = "updated"
    if by_id is not None:
        changes.add_runs(by_id, one)
    return became
