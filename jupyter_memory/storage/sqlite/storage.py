"""A store in one SQLite file: its snapshots, its writer and its maintenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import apsw

from jupyter_memory.errors import StoreDamaged
from jupyter_memory.storage.base import Forgotten, RunLog, Snapshot, Thumbnails, Transfer, Writer
from jupyter_memory.storage.sqlite import backup, maintenance, sizes
from jupyter_memory.storage.sqlite.connection.background import BackgroundReader
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes.keyword_query import stems
from jupyter_memory.storage.sqlite.indexes.statistics import StatisticsCache
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.indexes.word_scores import WordScoreCache
from jupyter_memory.storage.sqlite.part import PartCache, PartSnapshot
from jupyter_memory.storage.sqlite.runs import SqliteRunLog
from jupyter_memory.storage.sqlite.snapshot import Indexes, SqliteSnapshot
from jupyter_memory.storage.sqlite.writing.thumbnails import SqliteThumbnails
from jupyter_memory.storage.sqlite.writing.transfer import SqliteTransfer
from jupyter_memory.storage.sqlite.writing.undo import SqliteForgotten
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter
from jupyter_memory.types import Filters


class SqliteStorage:
    """A store in one SQLite file; `storage.base.Storage` says what each method does."""

    def __init__(self, database: Database, vectors: VectorIndex | None = None) -> None:
        self.database = database
        self.vectors = VectorIndex() if vectors is None else vectors
        self._indexes = Indexes(
            self.vectors, WordScoreCache(self.vectors.owners), StatisticsCache(), BackgroundReader(database)
        )
        self._parts = PartCache()
        self._writer = SqliteWriter(database, self.vectors)
        self._runs = SqliteRunLog(database, self.vectors)
        self._thumbnails = SqliteThumbnails(database, self.vectors)
        self._transfer = SqliteTransfer(database, self.vectors)
        self._forgotten = SqliteForgotten(database, self.vectors)
        database.diagnosis.find_damage = self._first_damage

    @property
    def path(self) -> Path:
        return self.database.path

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
    def notices(self) -> Sequence[str]:
        return self.database.notices

    @property
    def read_only(self) -> bool:
        return self.database.read_only

    @property
    def created(self) -> bool:
        return self.database.created

    @property
    def replaced(self) -> bool:
        return self.database.replaced

    @property
    def writes_at_once(self) -> bool:
        return self.database.writes_at_once

    @contextmanager
    def snapshot(self, within: Filters | None = None) -> Iterator[Snapshot]:
        with self.database.read() as connection:
            whole = SqliteSnapshot(connection, self._indexes)
            part = PartSnapshot(connection, self._indexes, within, self._parts) if within else None
            yield whole if part is None or part.is_all else part

    @contextmanager
    def searching(self, weights: Mapping[str, float], stop_words: Iterable[str], /) -> Iterator[None]:
        def stop_stems(connection: apsw.Connection) -> frozenset[str]:
            return frozenset(stems(connection, " ".join(stop_words)))

        indexes = self._indexes
        with indexes.background.searching(lambda: indexes.scores.reading_ahead(weights, stop_stems)):
            yield

    def interrupt(self, thread: int, /) -> bool:
        return self.database.interrupts.stop(thread)

    def stats(self) -> dict[str, Any]:
        return maintenance.stats(self.database, self.vectors)

    def sizes(self) -> Mapping[str, int]:
        with self.database.read() as connection:
            return sizes.sizes(connection, self.path)

    def held(self) -> int:
        with self.database.read() as connection:
            return sizes.held(connection)

    def problems(self) -> Iterable[str]:
        return maintenance.problems(self.database, self.vectors)

    def backup(self, target: Path, /) -> None:
        maintenance.refuse_broken(self.database)
        backup.backup(self.database, target)

    def _first_damage(self) -> str:
        try:
            return next(iter(maintenance.damage(self.database)), "")
        except StoreDamaged as error:
            return str(error)

    def close(self) -> None:
        self._indexes.background.close()
        self.database.close()


def versions() -> dict[str, str]:
    """Return the versions of SQLite and of its extension for vectors, by name."""
    return {"SQLite": apsw.sqlite_lib_version(), "sqlite-vec": version("sqlite-vec")}
