"""The runs of cells; their texts are memories of kind history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from jupyter_memory.storage.base import RunFilter, from_micros, to_micros
from jupyter_memory.storage.sql import Dialect, Session, condition, spellings
from jupyter_memory.storage.tables import memories
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Filters, Run, RunError
from jupyter_memory.types.report import HistoryStatus

_READ = (
    "runs.started, runs.session, runs.number, runs.outcome, runs.seconds, runs.error, runs.message, "
    "runs.traceback, runs.notebook, runs.cell, runs.language, runs.environment, "
    "runs.packages, runs.result, memories.id"
)
RunKey = tuple[str, int, int]  # a run is known by these
_ERRORS, _TOLD = 3, 200  # errors of one text by which it is found, the newest, and characters of each


def key(run: Run) -> RunKey:
    return (run.session, run.number, to_micros(run.started))


def with_errors(ident: str, errors: Iterable[tuple[str, str]]) -> str:
    """Return a column ``ident`` with the newest different errors of runs: names and messages, the newest first."""
    told: dict[str, None] = {}
    for error, message in errors:
        told.setdefault(f"{error}: {message.strip().partition(chr(10))[0]}"[:_TOLD])
        if len(told) == _ERRORS:
            break
    said = "\n".join(told)
    return f"{ident}\n{said}\n{ident_column(said)}" if told else ident


def _run_of(row: Sequence[Any]) -> Run:
    text, started, session, number, outcome, seconds, error, message, traceback, *place, memory_id = row
    failed = None if error is None else RunError(error, message or "", traceback or "")
    run = Run(text, from_micros(started), session, number, outcome, seconds, failed, *place)
    return replace(run, memory_id=memory_id)


def texts_known(session: Session, texts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the keys of memories of kind history by content hash and space, for those that are there."""
    rows = session.rows(
        f"""
        select memories.content_hash, memories.space, min(memories.key)
        from {session.dialect.each("wanted", content="text", space="text")} cross join memories
        where {session.dialect.of("memories")} and memories.content_hash = wanted.content
            and memories.space = wanted.space and memories.kind = 'history'
        group by 1, 2
        """,
        wanted=list(dict.fromkeys(texts)),
    )
    return {(content, space): memory for content, space, memory in rows}


def noted(session: Session, runs: Sequence[Run]) -> set[RunKey]:
    """Return what those of these runs are known by that are there."""
    rows = session.rows(
        f"""
        select runs.session, runs.number, runs.started
        from {session.dialect.each("wanted", session="text", number="bigint", started="bigint")} cross join runs
        where {session.dialect.of("runs")} and runs.session = wanted.session and runs.number = wanted.number
            and runs.started = wanted.started
        """,
        wanted=[key(run) for run in runs],
    )
    return {(of_session, number, started) for of_session, number, started in rows}


def add(session: Session, memory: int, found: Sequence[Run]) -> bool:
    """Give a memory those of these runs that the store lacks; return whether there were any."""
    seen = noted(session, found) if found else set()
    added = False
    for run in found:
        if key(run) not in seen:
            insert(session, memory, run)
            seen.add(key(run))
            added = True
    return added


def insert(session: Session, memory: int, run: Run) -> None:
    of_session, number, started = key(run)
    known = {"space": memories.space_of(session, memory), "session": of_session, "number": number, "started": started}
    place = {"notebook": run.notebook, "cell": run.cell_id, "language": run.language, "environment": run.environment}
    session.insert("runs", [{**known, "memory": memory, **_ending(run), **place}])


def _ending(run: Run) -> dict[str, Any]:
    error = asdict(run.error) if run.error else {"name": None, "message": None, "traceback": None}
    known = {"seconds": run.seconds, "outcome": run.outcome, "packages": run.packages, "result": run.result}
    return {**known, "error": error.pop("name"), **error}


def end(session: Session, run: Run) -> int | None:
    """Give a run that has no outcome the one it came to; return the key of its memory if anything changed."""
    if run.outcome == "unknown":
        return None
    of_session, number, started = key(run)
    columns = _ending(run)
    memory: int | None = session.value(
        f"""
        update runs set {", ".join(f"{name} = :{name}" for name in columns)}
        where {session.dialect.of("runs")} and session = :session and number = :number and started = :started
            and outcome = 'unknown'
        returning memory
        """,
        **columns,
        session=of_session,
        number=number,
        started=started,
    )
    return memory


def describe(session: Session, keys: Iterable[int]) -> None:
    """Write into each memory the metadata, place and time of its runs."""
    of_runs, of_memories = session.dialect.of("runs"), session.dialect.of("memories")
    for memory in keys:
        [(count, first)] = session.rows(
            f"select count(*), min(started) from runs where {of_runs} and memory = :memory", memory=memory
        )
        if not count:
            continue
        [(last, of_session, outcome, error, notebook, cell, language, environment, packages)] = session.rows(
            f"""
            select started, session, outcome, error, notebook, cell, language, environment, packages
            from runs where {of_runs} and memory = :memory order by started desc, key desc limit 1
            """,
            memory=memory,
        )
        [(metadata, space, kind, content)] = session.rows(
            f"select metadata, space, kind, content_hash from memories where {of_memories} and key = :memory",
            memory=memory,
        )
        # What else the metadata hold stays.
        told = {
            "runs": count,
            "first_run": from_micros(first).isoformat(),
            "last_run": from_micros(last).isoformat(),
            "outcome": outcome,
            "error": error,
            "environment": environment or None,
            "packages": packages or None,
        }
        kept = {name: value for name, value in json.loads(metadata).items() if name not in told}
        kept |= {name: value for name, value in told.items() if value is not None}
        written = json.dumps(kept, ensure_ascii=False)
        changed = {"event_at": last, "session": of_session, "lang": language, "metadata": written}
        # Another memory may hold the same text with this very place: then both stay where they are.
        [taken] = memories.find_known(session, [(notebook, kind, space, cell, content)])
        place = {"source": notebook, "location": cell} if taken is None else {}
        memories.update_columns(session, memory, {**changed, **place})


def errors(session: Session, memory: int) -> list[tuple[str, str]]:
    """Return the errors of the runs of a memory, names and messages, the newest first."""
    return session.rows(
        f"select error, coalesce(message, '') from runs where {session.dialect.of('runs')} and memory = :memory "
        "and error is not null order by started desc, key desc",
        memory=memory,
    )


def find(session: Session, wanted: RunFilter, limit: int, *, oldest_first: bool = False) -> list[Run]:
    """Return runs with the texts of their memories, the newest first unless asked otherwise."""
    where, parameters = _condition(session.dialect, wanted)
    order = "runs.started, runs.key" if oldest_first else "runs.started desc, runs.key desc"
    joined = f"{_joined(session.dialect)} {session.dialect.join('texts', 'runs', 'texts.memory = runs.memory')}"
    found = f"select texts.text, {_READ} from {joined} where {where} order by {order} limit :limit"
    return [_run_of(row) for row in session.rows(found, **parameters, limit=limit)]


def durations(
    session: Session, space: str, cells: Sequence[tuple[str, str]], most: int
) -> dict[tuple[str, str], list[float]]:
    """Return how long the last runs that ended well took, the newest first, by notebook and cell."""
    where, parameters = _condition(session.dialect, RunFilter(space, outcome="ok"))
    rows = session.rows(
        f"""
        select notebook, cell, seconds
        from (
            select runs.notebook, runs.cell, runs.seconds,
                row_number() over (partition by runs.notebook, runs.cell order by runs.started desc) as place
            from {session.dialect.each("wanted", notebook="text", cell="text")} cross join {_joined(session.dialect)}
            where {where} and runs.notebook = wanted.notebook and runs.cell = wanted.cell
                and runs.seconds is not null
        ) as ran
        where place <= :most order by place
        """,
        **parameters,
        wanted=list(cells),
        most=most,
    )
    found: dict[tuple[str, str], list[float]] = {}
    for notebook, cell, seconds in rows:
        found.setdefault((notebook, cell), []).append(seconds)
    return found


def of_memory(session: Session, memory: int) -> list[Run]:
    """Return the runs of a memory in the order in which they were noted, without their text."""
    of = session.dialect.of("runs")
    found = f"select '', {_READ} from {_joined(session.dialect)} where {of} and runs.memory = :memory order by runs.key"
    return [_run_of(row) for row in session.rows(found, memory=memory)]


def numbers(session: Session, of_session: str) -> set[int]:
    of = session.dialect.of("runs")
    return set(session.column(f"select number from runs where {of} and session = :name", name=of_session))


def status(session: Session, space: str) -> HistoryStatus:
    """Return how many runs there are in a space, in the whole store if it is empty."""
    where, parameters = _condition(session.dialect, RunFilter(space))
    [(count, texts, first, last)] = session.rows(
        "select count(*), count(distinct runs.memory), min(started), max(started) "
        f"from {_joined(session.dialect)} where {where}",
        **parameters,
    )
    return HistoryStatus(count, texts, from_micros(first), from_micros(last)) if count else HistoryStatus()


def beyond(session: Session, space: str, since: datetime | None, most: int | None) -> list[int]:
    """Return the keys of the runs before a time, and of all but the newest; not those of memories that are kept."""
    dialect = session.dialect
    where, parameters = _condition(dialect, RunFilter(space))
    # What a person chose to keep.
    tagged = f"select 1 from tags where {dialect.linked('tags', 'memories', 'tags.memory = memories.key')}"
    of_space = f"""
        select runs.key from {_joined(dialect)}
        where {where} and not (memories.pinned or exists ({tagged}))
    """
    found: list[tuple[int]] = []
    if since is not None:
        found += session.rows(f"{of_space} and runs.started < :since", **parameters, since=to_micros(since))
    if most is not None:
        newest_first = f"{of_space} order by runs.started desc, runs.key desc limit :all offset :most"
        found += session.rows(newest_first, **parameters, all=2**62, most=most)
    return list(dict.fromkeys(key for (key,) in found))


def remove(session: Session, keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Remove runs; return the keys of the memories that have no runs now, and of those that have others."""
    of, among = session.dialect.of("runs"), session.dialect.among("key", "keys")
    gone = session.rows(f"delete from runs where {of} and {among} returning memory", keys=list(keys))
    owners = sorted({row[0] for row in gone})
    having = f"select distinct memory from runs where {of} and {session.dialect.among('memory', 'owners')}"
    left = set(session.column(having, owners=owners))
    return [memory for memory in owners if memory not in left], [memory for memory in owners if memory in left]


def forget_places(session: Session, paths: Sequence[str], spaces: Sequence[str]) -> tuple[list[int], list[int]]:
    """Remove the runs in notebooks at or below some paths, in some spaces or all; return what ``remove`` does."""
    where, parameters = condition(session.dialect, Filters(space=tuple(spaces)))
    below, places = session.dialect.below("runs.notebook", "at", [form for path in paths for form in spellings(path)])
    found = f"select runs.key from {_joined(session.dialect)} where {where} and {below} order by 1"
    keys = session.column(found, **parameters, **places)
    emptied, left = remove(session, keys)
    describe(session, left)
    return emptied, left


def _joined(dialect: Dialect) -> str:
    return f"runs {dialect.join('memories', 'runs', 'memories.key = runs.memory')}"


def _condition(dialect: Dialect, wanted: RunFilter) -> tuple[str, dict[str, Any]]:
    columns: dict[str, Any] = {
        "runs.error": wanted.error,
        "runs.outcome": wanted.outcome,
        "runs.session": wanted.session,
        "runs.notebook": wanted.notebook,
        "memories.id": wanted.memory_id,
        "runs.cell": wanted.cell,
        "memories.space": wanted.space or None,
    }
    parts = {f"{column} = :{column.replace('.', '_')}": value for column, value in columns.items()}
    for name, comparison, moment in (("after", ">", wanted.after), ("before", "<", wanted.before)):
        parts[f"runs.started {comparison} :{name}"] = None if moment is None else to_micros(moment)
    given = {part: value for part, value in parts.items() if value is not None}
    return (
        " and ".join((dialect.of("runs"), *given)),
        {part.rpartition(":")[2]: value for part, value in given.items()},
    )
