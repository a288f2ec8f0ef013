"""Rights in a store on a server: rows that its policies read, privileges of its roles, and Citus, where it is there."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.errors import InputError, StoreError
from jupyter_memory.storage.base import Level, Right
from jupyter_memory.storage.postgres.database import Database, Session
from jupyter_memory.text.paths import DatabaseAddress

# Tables without a space, which every machine of Citus holds.
_REFERENCE = ("models", "grants", "schema_version")
# In the order in which their foreign keys can be made.
_DISTRIBUTED = (
    "memories", "texts", "tags", "chunks", "postings", "frequencies", "totals", "vectors", "trust", "chunk_tokens",
    "definitions", "thumbnails", "files", "folders", "runs", "searches", "feedback", "query_vectors", "query_keys",
    "done",
)  # fmt: skip
# What only a table on one machine can have: the space is not in it.
_OF_ONE_MACHINE = {"memories": "memories_key", "chunks": "chunks_id"}


class Team:
    """The rights in a store on a server; its owners alone change them."""

    def __init__(self, address: DatabaseAddress, *, busy_seconds: float) -> None:
        self._address = address
        self._database = Database(address, busy_seconds=busy_seconds)

    def grant(self, role: str, level: Level, space: str | None, /) -> None:
        """Give a role a right in a space, in place of the one that it has there.

        Raises:
            InputError: there is no such role, or it is to own one space alone.
            StoreReadOnly: this user does not own the store.
        """

        def change(session: Session) -> None:
            if not session.value("select exists (select 1 from pg_roles where rolname = :role)", role=role):
                raise InputError(
                    f"There is no role {role} on the server of {self._address}. Who administers it can make one: "
                    f"create role {role} login"
                )
            give = "select jupyter_memory.give_right(:role, :level, :space)"
            session.execute(give, role=role, level=level, space=space)

        if level == "owner" and space is not None:
            raise InputError("Who owns the store owns all of it: leave the space out, or grant the right of a writer.")
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
                        session.execute(f"alter table jupyter_memory.{table} drop constraint if exists {alone}")
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
        """Close the connection."""
        self._database.close()
