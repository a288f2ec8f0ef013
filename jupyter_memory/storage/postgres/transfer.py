"""Memories on their way out of a store and into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import Calibration, Model, Prepared
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.postgres import postings, vectors
from jupyter_memory.storage.postgres.changes import Changes
from jupyter_memory.storage.postgres.database import Database, Session, of
from jupyter_memory.storage.postgres.tables import activity, arrivals, memories, runs, thumbnails
from jupyter_memory.storage.postgres.writer import changed_and_folded
from jupyter_memory.storage.shared import from_micros, identity
from jupyter_memory.storage.tables import files
from jupyter_memory.storage.writing import Arriving, Became, Contents, NotedFile, NotedFolder, NotedSearch, Stored
from jupyter_memory.types import Chunk, Filters
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import Feedback, Recent

# What a PostgreSQL store holds, on its way into a folder or another store; `storage.base.Contents` says what.

# Memories that are read at once.
_TOGETHER = 200


class _Contents:
    # What one state of a store holds in a space, or in all of them.

    def __init__(self, session: Session, space: str) -> None:
        self._session = session
        self._space = space

    def model(self) -> Model | None:
        return vectors.active(self._session)

    def calibration(self) -> Calibration | None:
        model = self.model()
        return None if model is None else vectors.calibration(self._session, model)

    def spaces(self) -> list[str]:
        if self._space:
            return [self._space]
        every = "select space from memories union select space from files union select space from folders order by 1"
        return [str(space) for (space,) in self._session.rows(every)]

    def memories(self) -> Iterator[Stored]:
        for some in batches(memories.keys_where(self._session, self._filters), _TOGETHER):
            loaded = memories.load(self._session, some)
            cut: dict[int, list[Chunk]] = {}
            for key, *chunk in self._session.rows(
                "select memory, start, stop, context, line from chunks "
                f"where {of('chunks')} and memory = any(:keys) order by id",
                keys=some,
            ):
                cut.setdefault(key, []).append(Chunk(*chunk))
            # The tiers with which memories were stored, which a pin hides.
            tiers = dict(
                self._session.rows(
                    f"select key, tier from memories where {of('memories')} and key = any(:keys)", keys=some
                )
            )
            pictures = thumbnails.by_memory(self._session, some)
            for key in some:
                ran = runs.of_memory(self._session, key) if loaded[key].kind == "history" else []
                yield Stored(loaded[key], tiers[key], tuple(cut.get(key, ())), tuple(ran), pictures.get(key, ()))

    def prepared(self, stored: Sequence[Stored], /) -> list[Prepared]:
        session, model = self._session, self.model()
        by_id = arrivals.keys_by_id(session, [one.memory.id for one in stored])
        keys = [by_id[one.memory.id] for one in stored]
        owned: dict[int, list[int]] = {key: [] for key in keys}
        for chunk, memory in session.rows(
            f"select id, memory from chunks where {of('chunks')} and memory = any(:keys) order by id",
            keys=keys,
        ):
            owned[memory].append(chunk)
        every = [chunk for key in keys for chunk in owned[key]]
        tokens = memories.tokens_of(session, every)
        found = None if model is None else vectors.of_chunks(session, model, every)
        embedded = {} if found is None else dict(zip(found.ids.tolist(), found.vectors, strict=True))
        defined = memories.definitions_of(session, keys)
        return [
            Prepared(
                one.draft,
                np.stack([embedded[chunk] for chunk in of_it]) if of_it and embedded.keys() >= set(of_it) else None,
                [tokens[chunk] for chunk in of_it] if tokens.keys() >= set(of_it) else (),
                definitions=defined.get(key),
            )
            for one, key in zip(stored, keys, strict=True)
            for of_it in (owned[key],)
        ]

    def files(self) -> Iterator[NotedFile]:
        return iter(files.every(self._session, self._space))

    def folders(self) -> Iterator[NotedFolder]:
        return iter(files.every_folder(self._session, self._space))

    def feedback(self) -> Iterator[Feedback]:
        for said in activity.judged(self._session):
            if memories.keys_where(self._session, self._filters, [said.memory_id]):
                yield said

    def searches(self) -> Iterator[NotedSearch]:
        for id_, query, profile, at, origin, hits, client, tool in self._session.rows(
            "select query_id, query, profile, at, origin, hits, client, tool from searches "
            f"where {activity.OWN} order by number",
            space=self._session.space,
        ):
            recent = Recent(id_, query, profile, from_micros(at), origin, len(hits), client, tool)
            yield NotedSearch(recent, tuple(hits))

    @property
    def _filters(self) -> Filters:
        return Filters(space=(self._space,)) if self._space else Filters()


# A role sees the rights that it has, and no others; none of them binds who made the tables.
_REFUSED = """
    select wanted.space from unnest(:wanted::text[]) as wanted (space)
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
            yield _Contents(session, space)

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        with self._database.read() as session:
            rows = session.rows(_REFUSED, wanted=list(spaces))
            return [str(space) for (space,) in rows]

    def begin(self, embedder: Embedder, /) -> Model:
        return self._database.change(lambda session: vectors.register(session, embedder, indexed=False))

    def finish(self) -> None:
        self._database.change(postings.fold)
        self._database.change(vectors.index)

    def put(self, arriving: Sequence[Arriving], embedder: Embedder | None, /, *, update: bool) -> list[Became]:
        def put(changes: Changes) -> list[Became]:
            session, model = changes.session, changes.model(embedder)
            taken: set[object] = set(arrivals.keys_by_id(session, [one.id for one in arriving]))
            new: set[int] = set()
            for place, (one, held) in enumerate(zip(arriving, arrivals.same_content(session, arriving), strict=True)):
                draft = one.prepared.draft
                name = (content_hash(draft), draft.space) if draft.kind == "history" else identity(draft)
                if held is None and not taken & {one.id, name}:
                    new.add(place)
                    taken |= {one.id, name}

            changes.lock_known([*arrivals.keys_by_id(session, [one.id for one in arriving]).values()])
            changes.put_in([arriving[place] for place in sorted(new)], model)
            return [
                "added" if place in new else _settle(changes, one, embedder, update)
                for place, one in enumerate(arriving)
            ]

        return changed_and_folded(self._database, put)

    def note(
        self,
        files_read: Sequence[NotedFile],
        folders_read: Sequence[NotedFolder],
        feedback: Sequence[Feedback],
        /,
    ) -> None:
        def note(session: Session) -> None:
            files.restore(session, files_read)
            files.restore_folders(session, folders_read)
            activity.restore_feedback(session, feedback)

        self._database.change(note)


def _settle(changes: Changes, one: Arriving, embedder: Embedder | None, update: bool) -> Became:
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
