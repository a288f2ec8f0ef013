"""Finds the files that a store knows by another name, where links lead to a file by two."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from jupyter_memory.ingest.discovery.walker import Walk
from jupyter_memory.types.protocols import FileState

_States = Mapping[str, FileState]


class RealNames:
    """The names of files with all links followed; each folder is looked at once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        """Return the name of a file once its links are followed; what is not there keeps its name."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        found = os.path.join(self._folders[folder], name)  # noqa: PTH118  a Path for each file takes too long
        return os.path.realpath(found) if os.path.islink(found) else found  # noqa: PTH114


def use_known_names(seen: Walk, known: _States, files_under: Callable[[str], _States]) -> dict[str, FileState]:
    """Replace the files that the store knows by another name by that name; return what is known of all of ``seen``.

    So a file is indexed once and kept up to date, whichever of its names is used: that of a link to it or to a folder
    above it, or its own. ``known`` is what is known below the folder that was looked through.
    """
    present = {str(path) for path in seen.files}
    new = [path for path in seen.files if str(path) not in known]
    if not new:
        return dict(known)
    # A link to a file is no name to keep where the file is found by its own.
    left = present | {str(path) for path in seen.links}
    others = {path: state for path, state in files_under(new[0].anchor).items() if path not in left}
    real = RealNames()
    names = {real.of(path): path for path in others}
    renamed = {path: name for path in new if (name := names.get(real.of(str(path)))) is not None}
    seen.files[:] = sorted(Path(renamed.get(path, path)) for path in seen.files)
    return {**known, **{name: others[name] for name in renamed.values()}}
