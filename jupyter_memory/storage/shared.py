"""What both databases do alike, in Python."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.errors import InputError
from jupyter_memory.storage.cell_matching import content_hash
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.text.paths import inside, path_forms, plain_path
from jupyter_memory.types import Draft, Filters, Run, RunError, ScoredChunk
from jupyter_memory.types.protocols import Vectors

# A signal multiplies small differences of cosines: with another order of the same additions, the scores of two
# databases would differ in the fifth digit.


def cosines(query: Vectors, vectors: Vectors) -> NDArray[np.float64]:
    """Return the cosine of ``query``, ``(d,)``, with each of ``vectors``, ``(n, d)``; all are float32."""
    if not vectors.size:
        return np.zeros(len(vectors))
    # In float32, one value after the other.
    dots, squares = _summed(vectors * query), _summed(vectors * vectors)
    lengths = np.sqrt(squares.astype(np.float64)) * np.sqrt(float(_summed(query[None] * query[None])[0]))
    distances = (1 - dots.astype(np.float64) / lengths).astype(np.float32)
    similar: NDArray[np.float64] = 1 - distances.astype(np.float64)
    return similar


def _summed(products: Vectors) -> Vectors:
    return np.cumsum(products, axis=1, dtype=np.float32)[:, -1]


def all_of(filters: Filters | None) -> Iterator[Filters]:
    """Yield filters and those that must match as well."""
    while filters is not None:
        yield filters
        filters = filters.also


def below(path: str) -> tuple[str, str, str]:
    """Return ``(path, low, high)``: a source is at or below a path if it equals it or lies in ``[low, high)``."""
    low = inside(path)
    mark = low[-1]
    bare = low.rstrip(mark)
    # Roots end in a separator: "/", and "C:\\", behind which "C:" alone would be the working folder of the drive.
    return low if not bare or bare.endswith(":") else bare, low, low[:-1] + chr(ord(mark) + 1)


def spellings(path: str) -> Iterable[str]:
    """Return a path as it is written and as a file of this machine, with both forms of its letters; no disk is read."""
    try:
        found = [path, str(plain_path(path))]
    except InputError:  # "~name" of nobody here
        found = [path]
    return dict.fromkeys(form for one in found for form in path_forms(one))


# What rows hold: times as whole numbers, the ids of new memories, and what makes two memories the same.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ID_BYTES = 8
# Source, kind, space, location and content hash of a memory.
Identity = tuple[str, str, str, str, str]


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970; exact, unlike ``timestamp()``."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def identity(draft: Draft) -> Identity:
    return (draft.source, draft.kind, draft.space, draft.location, content_hash(draft))


def new_ids(count: int) -> list[str]:
    """Return ids of new memories, all of them with one call of the system."""
    written = secrets.token_hex(_ID_BYTES * count)
    return [written[begin : begin + 2 * _ID_BYTES] for begin in range(0, len(written), 2 * _ID_BYTES)]


# The runs of cells: what each is known by, what a memory tells of its runs, and the errors by which it is found.

# A run is known by these.
RunKey = tuple[str, int, int]
# Errors of one text by which it is found, the newest, and characters of each.
_ERRORS, _TOLD = 3, 200


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


# From scored chunks to the best memories, each by its best chunk, with the same order for equal scores.


class Row(NamedTuple):
    """A chunk that an index returned, with what decides between equal scores."""

    memory: int
    chunk: int
    score: float
    event_at: int
    content_hash: str


def cut(rows: Sequence[Row], count: int) -> list[ScoredChunk]:
    """Return the best ``count`` memories, each by its best chunk; of equal scores the newer, then by content hash."""
    best: dict[int, Row] = {}
    for row in rows:
        known = best.get(row.memory)
        # Of two chunks with equal scores the earlier represents the memory.
        if known is None or (-row.score, row.chunk) < (-known.score, known.chunk):
            best[row.memory] = row
    ordered = sorted(best.values(), key=lambda row: (-row.score, -row.event_at, row.content_hash))
    return [ScoredChunk(row.memory, row.chunk, row.score) for row in ordered[:count]]


def is_settled(rows: Sequence[Row], asked: int, count: int) -> bool:
    """Return whether ``rows``, the best ``asked`` chunks in order, are enough to name the best ``count`` memories."""
    if len(rows) < asked:
        return True
    # No chunk that is not among them can tie with memories that score better than the last row.
    return len({row.memory for row in rows if row.score > rows[-1].score}) >= count
