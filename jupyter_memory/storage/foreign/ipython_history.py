"""Reads the history that IPython keeps for itself, `history.sqlite`, without ever writing to it.

IPython writes to its file after each cell, and cannot while somebody reads. So each piece is read in a transaction of
its own, a few milliseconds long. It is read with Python's SQLite, since IPython may have it open in this very process:
of two builds of SQLite in a process, one ends the locks of the other when it closes a file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.types import Run

_PATIENCE = 5.0  # seconds for which another program is waited for
_TOGETHER = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# IPython notes when a session began, and nothing of when its lines ran: this keeps them in order.
_APART = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _Session:
    number: int
    name: str
    start: datetime


def ipython_runs(path: Path) -> Iterator[Run]:
    """Yield what IPython's file holds, in the order in which it ran, as runs of unknown outcome.

    A run begins as many milliseconds after its session as its number says. The name of a session follows from its
    number and its start, so that each time the same runs are read.

    Raises:
        InputError: there is no such file, it is not a history of IPython, or another program keeps it locked.
    """
    if not os.path.isfile(path):  # noqa: PTH113  it does not raise in a folder that nobody may look into
        raise InputError(f"There is no file {path}. In IPython, get_ipython().history_manager.hist_file names it.")
    with _errors_of(path), closing(_opened(path)) as connection:
        for session in _sessions(connection):
            yield from _lines(connection, session)


def _opened(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write; one without locks where SQLite can neither make nor need them."""
    try:
        return _connected(path, "mode=ro")
    except sqlite3.OperationalError as error:
        # In a folder that cannot be written, a file in WAL mode: sound, if no unfinished change lies beside it.
        unfinished = any(path.with_name(path.name + ending).exists() for ending in ("-journal", "-wal"))
        if unfinished or _is_locked(error):
            raise
        return _connected(path, "mode=ro&immutable=1")


def _connected(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=_PATIENCE)
    try:
        connection.execute("select count(*) from sqlite_schema").fetchall()
    except BaseException:  # an interrupt of the kernel, too: whatever ends it, the file is closed
        connection.close()
        raise
    return connection


def _sessions(connection: sqlite3.Connection) -> list[_Session]:
    found: list[_Session] = []
    latest = _EPOCH
    rows: Any = connection.execute(
        "select session, cast(start as blob) from sessions where typeof(session) = 'integer' order by session"
    ).fetchall()
    for number, start in rows:
        written = bytes(start or b"").decode("utf-8", "replace")
        # A session without a start began after the one before.
        latest = _time(written) or latest
        found.append(_Session(number, f"ipython {number} {written}".strip(), latest))
    return found


def _lines(connection: sqlite3.Connection, session: _Session) -> Iterator[Run]:
    last = -1
    while True:
        rows: Any = connection.execute(
            """
            select line, cast(coalesce(source_raw, source) as blob) from history
            where session = ? and line > ? and typeof(line) = 'integer' order by line limit ?
            """,
            (session.number, last, _TOGETHER),
        ).fetchall()
        for line, source in rows:
            if source:
                text = bytes(source).decode("utf-8", "replace")
                yield Run(text, session.start + line * _APART, session.name, line)
        if len(rows) < _TOGETHER:
            return
        last = rows[-1][0]


def _time(written: str) -> datetime | None:
    """Return a start as IPython writes it, which is local time unless it names its zone; None where it is no time."""
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if _is_locked(error):
            raise InputError(f"{path} is locked by another program. Try again in a moment.") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read as a history of IPython (SQLite: {reason}). Name IPython's history.sqlite; "
            "in IPython, get_ipython().history_manager.hist_file is its path."
        ) from None


def _is_locked(error: sqlite3.Error) -> bool:
    return "locked" in str(error)
