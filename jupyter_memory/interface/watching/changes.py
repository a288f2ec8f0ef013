"""Changes of files, as JupyterLab or the file system reports them, and how a store follows them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.text.paths import called_before

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore

# Changed paths of a folder from which on the folder is looked through at once, as after a checkout.
_MANY = 50


@dataclass(frozen=True, slots=True)
class Change:
    """A file or folder to look at: it was written, is gone, or has moved here from ``old``."""

    path: Path
    old: Path | None = None


def apply_changes(
    store: MemoryStore, changes: Sequence[Change], problems: list[Exception], ignore: Sequence[str] = ()
) -> int:
    """Update a store after changes: moves of all files that it knows, other changes in the folders that are watched.

    A file that moved keeps its memories with their ids, tags and pins. What goes wrong with one file is added to
    ``problems``, and the others are applied. Return how many changes made a difference to the store.
    """
    made = 0
    # Lab names files by the folder that a link leads to; they may be known by the name of the link.
    names = [folder.path for folder in store.folders()]
    changes = [_as_known(change, names) for change in changes]
    for change in changes:
        if change.old is not None:
            made += _try(partial(store.rename, change.old, change.path), problems)
    # After the renaming: a folder that is watched may have moved itself.
    watched = [Path(folder.path) for folder in store.folders() if folder.watched]
    touched = _touched([change.path for change in changes], watched)
    # What is there first: a file that was renamed is found under its new name before the old one is forgotten.
    for path, folder in sorted(_summed_up(touched).items(), key=lambda place: not os.path.lexists(place[0])):
        made += _try(partial(_look_at, store, path, folder, ignore), problems)
    return made


def _as_known(change: Change, names: Sequence[str]) -> Change:
    old = None if change.old is None else called_before(change.old, names)
    return Change(called_before(change.path, names), old)


def _look_at(store: MemoryStore, path: Path, folder: Path, ignore: Sequence[str]) -> int:
    if not path.exists():
        # Saved a moment ago it may be gone already, or have another name.
        return store.forget_gone(path)
    # A store in a folder that is watched changes whenever a change is noted.
    if (isinstance(store.path, Path) and path.samefile(store.path)) or not _is_wanted(path, folder, ignore):
        return 0
    report = store.index(path, progress=False)
    return report.files + report.forgotten + report.moved


def _touched(paths: Sequence[Path], watched: Sequence[Path]) -> dict[Path, Path]:
    """Return the paths to look at, each with its watched folder: the path itself, or watched folders below it."""
    touched: dict[Path, Path] = {}
    for path in paths:
        above = next((folder for folder in watched if path.is_relative_to(folder)), None)
        below = {folder: folder for folder in watched if folder.is_relative_to(path)}
        touched |= below if above is None else {path: above}
    return touched


def _summed_up(touched: Mapping[Path, Path]) -> dict[Path, Path]:
    """Return the paths to look at; where very many of a folder changed, the folder takes their place."""
    counts = Counter(touched.values())
    return {folder if counts[folder] > _MANY else path: folder for path, folder in touched.items()}


def _try(step: Callable[[], int], problems: list[Exception]) -> int:
    """Return 1 if a step did something, 0 if nothing was to do or it failed."""
    try:
        return min(step(), 1)
    except (JupyterMemoryError, OSError) as error:
        problems.append(error)
        return 0


def _is_wanted(path: Path, folder: Path, ignore: Sequence[str]) -> bool:
    # Imported late: the server starts without what reads files.
    from jupyter_memory.ingest.discovery import is_wanted

    return is_wanted(path, folder, ignore=ignore)
