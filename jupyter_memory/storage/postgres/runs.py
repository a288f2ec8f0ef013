"""The history of a PostgreSQL store; `storage.base.RunLog` says what each method does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from jupyter_memory.storage.base import Noted, Prepared, RunFilter
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.storage.postgres.connection.database import Database
from jupyter_memory.storage.postgres.connection.session import Session
from jupyter_memory.storage.postgres.tables import runs as rows
from jupyter_memory.storage.postgres.writing.changes import Changes
from jupyter_memory.storage.shared.runs import key as run_key
from jupyter_memory.types import Draft, Run
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import HistoryStatus

# Content hash and space of a text.
_Text = tuple[str, str]


class PostgresRunLog:
    """What a PostgreSQL store holds of the history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def holds(self, drafts: Sequence[Draft], /) -> list[bool]:
        texts = [_text(draft) for draft in drafts]
        with self._database.read() as session:
            known = rows.texts_known(session, texts)
        return [text in known for text in texts]

    def note(self, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None, /) -> Noted:
        return self._database.change(lambda session: _noted(Changes(session), runs, fresh, embedder))

    def find(self, wanted: RunFilter, limit: int, /, *, oldest_first: bool = False) -> list[Run]:
        with self._database.read() as session:
            return rows.find(session, wanted, limit, oldest_first)

    def numbers(self, session: str, /) -> set[int]:
        with self._database.read() as reading:
            return rows.numbers(reading, session)

    def status(self, space: str, /) -> HistoryStatus:
        with self._database.read() as session:
            return rows.status(session, space)

    def retain(self, space: str, /, *, since: datetime | None, most: int | None) -> int:
        def remove(session: Session) -> int:
            changes = Changes(session)
            keys = rows.beyond(session, space, since, most)
            emptied, left = rows.remove(session, keys)
            rows.describe(session, left)
            changes.index_errors(left)
            changes.forget_keys(emptied)
            return len(keys)

        with self._database.read() as session:
            if not rows.beyond(session, space, since, most):
                return 0
        return self._database.change(remove)


def _noted(
    changes: Changes, runs: Sequence[tuple[Run, Draft]], fresh: Sequence[Prepared], embedder: Embedder | None
) -> Noted:
    """Note runs within one transaction."""
    session = changes.session
    seen = rows.noted(session, [run for run, _ in runs])
    memories = _memories(changes, [draft for run, draft in runs if run_key(run) not in seen], fresh, embedder)
    changes.lock_known([*memories.values()])
    touched: list[int] = []
    failed: list[int] = []
    left: list[int] = []
    for place, (run, draft) in enumerate(runs):
        if run_key(run) in seen:
            memory = rows.end(session, run)
        elif (memory := memories.get(_text(draft))) is None:
            left.append(place)
        else:
            rows.insert(session, memory, run)
            seen.add(run_key(run))
        if memory is not None:
            touched.append(memory)
            if run.error is not None:
                failed.append(memory)
    rows.describe(session, dict.fromkeys(touched))
    changes.index_errors(dict.fromkeys(failed))
    return Noted(len(touched), left)


def _memories(
    changes: Changes, drafts: Sequence[Draft], fresh: Sequence[Prepared], embedder: Embedder | None
) -> dict[_Text, int]:
    """Return the memories of texts; those that are new are written."""
    wanted = dict.fromkeys(map(_text, drafts))
    known = rows.texts_known(changes.session, wanted)
    new = [one for one in fresh if (text := _text(one.draft)) in wanted and text not in known]
    if new:
        keys = changes.add(new, changes.model(embedder), datetime.now(UTC))
        known |= {_text(one.draft): key for one, key in zip(new, keys, strict=True)}
    return known


def _text(draft: Draft) -> _Text:
    return content_hash(draft), draft.space
