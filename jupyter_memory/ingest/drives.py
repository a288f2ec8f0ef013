"""Whether a file that is not there is on a drive that is not connected now: then it was neither moved nor deleted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from jupyter_memory.protocols import FileState

# Where systems keep the folders of drives, each only while the drive is connected; in the first two also by user.
_PLACES = tuple(map(Path, ("/media", "/run/media", "/mnt", "/Volumes")))
_BY_USER = _PLACES[:2]
# Some file systems keep times of change in steps of two seconds.
_STEP_NS = 2_000_000_000


class Away:
    """Looks for the drives of files that are not there, at each folder once."""

    def __init__(self) -> None:
        self._nearest: dict[Path, Path | None] = {}
        self._empty: dict[Path, int | None] = {}
        self._led_to: dict[Path, Path] = {}

    def place(self, state: FileState) -> str | None:
        """Return the folder that is out of reach and the missing file with it; None where the file is gone.

        It is out of reach where the last folder on the way that is there keeps drives, and where it is empty and nobody
        took anything out of it since the file was indexed: so is a folder while no drive is mounted on it.
        """
        path = Path(state.path)
        named = self._last_there(path.parent)
        if named is None:
            return path.anchor or str(path)
        # The way to a drive may be a link, which is there also while the drive is not.
        led_to = self._end_of(named)
        top = self._last_there(led_to) or led_to
        if _keeps_drives(top):
            return str(named / path.relative_to(named).parts[0] if top == led_to else named)
        emptied = self._emptied(top) if top == led_to else None
        indexed = None if state.indexed_at is None else state.indexed_at * 1000
        return str(named) if emptied is not None and indexed is not None and emptied < indexed - _STEP_NS else None

    def _end_of(self, folder: Path) -> Path:
        """Return where a folder is, past all links."""
        if folder not in self._led_to:
            self._led_to[folder] = Path(os.path.realpath(folder))
        return self._led_to[folder]

    def _last_there(self, folder: Path) -> Path | None:
        """Return the nearest folder on the way to one that is there, it or one above it."""
        on_the_way = []
        found: Path | None = None
        for one in (folder, *folder.parents):
            if one in self._nearest:
                found = self._nearest[one]
                break
            on_the_way.append(one)
            if os.path.lexists(one):
                found = one
                break
        self._nearest.update(dict.fromkeys(on_the_way, found))
        return found

    def _emptied(self, folder: Path) -> int | None:
        """Return when an empty folder was changed last, in nanoseconds; None for one that holds anything."""
        if folder not in self._empty:
            self._empty[folder] = _changed(folder) if not any(_entries(folder)) else None
        return self._empty[folder]


def _keeps_drives(folder: Path) -> bool:
    if folder.parent in _BY_USER:
        return not folder.is_mount()
    return folder in _PLACES


def _entries(folder: Path) -> Iterator[bool]:
    """Yield something for whatever a folder holds, and for one that nobody can look into."""
    try:
        with os.scandir(folder) as entries:
            yield from (True for _ in entries)
    except OSError:
        yield True


def _changed(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None
