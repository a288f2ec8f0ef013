"""Known files that are no longer where they were: each was deleted, or is a new one under its old name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from jupyter_memory.ingest.displaced import Displaced
from jupyter_memory.ingest.drives import Away
from jupyter_memory.ingest.readers.registry import Readers
from jupyter_memory.ingest.similarity import Alike
from jupyter_memory.ingest.walker import Walk, digest
from jupyter_memory.protocols import FileState
from jupyter_memory.types import Draft

_TOGETHER = 100  # files whose texts are in memory at a time

_States = Mapping[str, FileState]


class Elsewhere(Protocol):
    """What is known of files, those of other folders too."""

    def files_under(self, root: str, /) -> _States: ...

    def held(self, paths: Sequence[str], /) -> Mapping[str, Sequence[tuple[str, str]]]: ...


class Gone:
    """Known files of a folder that are no longer there, or no longer wanted; what could not be looked at stays.

    ``paths`` are those files, ``away`` counts, by folder, those that only cannot be reached now.
    """

    def __init__(self, seen: Walk, known: _States, elsewhere: Elsewhere) -> None:
        present = {str(path) for path in seen.files}
        unreadable = [path for path, _ in seen.failed]
        links = {str(path) for path in seen.links}
        self._known, self._elsewhere, self._drives = known, elsewhere, Away()
        self._files = seen.files
        self._new = [path for path in seen.files if str(path) not in known]
        self._met: set[str] = set()
        self._placed: set[str] = set()
        self.paths: dict[str, None] = {}
        self.away: Counter[str] = Counter()
        # One that is there and no longer wanted was not moved, only copied.
        left: dict[str, FileState] = {}
        for path, state in known.items():
            if path in present or any(_is_below(path, folder) for folder in unreadable):
                continue
            missing = _is_missing(path)
            if not missing and _is_unread(path, seen.readers):
                continue
            if missing and (place := self._drives.place(state)) is not None:
                self.away[place] += 1
                continue
            self.paths[path] = None
            if missing or path in links:
                left[path] = state
        self._left: dict[str, FileState] = left
        self._inside = _by_content(left)
        self._outside: dict[str, list[str]] | None = None
        self._others: _States | None = None
        self._alike: Alike | None = None

    def displaced(self) -> list[tuple[str, str]]:
        """Return the old and new names of files that took each other's places, and count them no longer as gone.

        Before the files are read: taken one by one, what moves to a known name would push out what moved away from it.
        """
        moves = Displaced(self._files, self._known).moves(self._left) if self._left else []
        for old, new in moves:
            self._placed.add(new)
            if (state := self._left.pop(old, None)) is not None:
                self.paths.pop(old)
                self._inside[state.content_hash].remove(old)
        return moves

    def moved_to(self, new: FileState, drafts: Sequence[Draft]) -> str | None:
        """Return which file is this new one under its old name, and count it no longer as gone.

        What holds the same comes before what was edited since, and a file of the same folder before those that were
        indexed from elsewhere.
        """
        self._met.add(new.path)
        if new.path in self._placed:
            return None
        old = _taken(self._inside.get(new.content_hash, []), Path(new.path).name)
        if old is None and new.path not in self._known:
            old = self._the_same_elsewhere(new) or self._edited(new, drafts)
        if old is not None:
            self.paths.pop(old, None)
            self._left.pop(old, None)
            if self._alike is not None:
                self._alike.take(old)
        return old

    def _the_same_elsewhere(self, new: FileState) -> str | None:
        """Return a file that was indexed from elsewhere, is gone from there, and held the same."""
        if self._outside is None:
            self._outside = _by_content(self._known_elsewhere())
        like = self._outside.get(new.content_hash, [])
        like[:] = [path for path in like if path != new.path and self._is_gone(self._known_elsewhere()[path])]
        return _taken(like, Path(new.path).name)

    def _edited(self, new: FileState, drafts: Sequence[Draft]) -> str | None:
        """Return a file that is gone and held much of the same."""
        if self._alike is None:
            states = {path: state for path, state in self._known_elsewhere().items() if self._is_gone(state)}
            states |= self._left
            renamed = _renamed_only(
                {**self._left, **states}, [path for path in self._new if str(path) not in self._met]
            )
            self._alike = Alike(self._held([path for path in states if path not in renamed]))
        old = self._alike.most_like(new.path, drafts)
        if old is not None:
            held = (self._left.get(old) or self._known_elsewhere()[old]).content_hash
            for like in (self._inside, self._outside or {}):
                if old in like.get(held, ()):
                    like[held].remove(old)
        return old

    def _held(self, paths: Sequence[str]) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
        for start in range(0, len(paths), _TOGETHER):
            yield from self._elsewhere.held(paths[start : start + _TOGETHER]).items()

    def _known_elsewhere(self) -> _States:
        # Asked for once, and only where anything is new.
        if self._others is None:
            everything = self._elsewhere.files_under(self._new[0].anchor)
            self._others = {path: state for path, state in everything.items() if path not in self._known}
        return self._others

    def _is_gone(self, state: FileState) -> bool:
        return _is_missing(state.path) and self._drives.place(state) is None


def _by_content(states: _States) -> dict[str, list[str]]:
    """Return paths by what the files held; empty ones are all alike, and left out."""
    found: dict[str, list[str]] = {}
    for path, state in states.items():
        if state.size:
            found.setdefault(state.content_hash, []).append(path)
    return found


def _renamed_only(states: _States, new: Sequence[Path]) -> set[str]:
    """Return the files whose very content a new one has, one for each such: they wait for it."""
    sizes = {state.size for state in states.values()} - {0}
    like, waiting = _by_content(states), set[str]()
    for path in new if sizes else ():
        with suppress(OSError):
            if path.stat().st_size in sizes and (old := _taken(like.get(digest(path), []), path.name)) is not None:
                waiting.add(old)
    return waiting


def _taken(like: list[str], name: str) -> str | None:
    """Take one of these paths, one with the name of the new file if there is any."""
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


def _is_unread(path: str, readers: Readers) -> bool:
    """Return whether a file may belong to a reader that cannot be used at the moment: it is not gone for that."""
    return bool(readers.problems) and not path.lower().endswith(readers.suffixes)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
