"""Known files that are no longer where they were: each was deleted, or is a new one under its old name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from jupyter_memory.ingest.walk import Walk
from jupyter_memory.protocols import FileState

_ByContent = dict[str, list[str]]


def _nothing() -> Mapping[str, FileState]:
    return {}


@dataclass(slots=True)
class Gone:
    """Known files of a folder that are no longer there, or no longer wanted; what could not be looked at stays."""

    paths: dict[str, None]
    _inside: _ByContent
    _known: frozenset[str]
    _everything: Callable[[], Mapping[str, FileState]]
    _outside: _ByContent | None = field(default=None, init=False)

    @classmethod
    def among(
        cls,
        seen: Walk,
        known: Mapping[str, FileState],
        everything: Callable[[], Mapping[str, FileState]] = _nothing,
    ) -> Self:
        """Return those of the known files that were not seen; ``everything`` gives the files of other folders, too."""
        present = {str(path) for path in seen.files}
        unreadable = [path for path, _ in seen.failed]
        missing = [path for path in known if path not in present]
        paths = [path for path in missing if not any(_is_below(path, folder) for folder in unreadable)]
        # One that is there and no longer wanted was not moved, only copied.
        left = {path: known[path] for path in paths if _is_missing(path)}
        return cls(dict.fromkeys(paths), _by_content(left), frozenset(known), everything)

    def moved_to(self, new: FileState) -> str | None:
        """Return which file is this new one under its old name, and count it no longer as gone.

        One of the same folder comes first; a file that was not known at all may be one that was indexed from elsewhere.
        """
        old = _taken(self._inside.get(new.content_hash, []), new)
        if old is not None:
            del self.paths[old]
        if old is not None or new.path in self._known:
            return old
        if self._outside is None:
            # Asked for once, and only where anything is new.
            others = {path: state for path, state in self._everything().items() if path not in self._known}
            self._outside = _by_content(others)
        like = self._outside.get(new.content_hash, [])
        like[:] = [path for path in like if path != new.path and _is_missing(path)]
        return _taken(like, new)


def _by_content(states: Mapping[str, FileState]) -> _ByContent:
    """Return paths by what the files held; empty ones are all alike, and left out."""
    found: _ByContent = {}
    for path, state in states.items():
        if state.size:
            found.setdefault(state.content_hash, []).append(path)
    return found


def _taken(like: list[str], new: FileState) -> str | None:
    """Take one of these paths, one with the name of the new file if there is any."""
    name = Path(new.path).name
    old = next((path for path in like if Path(path).name == name), like[0] if like else None)
    if old is not None:
        like.remove(old)
    return old


def _is_missing(path: str) -> bool:
    """Return whether nothing is there; where nobody can look, something may be."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
