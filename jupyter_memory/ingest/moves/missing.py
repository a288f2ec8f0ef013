"""Known files that are no longer where they were: each was deleted, or moved and is a new file now."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from jupyter_memory.ingest.discovery.walker import Walk
from jupyter_memory.ingest.moves.drives import DisconnectedDrives
from jupyter_memory.ingest.moves.similarity import SimilarFiles
from jupyter_memory.ingest.readers.fingerprint import digest
from jupyter_memory.ingest.readers.registry import Readers, suffix_of
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.types import Draft
from jupyter_memory.types.protocols import FileState

_TOGETHER = 100  # files whose texts are in memory at a time

_States = Mapping[str, FileState]


class KnownFiles(Protocol):
    """The part of a ``Catalog`` that tells what is known of files, also of those in other folders."""

    def files_under(self, root: str, /) -> _States: ...

    def held(self, paths: Sequence[str], /) -> Mapping[str, Sequence[tuple[str, str]]]: ...


class MissingFiles:
    """Known files of a folder that are no longer there, or no longer wanted; what could not be looked at stays.

    ``paths`` are those files. ``unreachable`` counts, by folder, the files on drives that are not connected now.
    """

    def __init__(self, seen: Walk, known: _States, catalog: KnownFiles) -> None:
        present = {str(path) for path in seen.files}
        unreadable = [path for path, _ in seen.failed]
        links = {str(path) for path in seen.links}
        self._known, self._catalog, self._drives = known, catalog, DisconnectedDrives()
        self._files = seen.files
        self._new = [path for path in seen.files if str(path) not in known]
        self._met: set[str] = set()
        self._placed: set[str] = set()
        self.paths: dict[str, None] = {}
        self.unreachable: Counter[str] = Counter()
        # A file that is there and no longer wanted was not moved, only copied.
        left: dict[str, FileState] = {}
        for path, state in known.items():
            if path in present or any(is_at_or_below(path, folder) for folder in unreadable):
                continue
            missing = _is_missing(path)
            if not missing and _is_unread(path, seen.readers):
                continue
            if missing and (place := self._drives.folder_of(state)) is not None:
                self.unreachable[place] += 1
                continue
            self.paths[path] = None
            if missing or path in links:
                left[path] = state
        self._left: dict[str, FileState] = left
        self._inside = _by_content(left)
        self._outside: dict[str, list[str]] | None = None
        self._others: _States | None = None
        self._similar: SimilarFiles | None = None

    def displaced(self) -> list[tuple[str, str]]:
        """Return the old and new names of files that took each other's places, and no longer count them as missing.

        Called before the files are read: one by one, a file that moves to a known name would replace the file that
        moved away from it.
        """
        moves = DisplacedFiles(self._files, self._known).moves(self._left) if self._left else []
        for old, new in moves:
            self._placed.add(new)
            if (state := self._left.pop(old, None)) is not None:
                self.paths.pop(old)
                self._inside[state.content_hash].remove(old)
        return moves

    def moved_to(self, new: FileState, drafts: Sequence[Draft]) -> str | None:
        """Return the old name of this new file, None if it is really new, and no longer count the old one as missing.

        A file with the same content comes before one that was edited since, and a file of the same folder before files
        that were indexed from elsewhere.
        """
        self._met.add(new.path)
        if new.path in self._placed:
            return None
        old = _taken(self._inside.get(new.content_hash, []), Path(new.path).name)
        if old is None and new.path not in self._known:
            old = self._same_elsewhere(new) or self._edited(new, drafts)
        if old is not None:
            self.paths.pop(old, None)
            self._left.pop(old, None)
            if self._similar is not None:
                self._similar.take(old)
        return old

    def _same_elsewhere(self, new: FileState) -> str | None:
        """Return a missing file that was indexed from elsewhere and held the same."""
        if self._outside is None:
            self._outside = _by_content(self._known_elsewhere())
        like = self._outside.get(new.content_hash, [])
        like[:] = [path for path in like if path != new.path and self._is_gone(self._known_elsewhere()[path])]
        return _taken(like, Path(new.path).name)

    def _edited(self, new: FileState, drafts: Sequence[Draft]) -> str | None:
        """Return a missing file that held much of the same."""
        if self._similar is None:
            states = {path: state for path, state in self._known_elsewhere().items() if self._is_gone(state)}
            states |= self._left
            renamed = _renamed_only(
                {**self._left, **states}, [path for path in self._new if str(path) not in self._met]
            )
            self._similar = SimilarFiles(self._held([path for path in states if path not in renamed]))
        old = self._similar.most_similar(new.path, drafts)
        if old is not None:
            held = (self._left.get(old) or self._known_elsewhere()[old]).content_hash
            for like in (self._inside, self._outside or {}):
                if old in like.get(held, ()):
                    like[held].remove(old)
        return old

    def _held(self, paths: Sequence[str]) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
        for start in range(0, len(paths), _TOGETHER):
            yield from self._catalog.held(paths[start : start + _TOGETHER]).items()

    def _known_elsewhere(self) -> _States:
        # Read once, and only where anything is new.
        if self._others is None:
            everything = self._catalog.files_under(self._new[0].anchor)
            self._others = {path: state for path, state in everything.items() if path not in self._known}
        return self._others

    def _is_gone(self, state: FileState) -> bool:
        return _is_missing(state.path) and self._drives.folder_of(state) is None


class DisplacedFiles:
    """Known files whose name another known file has now, as after ``mv a old; mv b a``, followed to their new names."""

    def __init__(self, files: Iterable[Path], known: _States) -> None:
        """Take the files that are there, and what is known of the folder."""
        self._known = known
        self._placed: set[str] = set()
        self._digests: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._of_size: dict[int, list[str]] = defaultdict(list)
        self._of_content: dict[str, list[str]] = defaultdict(list)
        for path in files:
            with suppress(OSError):
                status, before = path.stat(), known.get(str(path))
                if before is None or (before.mtime_ns, before.size) != (status.st_mtime_ns, status.st_size):
                    self._sizes[str(path)] = status.st_size
                    self._of_size[status.st_size].append(str(path))

    def moves(self, gone: _States) -> list[tuple[str, str]]:
        """Return old and new names, in the order in which each name is free before another file takes it.

        Only chains that begin with a file that is ``gone`` are followed: where two files swap names, neither is gone.
        """
        found: list[tuple[str, str]] = []
        from_ = {state.content_hash: path for path, state in gone.items() if state.size}
        sizes = {state.size for state in gone.values()}
        for path in [one for one, size in self._sizes.items() if one in self._known and size in sizes]:
            old = from_.get(self._digest(path))
            # One that holds what it held was touched, and is not the file of equal content that is gone.
            if old is None or path in self._placed or self._known[path].content_hash == self._digest(path):
                continue
            self._placed.add(path)
            if way := self._way_of(path):
                del from_[self._digest(path)]
                found += [*way, (old, path)]
            else:
                self._placed.remove(path)
        return found

    def _way_of(self, path: str) -> list[tuple[str, str]]:
        """Return the moves by which the content of a known file came to its present place, the last one first."""
        way: list[tuple[str, str]] = []
        while path in self._known and (to := self._place_of(self._known[path], path)) is not None:
            self._placed.add(to)
            way.append((path, to))
            path = to
        return way[::-1]

    def _place_of(self, held: FileState, path: str) -> str | None:
        """Return the file that has the content of a known file now, unless it had the same before."""
        for to in self._with(held) if held.size else ():
            before = self._known.get(to)
            if to != path and to not in self._placed and (before is None or before.content_hash != held.content_hash):
                return to
        return None

    def _with(self, held: FileState) -> Sequence[str]:
        """Return the files that hold what a known one held. All files of one size are read together, once."""
        for path in self._of_size.pop(held.size, ()):
            self._of_content[self._digest(path)].append(path)
        return self._of_content.get(held.content_hash, ())

    def _digest(self, path: str) -> str:
        """Return the fingerprint of a file's content, empty where it cannot be read."""
        if path not in self._digests:
            self._digests[path] = ""
            with suppress(OSError):
                self._digests[path] = digest(Path(path))
        return self._digests[path]


def _by_content(states: _States) -> dict[str, list[str]]:
    """Return paths by the content of the files; empty files are all alike, and left out."""
    found: dict[str, list[str]] = {}
    for path, state in states.items():
        if state.size:
            found.setdefault(state.content_hash, []).append(path)
    return found


def _renamed_only(states: _States, new: Sequence[Path]) -> set[str]:
    """Return the missing files whose exact content a new file has, one for each: they are reserved for it."""
    sizes = {state.size for state in states.values()} - {0}
    like, waiting = _by_content(states), set[str]()
    for path in new if sizes else ():
        with suppress(OSError):
            if path.stat().st_size in sizes and (old := _taken(like.get(digest(path), []), path.name)) is not None:
                waiting.add(old)
    return waiting


def _taken(like: list[str], name: str) -> str | None:
    """Take one of these paths, preferably one with the name of the new file."""
    old = next((path for path in like if Path(path).name == name), like[0] if like else None)
    if old is not None:
        like.remove(old)
    return old


def _is_missing(path: str) -> bool:
    """Return whether nothing is there. Where nobody can look, something may be."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_unread(path: str, readers: Readers) -> bool:
    """Return whether a file may belong to a reader that cannot be used at the moment: it is not gone for that."""
    may_be_read = bool(readers.problems) or suffix_of(path) in readers.extras
    return may_be_read and not path.lower().endswith(readers.suffixes)
