"""When a document says that it was written: in its front matter, in a notebook's metadata, in the name of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from jupyter_memory.errors import QueryError
from jupyter_memory.text.moments import parse_moment

_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
# A clock may be a day ahead, by its time zone. What lies further ahead is planned, not written.
_AHEAD = timedelta(days=1)
_LONGEST = 60

# The date itself first, then when it was changed, then when it was begun.
_KEYS = (("date",), ("updated", "modified", "lastmod", "last_modified", "last-modified"), ("created",))
_LINE = re.compile(r"^(?P<key>[\w-]+)[ \t]*:[ \t]*(?P<value>[^\n]+)$", re.MULTILINE)
# 2024-03-01, 2024_03_01, 2024.03.01 or 20240301, and a month (2024-03); no part of a longer number.
_IN_NAME = re.compile(
    r"(?<![0-9])(?P<year>19[7-9][0-9]|20[0-9]{2})"
    r"(?:(?P<between>[-_.]?)(?P<month>0[1-9]|1[0-2])(?P=between)(?P<day>0[1-9]|[12][0-9]|3[01])"
    r"|-(?P<only>0[1-9]|1[0-2])(?![-_.][0-9]))"
    r"(?![0-9])"
)
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")


def stated(text: str, now: datetime) -> datetime | None:
    """Return the time that a document states, as ``2024-03-01``, ``2024-03-01T14:30Z`` or ``March 1, 2024``.

    A time without a zone is local, and a day means its noon. None for anything else, for words such as ``today``, and
    for a time that lies ahead.
    """
    text = text.strip().strip("\"'").strip()
    if len(text) > _LONGEST or not _YEAR.search(text):
        return None
    with suppress(ValueError):
        return _plausible(_noon(date.fromisoformat(text)), now)
    with suppress(ValueError):
        return _plausible(datetime.fromisoformat(text), now)
    # Read only here: these words load a library.
    with suppress(QueryError):
        local = parse_moment(text, now=now).astimezone()
        return _plausible(_noon(local.date()) if local.time() == time() else local, now)
    return None


def in_front_matter(block: str, now: datetime) -> datetime | None:
    """Return the date in a front matter: ``date``, else when it was last changed, else when it was created."""
    lines = {match["key"].lower(): match["value"] for match in _LINE.finditer(block)}
    for keys in _KEYS:
        for key in keys:
            if key in lines and (when := stated(lines[key], now)) is not None:
                return when
    return None


def in_name(name: str, now: datetime) -> datetime | None:
    """Return the day that the name of a file begins with or has in it, at noon; for a month, its first day."""
    for match in _IN_NAME.finditer(Path(name).stem):
        month, day = (match["only"], "1") if match["only"] else (match["month"], match["day"])
        with suppress(ValueError):
            return _plausible(_noon(date(int(match["year"]), int(month), int(day))), now)
    return None


def of_cell(metadata: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return when a cell was last run, where JupyterLab, Colab or an extension noted it."""
    execution, timed, colab = (metadata.get(key) for key in ("execution", "ExecuteTime", "executionInfo"))
    if isinstance(colab, Mapping) and isinstance(milliseconds := colab.get("timestamp"), int | float):
        with suppress(ValueError, OverflowError, OSError):
            return _plausible(datetime.fromtimestamp(milliseconds / 1000, UTC), now)
    noted = [timed.get("start_time")] if isinstance(timed, Mapping) else []
    if isinstance(execution, Mapping):
        noted += [execution.get(key) for key in ("iopub.execute_input", "shell.execute_reply.started")]
    return _first(noted, now)


def of_notebook(metadata: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return the date in a notebook's metadata: its own, else when papermill ran it."""
    run = metadata.get("papermill")
    return _first([metadata.get("date"), run.get("start_time") if isinstance(run, Mapping) else None], now)


def _first(values: Iterable[object], now: datetime) -> datetime | None:
    for value in values:
        if isinstance(value, str) and (when := stated(value, now)) is not None:
            return when
    return None


def _noon(day: date) -> datetime:
    # Noon is on the same day in nearly every time zone.
    return datetime.combine(day, time(12))


def _plausible(when: datetime, now: datetime) -> datetime | None:
    """Return an aware time in UTC, None for one before 1970 or in the future."""
    try:
        when = when.astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return when if _EARLIEST <= when <= now + _AHEAD else None
