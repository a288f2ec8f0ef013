"""The runs of cells: what each is known by, what a memory tells of its runs, and the errors by which it is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jupyter_memory.storage.shared.rows import from_micros, to_micros
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Run, RunError

# A run is known by these.
RunKey = tuple[str, int, int]
# Errors of one text by which it is found, the newest, and characters of each.
_ERRORS, _TOLD = 3, 200


def key(run: Run) -> RunKey:
    """Return what a run is known by."""
    return (run.session, run.number, to_micros(run.started))


def with_errors(ident: str, errors: Iterable[tuple[str, str]]) -> str:
    """Return a column ``ident`` by which the newest different errors of runs are found, too.

    ``errors`` are names and messages, the newest first; of each message, the first line counts.
    """
    told: dict[str, None] = {}
    for error, message in errors:
        told.setdefault(f"{error}: {message.strip().partition(chr(10))[0]}"[:_TOLD])
        if len(told) == _ERRORS:
            break
    said = "\n".join(told)
    return f"{ident}\n{said}\n{ident_column(said)}" if told else ident


def told_by(
    before: Mapping[str, Any], count: int, first: int, last: int, outcome: str, error: str | None, environment: str
) -> dict[str, Any]:
    """Return the metadata of a memory with what its runs say; what else it has stays."""
    told = {
        "runs": count,
        "first_run": from_micros(first).isoformat(),
        "last_run": from_micros(last).isoformat(),
        "outcome": outcome,
        "error": error,
        "environment": environment or None,
    }
    kept = {name: value for name, value in before.items() if name not in told}
    return {**kept, **{name: value for name, value in told.items() if value is not None}}


def run_of(row: Sequence[Any]) -> Run:
    """Return a row as a run: its text, start, session, number, outcome and so on, and the id of its memory."""
    (text, started, session, number, outcome, seconds, error, message, traceback, notebook, cell, language,
     environment, memory_id) = row  # fmt: skip
    return Run(
        source=text,
        started=from_micros(started),
        session=session,
        number=number,
        outcome=outcome,
        seconds=seconds,
        error=None if error is None else RunError(error, message or "", traceback or ""),
        notebook=notebook,
        cell_id=cell,
        language=language,
        environment=environment,
        memory_id=memory_id,
    )
