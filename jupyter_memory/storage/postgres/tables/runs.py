"""The runs of cells as rows, within the caller's transaction; their texts are memories of kind history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from jupyter_memory.storage.base import RunFilter
from jupyter_memory.storage.postgres import sql
from jupyter_memory.storage.postgres.database import Session, of
from jupyter_memory.storage.postgres.tables import memories
from jupyter_memory.storage.shared import RunKey, from_micros, key, run_of, spellings, to_micros, told_by
from jupyter_memory.storage.sql import POSTGRES, condition
from jupyter_memory.types import Filters, Run
from jupyter_memory.types.report import HistoryStatus

_READ = (
    "runs.started, runs.session, runs.number, runs.outcome, runs.seconds, runs.error, runs.message, "
    "runs.traceback, runs.notebook, runs.cell, runs.language, runs.environment, memories.id"
)
_JOINED = "runs join memories on memories.space = runs.space and memories.key = runs.memory"
# What a person chose to keep.
_KEPT = (
    "memories.pinned or exists (select 1 from tags where tags.space = memories.space and tags.memory = memories.key)"
)


def texts_known(session: Session, texts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the keys of memories of kind history by content hash and space, for those that are there."""
    wanted = list(dict.fromkeys(texts))
    rows = session.rows(
        """
        select memories.content_hash, memories.space, min(memories.key)
        from unnest(:contents::text[], :spaces_of::text[]) as wanted (content, space)
        join memories on memories.space = wanted.space and memories.content_hash = wanted.content
        where memories.kind = 'history'
        group by 1, 2
        """,
        contents=[content for content, _ in wanted],
        spaces_of=[space for _, space in wanted],
    )
    return {(content, space): memory for content, space, memory in rows}


def noted(session: Session, runs: Sequence[Run]) -> set[RunKey]:
    """Return what those of these runs are known by that are there."""
    keys = [key(run) for run in runs]
    rows = session.rows(
        f"""
        select runs.session, runs.number, runs.started
        from unnest(:sessions::text[], :numbers::bigint[], :started::bigint[])
            as wanted (session, number, started)
        join runs on runs.session = wanted.session and runs.number = wanted.number and runs.started = wanted.started
        where {of("runs")}
        """,
        sessions=[session_ for session_, _, _ in keys],
        numbers=[number for _, number, _ in keys],
        started=[started for *_, started in keys],
    )
    return {(session_, number, started) for session_, number, started in rows}


def insert(session: Session, memory: int, run: Run) -> None:
    error = run.error
    of_session, number, started = key(run)
    row = {
        "space": memories.space_of(session, memory),
        "memory": memory,
        "session": of_session,
        "number": number,
        "started": started,
        "seconds": run.seconds,
        "outcome": run.outcome,
        "error": error and error.name,
        "message": error and error.message,
        "traceback": error and error.traceback,
        "notebook": run.notebook,
        "cell": run.cell_id,
        "language": run.language,
        "environment": run.environment,
    }
    sql.insert(session, "runs", [row])


def end(session: Session, run: Run) -> int | None:
    """Give a run that has no outcome the one it came to; return the key of its memory if anything changed."""
    if run.outcome == "unknown":
        return None
    error = run.error
    of_session, number, started = key(run)
    memory = session.value(
        f"""
        update runs set outcome = :outcome, seconds = :seconds, error = :error, message = :message,
            traceback = :traceback
        where {of("runs")} and session = :session and number = :number and started = :started
            and outcome = 'unknown'
        returning memory
        """,
        outcome=run.outcome,
        seconds=run.seconds,
        error=error and error.name,
        message=error and error.message,
        traceback=error and error.traceback,
        session=of_session,
        number=number,
        started=started,
    )
    return None if memory is None else int(memory)


def describe(session: Session, keys: Iterable[int]) -> None:
    """Write into each memory the metadata, place and time of its runs."""
    for memory in keys:
        rows = session.rows(
            f"""
            select count(*) over (), min(started) over (), started, session, outcome, error, notebook, cell, language,
                environment
            from runs where {of("runs")} and memory = :memory order by started desc, key desc limit 1
            """,
            memory=memory,
        )
        if not rows:
            continue
        count, first, last, of_session, outcome, error, notebook, cell, language, environment = rows[0]
        [(metadata, space, kind, content)] = session.rows(
            f"select metadata, space, kind, content_hash from memories where {of('memories')} and key = :memory",
            memory=memory,
        )
        told = told_by(json.loads(metadata), count, first, last, outcome, error, environment)
        changed = {
            "event_at": last,
            "session": of_session,
            "lang": language,
            "metadata": json.dumps(told, ensure_ascii=False),
        }
        # Another memory may hold the same text with this very place: then both stay where they are.
        [taken] = memories.find_known(session, [(notebook, kind, space, cell, content)])
        place = {"source": notebook, "location": cell} if taken is None else {}
        memories.update_columns(session, memory, {**changed, **place})


def errors(session: Session, memory: int) -> list[tuple[str, str]]:
    rows = session.rows(
        f"select error, coalesce(message, '') from runs where {of('runs')} and memory = :memory "
        "and error is not null order by started desc, key desc",
        memory=memory,
    )
    return [(str(error), str(message)) for error, message in rows]


def find(session: Session, wanted: RunFilter, limit: int, oldest_first: bool) -> list[Run]:
    where, parameters = _condition(wanted)
    order = "runs.started, runs.key" if oldest_first else "runs.started desc, runs.key desc"
    rows = session.rows(
        f"""
        select texts.text, {_READ}
        from {_JOINED} join texts on texts.space = runs.space and texts.memory = runs.memory
        where {where} order by {order} limit :limit
        """,
        **parameters,
        limit=limit,
    )
    return [run_of(row) for row in rows]


def of_memory(session: Session, memory: int) -> list[Run]:
    rows = session.rows(
        f"select '', {_READ} from {_JOINED} where {of('runs')} and runs.memory = :memory order by runs.key",
        memory=memory,
    )
    return [run_of(row) for row in rows]


def numbers(session: Session, of_session: str) -> set[int]:
    rows = session.rows(f"select number from runs where {of('runs')} and session = :session", session=of_session)
    return {row[0] for row in rows}


def status(session: Session, space: str) -> HistoryStatus:
    where, parameters = _condition(RunFilter(space))
    [(count, texts, first, last)] = session.rows(
        f"select count(*), count(distinct runs.memory), min(started), max(started) from {_JOINED} where {where}",
        **parameters,
    )
    return HistoryStatus(count, texts, from_micros(first), from_micros(last)) if count else HistoryStatus()


def beyond(session: Session, space: str, since: datetime | None, most: int | None) -> list[int]:
    """Return the keys of the runs before a time, and of all but the newest; not those of memories that are kept."""
    where, parameters = _condition(RunFilter(space))
    found: list[int] = []
    of_space = f"select runs.key from {_JOINED} where {where} and not ({_KEPT})"
    if since is not None:
        old = session.rows(f"{of_space} and runs.started < :since", **parameters, since=to_micros(since))
        found += [row[0] for row in old]
    if most is not None:
        newest_first = f"{of_space} order by runs.started desc, runs.key desc offset :most"
        found += [row[0] for row in session.rows(newest_first, **parameters, most=most)]
    return list(dict.fromkeys(found))


def remove(session: Session, keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Remove runs; return the keys of the memories that have no runs now, and of those that have others."""
    gone = session.rows(f"delete from runs where {of('runs')} and key = any(:keys) returning memory", keys=list(keys))
    of_them = sorted({int(row[0]) for row in gone})
    rows = session.rows(
        f"select distinct memory from runs where {of('runs')} and memory = any(:memories)", memories=of_them
    )
    left = {int(row[0]) for row in rows}
    return [memory for memory in of_them if memory not in left], [memory for memory in of_them if memory in left]


def forget_places(session: Session, paths: Sequence[str], spaces: Sequence[str]) -> tuple[list[int], list[int]]:
    """Remove the runs in notebooks at or below paths; return what ``remove`` returns."""
    where, parameters = condition(POSTGRES, Filters(space=tuple(spaces)))
    below, places = POSTGRES.below("notebook", "notebook", [form for path in paths for form in spellings(path)])
    parameters |= places
    keys = [row[0] for row in session.rows(f"select runs.key from {_JOINED} where {where} and {below}", **parameters)]
    emptied, left = remove(session, keys)
    describe(session, left)
    return emptied, left


def _condition(wanted: RunFilter) -> tuple[str, dict[str, Any]]:
    columns: dict[str, Any] = {
        "runs.error": wanted.error,
        "runs.outcome": wanted.outcome,
        "runs.session": wanted.session,
        "runs.notebook": wanted.notebook,
        "memories.id": wanted.memory_id,
        "runs.space": wanted.space or None,
    }
    clauses, parameters = [of("runs")], dict[str, Any]()
    for column, value in columns.items():
        if value is not None:
            name = column.replace(".", "_")
            clauses.append(f"{column} = :{name}")
            parameters[name] = value
    for name, comparison, moment in (("after", ">", wanted.after), ("before", "<", wanted.before)):
        if moment is not None:
            clauses.append(f"runs.started {comparison} :{name}")
            parameters[name] = to_micros(moment)
    return " and ".join(clauses), parameters
