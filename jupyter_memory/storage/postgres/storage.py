"""A store in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jupyter_memory.errors import InputError, Interrupted, StoreError
from jupyter_memory.storage.postgres import keyword, postings
from jupyter_memory.storage.postgres.database import SCHEMA, Database, Session, of
from jupyter_memory.storage.postgres.vectors import VECTORS
from jupyter_memory.storage.snapshot import Storage, by_kind, counts
from jupyter_memory.storage.sql import POSTGRES, condition
from jupyter_memory.storage.tables import checks
from jupyter_memory.text.paths import DatabaseAddress
from jupyter_memory.types import Filters

Result = TypeVar("Result")
_RESTORE = "Restore them from a dump with pg_restore"
# A role sees the rights that it has, and no others; none of them binds who made the tables.
_REFUSED = """
    select wanted.space from unnest(:wanted::text[]) as wanted (space)
    where not exists (
        select 1 from grants where level <> 'reader' and (grants.space is null or grants.space = wanted.space)
    ) and not pg_has_role(current_user, (select relowner from pg_class where oid = 'grants'::regclass), 'usage')
"""


class PostgresStorage(Storage):
    """A store in a PostgreSQL database; with a ``space``, nothing else of it is seen."""

    database: Database
    # Nothing is scrubbed on a server.
    is_small = False

    def __init__(self, address: DatabaseAddress, *, busy_seconds: float, space: str = "") -> None:
        database = Database(address, space=space, busy_seconds=busy_seconds)
        super().__init__(database, address, keyword.KeywordIndex(), VECTORS)

    def change(
        self, work: Callable[[Session], Result], /, *, at_once: float | None = None, yielding: bool = False
    ) -> Result:
        def change(session: Session) -> tuple[Result, bool]:
            return work(session), at_once is None and postings.is_unfolded(session)

        result, unfolded = self.database.change(change, at_once=at_once)
        if unfolded:
            # The change is stored, whatever becomes of the fold; the next change tries it again.
            with suppress(StoreError, Interrupted):
                self.database.change(postings.fold)
        return result

    def remove(self, work: Callable[[Session], Result], /, *, compact_at: float = 0.5) -> Result:
        return self.change(work)

    def scrub(self) -> None:
        """Do nothing: the server overwrites what was removed when it needs the room."""

    def tidy(self, *, compact_at: float = 0.5) -> None:
        self.database.change(postings.fold)
        self.database.change(VECTORS.index)

    def kept(self, session: Session, until: datetime, space: str, forget: Callable[[], int], /) -> int:
        raise InputError(
            "What is forgotten on a server cannot be taken back, so nothing was forgotten. Forget it for good with "
            "--now (now=True), or set undo_minutes to 0."
        )

    def refused(self, spaces: Sequence[str], /) -> list[str]:
        with self.database.read() as session:
            return [str(space) for (space,) in session.rows(_REFUSED, wanted=list(spaces))]

    def sample(self, session: Session, count: int, within: Filters, /) -> list[int]:
        total = self.keywords.corpus(session, within).chunks
        wanted = np.unique(np.linspace(1, total, min(count, total)).astype(np.int64)).tolist() if total else []
        joined = "join memories on memories.space = chunks.space and memories.key = chunks.memory" if within else ""
        where, parameters = condition(POSTGRES, within) if within else (of("chunks"), {})
        return session.column(
            f"""
            with placed as (
                select chunks.id, row_number() over (order by chunks.id) as place from chunks {joined} where {where}
            )
            select id from placed where place = any(:wanted) order by id
            """,
            **parameters,
            wanted=wanted,
        )

    def stats(self) -> dict[str, Any]:
        with self.database.read() as session:
            return {
                "store": str(self.path),
                **counts(self, session),
                # Of all spaces: a table is not measured by its rows.
                "bytes": self.held(),
                "journal": "server",
                "version": session.value("select max(version) from schema_version"),
                "scrub_pending": False,
                "read_only": self.read_only,
            }

    def sizes(self) -> Mapping[str, int]:
        # Of all spaces, with room in the tables that the server uses again.
        with self.database.read() as session:
            found = by_kind(
                session.rows(
                    """
                    select relname, pg_total_relation_size(oid) from pg_class
                    where relkind in ('r', 'p') and relnamespace = 'jupyter_memory'::regnamespace
                    """
                )
            )
        del found["forgotten"]  # nothing is kept to be taken back
        return found

    def held(self) -> int:
        return sum(self.sizes().values())

    def problems(self) -> Iterable[str]:
        # The server checks its own pages; a check here is for what a program or a person may have changed by hand.
        with self.database.read() as session:
            found = [
                *checks.lost_rows(session, _RESTORE),
                *checks.texts(session, _RESTORE),
                *checks.names(session),
                *checks.vectors(session, VECTORS),
                *checks.missing_vectors(session, VECTORS),
            ]

            # Counts are of the postings, and postings of the chunks.
            totals = session.totals
            [held] = session.rows(f"select count(*), coalesce(sum(words), 0)::bigint from chunks where {of('chunks')}")
            wrong = session.value(
                f"""
                select exists (
                    select space, term, columns, sum(chunks) from (
                        select space, term, columns, chunks from frequencies where {of("frequencies")}
                        union all
                        select space, term, {postings.HOLDING}, -1 from postings where {of("postings")}
                    ) as both_of_them
                    group by 1, 2, 3 having sum(chunks) <> 0
                )
                """
            )
            lost = session.value(
                f"""
                select exists (
                    select 1 from postings where {of("postings")} and not exists (
                        select 1 from chunks where chunks.space = postings.space and chunks.id = postings.chunk
                    )
                ) or exists (
                    select 1 from chunks where {of("chunks")} and words > 0 and not exists (
                        select 1 from postings where postings.space = chunks.space and postings.chunk = chunks.id
                    )
                )
                """
            )
            if (totals.chunks, totals.words) != tuple(held) or wrong or lost:
                found.append("The keyword index does not match the memories. Repair it with store.rebuild().")
            return found

    def backup(self, target: Path, /) -> None:
        raise InputError(
            f"A store on a server has the backups of its server: pg_dump --schema={SCHEMA}. For a file of your own: "
            f"jupyter-memory copy {self.path} {target}"
        )
