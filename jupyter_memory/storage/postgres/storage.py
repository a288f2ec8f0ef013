"""A store in PostgreSQL, and the rights of those who share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jupyter_memory.errors import InputError, Interrupted, StoreError
from jupyter_memory.storage.base import Level, Right
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

    def kept(
        self, session: Session, until: datetime, space: str, moved: list[str], forget: Callable[[], int], /
    ) -> int:
        raise InputError(
            "What is forgotten on a server cannot be taken back, so nothing was forgotten. Forget it for good with "
            "--now (now=True), or set undo_minutes to 0."
        )

    def identity(self) -> object:
        with self.database.read() as session:
            return list(session.rows("select pg_postmaster_start_time()::text, current_database()::text"))

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


# Rights: rows that policies read, privileges of roles, and Citus, where it is there.

_REFERENCE = ("models", "grants", "schema_version")  # tables without a space, which every machine of Citus holds
# In the order in which their foreign keys can be made.
_DISTRIBUTED = (
    "memories", "texts", "tags", "chunks", "postings", "frequencies", "totals", "vectors", "trust", "chunk_tokens",
    "definitions", "thumbnails", "files", "folders", "runs", "searches", "feedback", "query_vectors", "query_keys",
    "done",
)  # fmt: skip
# What only a table on one machine can have: the space is not in it.
_OF_ONE_MACHINE = {
    "memories": "drop constraint memories_key, drop constraint memories_id, add unique (space, id)",
    "chunks": "drop constraint chunks_id",
}


class Team:
    """The rights in a store on a server; its owners alone change them."""

    def __init__(self, address: DatabaseAddress, *, busy_seconds: float) -> None:
        self._address = address
        self._database = Database(address, busy_seconds=busy_seconds)

    def grant(self, role: str, level: Level, space: str | None, /) -> None:
        """Give a role a right in a space, in place of the one that it has there; for owners of the store alone."""

        def change(session: Session) -> None:
            if not session.value("select exists (select 1 from pg_roles where rolname = :role)", role=role):
                raise InputError(
                    f"There is no role {role} on the server of {self._address}. Its administrator can create one: "
                    f"create role {role} login"
                )
            give = "select jupyter_memory.give_right(:role, :level, :space)"
            session.execute(give, role=role, level=level, space=space)

        if level == "owner" and space is not None:
            raise InputError("An owner owns the whole store: leave the space out, or grant the right of a writer.")
        self._database.change(change)

    def revoke(self, role: str, space: str | None, /) -> int:
        """Take away the rights of a role in a space, all of them if it is None; return how many it had."""
        take = "select jupyter_memory.take_rights(:role, :space)"
        return self._database.change(lambda session: int(session.value(take, role=role, space=space)))

    def rights(self) -> list[Right]:
        """Return the rights that this user may know of, by role and space."""
        with self._database.read() as session:
            return [Right(*row) for row in session.rows("select role, level, space from jupyter_memory.rights()")]

    def distribute(self) -> Sequence[str]:
        """Spread the tables over the machines of Citus, by space; return those that were not spread before."""

        def change(session: Session) -> list[str]:
            if not session.value("select exists (select 1 from pg_extension where extname = 'citus')"):
                raise StoreError(
                    f"The database at {self._address} has no Citus, so its tables stay on one machine. To have it: "
                    "create extension citus"
                )
            known = {str(name) for (name,) in session.rows("select table_name::text from citus_tables")}
            made = []
            # The machines of Citus number roles apart.
            session.execute("update jupyter_memory.grants set role_oid = null")
            for table in (*_REFERENCE, *_DISTRIBUTED):
                if known & {table, f"jupyter_memory.{table}"}:
                    continue
                if table in _REFERENCE:
                    session.execute("select create_reference_table(:name)", name=f"jupyter_memory.{table}")
                else:
                    if alone := _OF_ONE_MACHINE.get(table):
                        session.execute(f"alter table jupyter_memory.{table} {alone}")
                    beside = "none" if table == _DISTRIBUTED[0] else f"jupyter_memory.{_DISTRIBUTED[0]}"
                    session.execute(
                        "select create_distributed_table(:name, 'space', colocate_with => :beside)",
                        name=f"jupyter_memory.{table}",
                        beside=beside,
                    )
                made.append(table)
            return made

        return self._database.change(change)

    def close(self) -> None:
        self._database.close()
