"""The history of a SQLite store; `storage.base.RunLog` says what each method does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from jupyter_memory.storage.base import Noted, Prepared, RunFilter
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.shared.runs import key as run_key
from jupyter_memory.storage.sqlite.connection import scrubbing
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import runs as rows
from jupyter_memory.storage.sqlite.writing.changes import Changes
from jupyter_memory.storage.sqlite.writing.transactions import Transactions
from jupyter_memory.types import Draft, Run
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import HistoryStatus

# Content hash and space of a text.
_Text = tuple[str, str]


class SqliteRunLog:
    """What a SQLite store holds of the history."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._transactions = Transactions(database, vectors)

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        texts = [_text(draft) for draft in drafts]
        with self._database.read() as connection:
            known = rows.texts_known(connection, texts)
        return [text in known for text in texts]

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        with self._transactions.changing() as changes:
            return _noted(changes, runs, fresh, embedder)

    def find(self, wanted: RunFilter, limit: int, /, *, oldest_first: bool = False) -> list[Run]:
        with self._database.read() as connection:
            return rows.find(connection, wanted, limit, oldest_first)

    def numbers(self, session: str, /) -> set[int]:
        with self._database.read() as connection:
            return rows.numbers(connection, session)

    def status(self, space: str, /) -> HistoryStatus:
        with self._database.read() as connection:
            return rows.status(connection, space)

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        with self._database.read() as connection:
            if not rows.beyond(connection, space, since, most):
                return 0

        def remove(changes: Changes) -> int:
            connection = changes.connection
            keys = rows.beyond(connection, space, since, most)
            emptied, left = rows.remove(connection, keys)
            rows.describe(connection, left)
            changes.index_errors(left)
            changes.forget_keys(emptied)
            scrubbing.note_removal(connection)
            return len(keys)

        return self._transactions.removed(remove)


def _noted(
    changes: Changes, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None
) -> Noted:
    """Note runs within one transaction."""
    connection = changes.connection
    seen = rows.noted(connection, [run for run, _ in runs])
    memories = _memories(changes, [draft for run, draft in runs if run_key(run) not in seen], fresh, embedder)
    touched: list[int] = []
    failed: list[int] = []
    left: list[int] = []
    for place, (run, draft) in enumerate(runs):
        if run_key(run) in seen:
            memory = rows.end(connection, run)
        elif (memory := memories.get(_text(draft))) is None:
            left.append(place)
        else:
            rows.insert(connection, memory, run)
            seen.add(run_key(run))
        if memory is not None:
            touched.append(memory)
            if run.error is not None:
                failed.append(memory)
    rows.describe(connection, dict.fromkeys(touched))
    changes.index_errors(dict.fromkeys(failed))
    return Noted(len(touched), left)


def _memories(
    changes: Changes, drafts: Sequence[Draft], fresh: Sequence[Prepared], embedder: Embedder | None
) -> dict[_Text, int]:
    """Return the memories of texts; those that are new are written."""
    wanted = dict.fromkeys(map(_text, drafts))
    known = rows.texts_known(changes.connection, wanted)
    new = [one for one in fresh if (text := _text(one.draft)) in wanted and text not in known]
    if new:
        keys = changes.add(new, changes.model(embedder), datetime.now(UTC))
        known |= {_text(one.draft): key for one, key in zip(new, keys, strict=True)}
    return known


def _text(draft: Draft) -> _Text:
    return content_hash(draft), draft.space
