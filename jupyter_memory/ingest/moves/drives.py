"""Finds missing files that are on a drive which is not connected: they were neither moved nor deleted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it loads NumPy, which the server does without until somebody searches
    from jupyter_memory.types.protocols import FileState

# Where systems keep the folders of drives, each only while the drive is connected; in the first two also by user.
_PLACES = tuple(map(Path, ("/media", "/run/media", "/mnt", "/Volumes")))
_BY_USER = _PLACES[:2]
# Some file systems keep times of change in steps of two seconds.
_STEP_NS = 2_000_000_000


class DisconnectedDrives:
    """Looks for the drives of missing files; each folder is looked at once."""

    def __init__(self) -> None:
        self._nearest: dict[Path, Path | None] = {}
        self._empty: dict[Path, int | None] = {}
        self._led_to: dict[Path, Path] = {}

    def folder_of(self, state: FileState) -> str | None:
        """Return the folder that cannot be reached and that holds the missing file; None where the file is gone.

        A folder cannot be reached if the nearest existing folder above it is one where systems mount drives, or if that
        folder is empty and did not change since the file was indexed, as a mount point is while no drive is mounted.
        """
        path = Path(state.path)
        named = self._nearest_existing(path.parent)
        if named is None:
            return path.anchor or str(path)
        # The way to a drive may be a link, which is there also while the drive is not.
        led_to = self._end_of(named)
        top = self._nearest_existing(led_to) or led_to
        if _keeps_drives(top):
            return str(named / path.relative_to(named).parts[0] if top == led_to else named)
        emptied = self._emptied(top) if top == led_to else None
        indexed = None if state.indexed_at is None else state.indexed_at * 1000
        return str(named) if emptied is not None and indexed is not None and emptied < indexed - _STEP_NS else None

    def _end_of(self, folder: Path) -> Path:
        """Return where a folder is, with all links followed."""
        if folder not in self._led_to:
            self._led_to[folder] = Path(os.path.realpath(folder))
        return self._led_to[folder]

    def _nearest_existing(self, folder: Path) -> Path | None:
        """Return a folder, or the nearest one above it, that exists."""
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
        """Return when an empty folder was last changed, in nanoseconds; None for a folder that holds anything."""
        if folder not in self._empty:
            self._empty[folder] = _changed(folder) if not any(_entries(folder)) else None
        return self._empty[folder]


def _keeps_drives(folder: Path) -> bool:
    if folder.parent in _BY_USER:
        return not folder.is_mount()
    return folder in _PLACES


def _entries(folder: Path) -> Iterator[bool]:
    """Yield True for each entry of a folder, and once for a folder that cannot be read."""
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
