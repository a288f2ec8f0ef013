"""The time of a file: what it says itself, its last commit."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha1, sha256
from pathlib import Path
from shutil import which
from threading import Timer
from typing import Any

from jupyter_memory.errors import QueryError
from jupyter_memory.ingest.readers.base import note
from jupyter_memory.text.moments import parse_moment

_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
# A clock may be a day ahead, by its time zone. What lies further ahead is planned, not written.
_AHEAD = timedelta(days=1)
_LONGEST = 60

# The date itself first, then when it was changed, then when it was begun.
_KEYS = ("date", "updated", "modified", "lastmod", "last_modified", "last-modified", "created")
_LINE = re.compile(r"^(?P<key>[\w-]+)[ \t]*:[ \t]*(?P<value>[^\n]+)$", re.MULTILINE)
# What means no date, or is computed when the document is rendered.
_NONE = re.compile(r"[`{(<]|^(?:null|~|today|now|last-modified)$", re.IGNORECASE)
# 2024-03-01, 2024_03_01, 2024.03.01 or 20240301, and a month (2024-03); no part of a longer number.
_IN_NAME = re.compile(
    r"(?<![0-9])(?P<year>19[7-9][0-9]|20[0-9]{2})"
    r"(?:(?P<between>[-_.]?)(?P<month>0[1-9]|1[0-2])(?P=between)(?P<day>0[1-9]|[12][0-9]|3[01])"
    r"|-(?P<only>0[1-9]|1[0-2])(?![-_.][0-9]))"
    r"(?![0-9])"
)
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")


def stated(text: str, now: datetime) -> datetime | None:
    """Return the time that a document states (noon for a day); None for words such as ``today`` and for later times."""
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
    lines = {match["key"].lower(): match["value"].strip(" \t\"'") for match in _LINE.finditer(block)}
    found = list(filter(None, map(lines.get, _KEYS)))
    when = _first(found, now)
    if when is None and not all(map(_NONE.search, found)):
        note("the date in its front matter cannot be read or is still to come, so it does not count")
    return when


def in_name(name: str, now: datetime) -> datetime | None:
    """Return the day that the name of a file begins with or has in it, at noon; for a month, its first day."""
    for match in _IN_NAME.finditer(Path(name).stem):
        month, day = (match["only"], "1") if match["only"] else (match["month"], match["day"])
        with suppress(ValueError):
            return _plausible(_noon(date(int(match["year"]), int(month), int(day))), now)
    return None


def of_cell(metadata: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return when a cell was last run, where JupyterLab, Colab, papermill or an extension noted it."""
    execution, colab, *others = map(metadata.get, ("execution", "executionInfo", "ExecuteTime", "papermill"))
    if isinstance(colab, Mapping) and isinstance(milliseconds := colab.get("timestamp"), int | float):
        with suppress(ValueError, OverflowError, OSError):
            return _plausible(datetime.fromtimestamp(milliseconds / 1000, UTC), now)
    noted = [timed.get("start_time") for timed in others if isinstance(timed, Mapping)]
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
    try:
        when = when.astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return when if _EARLIEST <= when <= now + _AHEAD else None


_MANY, _MOMENT = 10, 10_000_000_000  # files, nanoseconds


def copied(paths: Iterable[Path]) -> set[Path]:
    """Return the files whose times say when they were copied, unpacked or generated: ten of them within ten seconds."""
    times, found = list[tuple[int, Path]](), set[Path]()
    for path in paths:
        with suppress(OSError):
            times.append((path.stat().st_mtime_ns, path))
    times.sort()
    for begin, (last, _) in enumerate(times[_MANY - 1 :]):
        if last - times[begin][0] <= _MOMENT:
            found.update(path for _, path in times[begin : begin + _MANY])
    return found


# Of each work tree, one ``git ls-files`` and one ``git log`` read the repository alone: no hook, no filter and no
# network, whatever its configuration asks for.

# Seconds after which the rest of a very long history is not read, and that git has for its list of files.
_PATIENCE, _BRIEFLY = 60, 10
_SAFE = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "log.follow=false"),
    *("-c", "log.showRoot=true"),
    # In a partial clone, git would fetch what is missing.
    *("-c", "protocol.allow=never"),
)
_COMMIT = "\x01"
_REGULAR = ("100644", "100755")


def last_commits(paths: Iterable[Path]) -> dict[Path, datetime]:
    """Return when the last commit of each file was written, in UTC; files that differ from it but for line ends, and
    all where git is missing, refuses or cannot read the history, are left out.
    """
    git = which("git")
    if git is None:
        return {}
    trees: dict[Path, list[Path]] = {}
    tops: dict[Path, Path | None] = {}
    for path in paths:
        folder = path.parent
        if folder not in tops:
            tops[folder] = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
        if (top := tops[folder]) is not None:
            trees.setdefault(top, []).append(path)
    found: dict[Path, datetime] = {}
    for top, files in trees.items():
        if any((top / ".git" / name).is_fifo() for name in ("config", "HEAD", "index")):
            continue  # git would wait for what somebody writes there
        wanted = {path.relative_to(top).as_posix(): path for path in files}
        below = os.path.commonpath(list(wanted)) or "."
        committed = {}
        for entry in _output(git, top, _BRIEFLY, "ls-files", "--stage", "-z", "--", below):
            stage, _, name = entry.partition("\t")
            mode, blob, *_ = stage.split(" ")
            if mode in _REGULAR:
                committed[name] = blob
        unchanged = {name for name, path in wanted.items() if name in committed and _is_blob(path, committed[name])}
        found |= {wanted[name]: when for name, when in _changes(git, top, below, unchanged)}
    return found


def _is_blob(path: Path, blob: str) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    new = sha256 if len(blob) == sha256().digest_size * 2 else sha1
    # With autocrlf, git changes the ends of the lines.
    either = (data, data.replace(b"\r\n", b"\n")) if b"\r\n" in data else (data,)
    return any(new(b"blob %d\0" % len(one) + one).hexdigest() == blob for one in either)


def _changes(git: str, top: Path, below: str, names: set[str]) -> Iterator[tuple[str, datetime]]:
    when: datetime | None = None
    if not names:
        return
    first = set[str]()
    with suppress(OSError):
        # Of a shallow clone: where its history begins, all files seem to be new.
        first = set((top / ".git" / "shallow").read_text(encoding="ascii", errors="replace").split())
    log = ("log", "-z", "--no-renames", "--name-only", f"--format={_COMMIT}%H %at", "--", below)
    with closing(_output(git, top, _PATIENCE, *log)) as entries:
        for entry in entries:
            if entry.startswith(_COMMIT):
                when = None
                name, _, seconds = entry.removeprefix(_COMMIT).partition(" ")
                with suppress(ValueError, OverflowError, OSError):
                    when = None if name in first else datetime.fromtimestamp(int(seconds), UTC)
            elif (name := entry.removeprefix("\n")) in names:
                names.remove(name)
                if when is not None:
                    yield name, when
                if not names:
                    return


def _output(git: str, top: Path, patience: float, *arguments: str) -> Generator[str]:
    # It ends early where git fails or takes too long.
    command = [git, "-C", str(top), *_SAFE, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        process = subprocess.Popen(  # noqa: S603  the program is git, and no argument is a user's option
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
    except OSError:
        return
    timer = Timer(patience, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        rest = b""
        while data := process.stdout.read(65_536):
            *whole, rest = (rest + data).split(b"\0")
            yield from map(os.fsdecode, whole)
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
