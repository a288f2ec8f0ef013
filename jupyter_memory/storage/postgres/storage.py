"""A store in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.storage.base import RunLog, Snapshot
from jupyter_memory.storage.postgres import checks, vectors
from jupyter_memory.storage.postgres.database import SCHEMA, Database, of
from jupyter_memory.storage.postgres.postings import StatisticsCache
from jupyter_memory.storage.postgres.snapshot import PartSnapshot, PostgresSnapshot
from jupyter_memory.storage.postgres.transfer import PostgresTransfer
from jupyter_memory.storage.postgres.writer import PostgresRunLog, PostgresThumbnails, PostgresWriter
from jupyter_memory.storage.sql import SHOWN_TIER
from jupyter_memory.storage.tables import thumbnails
from jupyter_memory.storage.writing import Forgotten, Thumbnails, Transfer, Writer
from jupyter_memory.text.paths import DatabaseAddress
from jupyter_memory.types import Filters
from jupyter_memory.types.protocols import UNREAD
from jupyter_memory.types.report import Undoable

# What the tables are for, by their names, with their indexes, of all spaces; whatever is not here is small.
_KINDS = {
    "texts": ("memories", "texts", "tags", "chunks", "definitions"),
    "words": ("postings", "frequencies", "totals"),
    "vectors": ("vectors", "chunk_tokens", "models", "trust"),
    "pictures": ("thumbnails",),
    "history": ("runs",),
    "searches": ("searches", "feedback", "query_vectors", "query_keys"),
    "files": ("files", "folders"),
}
_OTHER = "other"


def open_postgres(address: DatabaseAddress, *, busy_seconds: float, space: str = "") -> PostgresStorage:
    """Open the store in a database, or make it; with a ``space``, nothing else of it is seen."""
    return PostgresStorage(Database(address, space=space, busy_seconds=busy_seconds))


class PostgresStorage:
    """A store in a PostgreSQL database."""

    # A small change does not wait for the server's disk.
    writes_at_once = True
    # A database is not moved away under those who use it: a server that has gone says so by itself.
    replaced = False
    notices: Sequence[str] = ()

    def __init__(self, database: Database) -> None:
        self.database = database
        self._cache = StatisticsCache()
        self._writer = PostgresWriter(database)
        self._runs = PostgresRunLog(database)
        self._thumbnails = PostgresThumbnails(database)
        self._transfer = PostgresTransfer(database)
        self._forgotten = _NothingForgotten()

    @property
    def path(self) -> DatabaseAddress:
        return self.database.address

    @property
    def writer(self) -> Writer:
        return self._writer

    @property
    def runs(self) -> RunLog:
        return self._runs

    @property
    def transfer(self) -> Transfer:
        return self._transfer

    @property
    def thumbnails(self) -> Thumbnails:
        return self._thumbnails

    @property
    def forgotten(self) -> Forgotten:
        return self._forgotten

    @property
    def read_only(self) -> bool:
        return self.database.read_only

    @property
    def created(self) -> bool:
        return self.database.created

    @contextmanager
    def snapshot(self, within: Filters | None = None) -> Iterator[Snapshot]:
        with self.database.read() as session:
            part = PartSnapshot(session, self._cache, within) if within else None
            yield PostgresSnapshot(session, self._cache) if part is None or part.is_all else part

    def searching(self, weights: Mapping[str, float], stop_words: Iterable[str], /) -> AbstractContextManager[None]:
        # The server keeps what it read in its own memory, for everybody: nothing is read ahead here.
        return nullcontext()

    def interrupt(self, thread: int, /) -> bool:
        return self.database.interrupts.stop(thread)

    def stats(self) -> dict[str, Any]:
        with self.database.read() as session:
            active = vectors.active(session)
            pictures, size = thumbnails.count(session)
            [(number, pinned)] = session.rows(
                f"select count(*), count(*) filter (where pinned) from memories where {of('memories')}"
            )
            kinds, tiers, spaces = (
                dict(
                    session.rows(
                        f"select {expression}, count(*) from memories where {of('memories')} "
                        "group by 1 order by 2 desc, 1"
                    )
                )
                for expression in ("kind", SHOWN_TIER, "space")
            )
            models = [(model, vectors.count(session, model)) for model in vectors.models(session)]
            return {
                "store": str(self.path),
                "memories": number,
                "chunks": session.totals.chunks,
                "files": session.value(
                    f"select count(*) from files where {of('files')} and left(content_hash, 1) <> :unread",
                    unread=UNREAD,
                ),
                "thumbnails": {"number": pictures, "bytes": size},
                "pinned": pinned,
                "kinds": kinds,
                "tiers": tiers,
                "spaces": spaces,
                "model": active.name if active else None,
                "models": [
                    {
                        "name": model.name,
                        "fingerprint": model.fingerprint,
                        "dimensions": model.dimensions,
                        "active": active is not None and model.id == active.id,
                        "vectors": of_model,
                        "bytes": of_model * 4 * model.dimensions,
                    }
                    for model, of_model in models
                ],
                # Of all spaces: a table is not measured by its rows.
                "bytes": self.held(),
                "journal": "server",
                "version": session.value("select max(version) from schema_version"),
                "scrub_pending": False,
                "read_only": self.read_only,
            }

    def sizes(self) -> Mapping[str, int]:
        # With room in the tables that the server uses again.
        found = dict.fromkeys((*_KINDS, _OTHER), 0)
        with self.database.read() as session:
            for table, size in session.rows(
                """
                select relname, pg_total_relation_size(oid) from pg_class
                where relkind in ('r', 'p') and relnamespace = 'jupyter_memory'::regnamespace
                """
            ):
                found[next((kind for kind, tables in _KINDS.items() if table in tables), _OTHER)] += size
        return found

    def held(self) -> int:
        return sum(self.sizes().values())

    def problems(self) -> Iterable[str]:
        with self.database.read() as session:
            return list(checks.problems(session))

    def backup(self, target: Path, /) -> None:
        raise InputError(
            f"A store on a server has the backups of its server: pg_dump --schema={SCHEMA}. For a file of your own: "
            f"jupyter-memory copy {self.path} {target}"
        )

    def close(self) -> None:
        self.database.close()


class _NothingForgotten:
    # On a server, forgetting is for good: nothing can be taken back.

    def pending(self, space: str, /) -> list[Undoable]:
        return []

    def undo(self, space: str, /) -> int:
        return 0

    def drop(self, until: datetime | None, /) -> int:
        return 0
