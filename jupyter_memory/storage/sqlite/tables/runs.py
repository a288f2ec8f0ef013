"""The runs of cells as rows, within the caller's transaction; their texts are memories of kind history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from jupyter_memory.storage.base import RunFilter
from jupyter_memory.storage.shared import RunKey, below, from_micros, key, run_of, spellings, to_micros, told_by
from jupyter_memory.storage.sql import SQLITE, condition
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.types import Filters, Run
from jupyter_memory.types.report import HistoryStatus

_COLUMNS = (
    "memory", "session", "number", "started", "seconds", "outcome", "error", "message", "traceback", "notebook",
    "cell", "language", "environment",
)  # fmt: skip
_READ = (
    "texts.text, runs.started, runs.session, runs.number, runs.outcome, runs.seconds, runs.error, runs.message, "
    "runs.traceback, runs.notebook, runs.cell, runs.language, runs.environment, memories.id"
)
_JOINED = "runs join memories on memories.key = runs.memory"
# What a person chose to keep.
_KEPT = "memories.pinned or exists (select 1 from tags where tags.memory = memories.key)"


def texts_known(connection: Session, texts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the keys of memories of kind history by content hash and space, for those that are there."""
    found = connection.execute(
        """
        select content_hash, space, min(key)
        from (select distinct value ->> 0 as wanted, value ->> 1 as within from json_each(?)) as text
        cross join memories on content_hash = wanted and space = within and kind = 'history'
        group by content_hash, space
        """,
        (json.dumps(list(texts)),),
    )
    return {(content, space): memory for content, space, memory in found}


def noted(connection: Session, runs: Sequence[Run]) -> set[RunKey]:
    """Return what those of these runs are known by that are there."""
    found = connection.execute(
        """
        select session, number, started from json_each(?) as run cross join runs
        on session = value ->> 0 and number = value ->> 1 and started = value ->> 2
        """,
        (json.dumps([key(run) for run in runs]),),
    )
    return {(session, number, started) for session, number, started in found}


def insert(connection: Session, memory: int, run: Run) -> None:
    error = run.error
    connection.execute(
        f"insert into runs ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})",
        (
            memory, *key(run), run.seconds, run.outcome, error and error.name, error and error.message,
            error and error.traceback, run.notebook, run.cell_id, run.language, run.environment,
        ),
    )  # fmt: skip


def end(connection: Session, run: Run) -> int | None:
    """Give a run that has no outcome the one it came to; return the key of its memory if anything changed."""
    if run.outcome == "unknown":
        return None
    error = run.error
    memory: int | None = connection.execute(
        """
        update runs set outcome = ?, seconds = ?, error = ?, message = ?, traceback = ?
        where session = ? and number = ? and started = ? and outcome = 'unknown' returning memory
        """,
        (
            run.outcome, run.seconds, error and error.name, error and error.message, error and error.traceback,
            *key(run),
        ),
    ).get  # fmt: skip
    return memory


def describe(connection: Session, memories: Iterable[int]) -> None:
    """Write into each memory the metadata, place and time of its runs."""
    for memory in memories:
        counted: Any = connection.execute("select count(*), min(started) from runs where memory = ?", (memory,)).get
        count, first = counted
        if not count:
            continue
        newest: Any = connection.execute(
            """
            select started, session, outcome, error, notebook, cell, language, environment
            from runs where memory = ? order by started desc, key desc limit 1
            """,
            (memory,),
        ).get
        last, session, outcome, error, notebook, cell, language, environment = newest
        written = connection.execute("select metadata from memories where key = ?", (memory,)).get
        told = told_by(json.loads(written), count, first, last, outcome, error, environment)
        connection.execute(
            "update memories set event_at = ?, session = ?, lang = ?, metadata = ? where key = ?",
            (last, session, language, json.dumps(told, ensure_ascii=False), memory),
        )
        # Somebody may have added the same text with this very place: then both stay where they are.
        connection.execute(
            "update or ignore memories set source = ?, location = ? where key = ?", (notebook, cell, memory)
        )


def errors(connection: Session, memory: int) -> list[tuple[str, str]]:
    rows: Any = connection.execute(
        "select error, message from runs where memory = ? and error is not null order by started desc, key desc",
        (memory,),
    )
    return [(error, message or "") for error, message in rows]


def find(connection: Session, wanted: RunFilter, limit: int, oldest_first: bool) -> list[Run]:
    where, parameters = _condition(wanted)
    order = "runs.started, runs.key" if oldest_first else "runs.started desc, runs.key desc"
    rows = connection.execute(
        f"select {_READ} from {_JOINED} join texts on texts.memory = runs.memory where {where} order by {order} "
        "limit :limit",
        {**parameters, "limit": limit},
    )
    return [run_of(row) for row in rows]


def of_memory(connection: Session, memory: int) -> list[Run]:
    without_text = _READ.replace("texts.text", "''")
    rows = connection.execute(
        f"select {without_text} from {_JOINED} where runs.memory = ? order by runs.key", (memory,)
    )
    return [run_of(row) for row in rows]


def numbers(connection: Session, session: str) -> set[int]:
    return {row[0] for row in connection.execute("select number from runs where session = ?", (session,))}


def status(connection: Session, space: str) -> HistoryStatus:
    where, parameters = _condition(RunFilter(space))
    counted = f"select count(*), count(distinct runs.memory), min(started), max(started) from {_JOINED} where {where}"
    found: Any = connection.execute(counted, parameters).get
    count, texts, first, last = found
    return HistoryStatus(count, texts, from_micros(first), from_micros(last)) if count else HistoryStatus()


def beyond(connection: Session, space: str, since: datetime | None, most: int | None) -> list[int]:
    """Return the keys of the runs before a time, and of all but the newest; not those of memories that are kept."""
    where, parameters = _condition(RunFilter(space))
    rows: list[int] = []
    of_space = f"select runs.key from {_JOINED} where {where} and not ({_KEPT})"
    if since is not None:
        old = connection.execute(f"{of_space} and runs.started < :since", {**parameters, "since": to_micros(since)})
        rows += [row[0] for row in old]
    if most is not None:
        newest_first = f"{of_space} order by runs.started desc, runs.key desc limit -1 offset :most"
        rows += [row[0] for row in connection.execute(newest_first, {**parameters, "most": most})]
    return list(dict.fromkeys(rows))


def remove(connection: Session, keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Remove runs; return the keys of the memories that have no runs now, and of those that have others."""
    parameters = {"keys": json.dumps(list(keys))}
    chosen = "key in (select value from json_each(:keys))"
    rows = connection.execute(f"select distinct memory from runs where {chosen}", parameters)
    memories = [int(row[0]) for row in rows]
    connection.execute(f"delete from runs where {chosen}", parameters)
    rows = connection.execute(
        "select distinct memory from runs where memory in (select value from json_each(?))", (json.dumps(memories),)
    )
    left = {int(row[0]) for row in rows}
    return [memory for memory in memories if memory not in left], [memory for memory in memories if memory in left]


def forget_places(
    connection: Session, paths: Sequence[str], spaces: Sequence[str]
) -> tuple[bool, list[int], list[int]]:
    """Remove the runs in the notebooks at or below some paths, in some spaces or in all.

    Return whether any went, and the keys of the memories that have no runs now, and of those that have others.
    """
    where, parameters = condition(SQLITE, Filters(space=tuple(spaces)))
    keys: list[int] = []
    for spelling in dict.fromkeys(form for path in paths for form in spellings(path)):
        at, low, high = below(spelling)
        rows = connection.execute(
            f"select runs.key from {_JOINED} where {where} "
            "and (notebook = :at or (notebook >= :low and notebook < :high))",
            {**parameters, "at": at, "low": low, "high": high},
        )
        keys += [row[0] for row in rows]
    emptied, left = remove(connection, keys)
    describe(connection, left)
    return bool(keys), emptied, left


def _condition(wanted: RunFilter) -> tuple[str, dict[str, Any]]:
    columns: dict[str, Any] = {
        "runs.error": wanted.error,
        "runs.outcome": wanted.outcome,
        "runs.session": wanted.session,
        "runs.notebook": wanted.notebook,
        "memories.id": wanted.memory_id,
        "memories.space": wanted.space or None,
    }
    parts = {f"{column} = :{column.replace('.', '_')}": value for column, value in columns.items()}
    for name, comparison, moment in (("after", ">", wanted.after), ("before", "<", wanted.before)):
        parts[f"runs.started {comparison} :{name}"] = None if moment is None else to_micros(moment)
    given = {part: value for part, value in parts.items() if value is not None}
    return " and ".join(given) or "1", {part.rpartition(":")[2]: value for part, value in given.items()}
