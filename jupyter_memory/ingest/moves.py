"""Files that were moved or renamed, recognised; and drives that are away."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path, PurePath
from typing import NamedTuple

from jupyter_memory.ingest.discovery import Walk
from jupyter_memory.ingest.readers.registry import digest, suffix_of
from jupyter_memory.runtime import batches
from jupyter_memory.text.markdown import is_position, source_of
from jupyter_memory.text.paths import is_at_or_below
from jupyter_memory.types import Draft
from jupyter_memory.types.protocols import FileState

# Where systems keep the folders of drives, each only while the drive is connected; in the first two also by user.
_PLACES = tuple(map(Path, ("/media", "/run/media", "/mnt", "/Volumes")))
_BY_USER = _PLACES[:2]
# Some file systems keep times of change in steps of two seconds.
_STEP_NS = 2_000_000_000


class DisconnectedDrives:
    """The drives of missing files that are not connected: such files were neither moved nor deleted."""

    def __init__(self) -> None:
        # Asked for many files of the same folders.
        self._nearest = cache(lambda folder: next(filter(os.path.lexists, (folder, *folder.parents)), None))
        self._real = cache(os.path.realpath)
        self._emptied = cache(_emptied)

    def folder_of(self, state: FileState) -> str | None:
        """Return the folder that cannot be reached and that holds the missing file; None where the file is gone.

        A folder cannot be reached if the nearest existing folder above it is one where systems mount drives, or if that
        folder is empty and did not change since the file was indexed, as a mount point is while no drive is mounted.
        """
        path = Path(state.path)
        named = self._nearest(path.parent)
        if named is None:
            return path.anchor or str(path)
        # The way to a drive may be a link, which is there also while the drive is not.
        led_to = Path(self._real(named))
        top = self._nearest(led_to) or led_to
        if not top.is_mount() if top.parent in _BY_USER else top in _PLACES:
            return str(named / path.relative_to(named).parts[0] if top == led_to else named)
        if top != led_to or state.indexed_at is None:
            return None
        emptied = self._emptied(top)
        return str(named) if emptied is not None and emptied < state.indexed_at * 1000 - _STEP_NS else None


def _emptied(folder: Path) -> int | None:
    with suppress(OSError), os.scandir(folder) as entries:
        if next(entries, None) is None:
            return folder.stat().st_mtime_ns
    return None


# Two files are one if the new one has more than this share of the old one's cells, or if the lines that they share make
# up this share of both.
_CELLS = 0.5
_LINES = 2 / 3
# An id that a person wrote, such as "cell-1", occurs elsewhere too: it counts if this share of the words is equal.
_WORDS = 0.5
# Random ids as Jupyter, VS Code and Colab make them: two cells have the same one only if one is a copy of the other.
_RANDOM_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?"
    r"|(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[\w-]{12}"
)
_WORD = re.compile(r"\w+")
_SHORTEST = 8  # characters of a line that says anything
# A line in more files than this is a licence or an import, and such an id the cell of a template: neither tells files
# apart, and comparing all of them with all new files would take too long.
_COMMON = 20


class _Traits(NamedTuple):
    cells: Mapping[str, frozenset[str] | None]  # by id, with words where the id is not enough
    lines: frozenset[str]


class _SimilarFiles:
    # Missing files by their content, to find the one that a new file continues although it was edited: they share ids
    # of cells, or lines.

    def __init__(self, held: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> None:
        self.files = {path: _traits(of_it) for path, of_it in held}
        self._with: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path, traits in self.files.items():
            for mark in _marks(path, traits):
                self._with[mark].append(path)
        self._common = {mark for mark, files in self._with.items() if len(files) > _COMMON}

    def most_similar(self, path: str, drafts: Iterable[Draft]) -> str | None:
        new = _traits((draft.location, draft.text) for draft in drafts)
        marks = [mark for mark in _marks(path, new) if mark not in self._common]
        near = sorted({old for mark in marks for old in self._with.get(mark, ()) if old in self.files})
        after, share = self._telling(new), dict[str, float]()
        for old in (old for old in near if _is_notebook(old) == _is_notebook(path)):
            before = self.files[old]
            pairs = [(words, new.cells[id_]) for id_, words in before.cells.items() if id_ in new.cells]
            stayed = sum(
                one is None or other is None or len(one & other) >= _WORDS * len(one | other) for one, other in pairs
            )
            cells = stayed / len(before.cells) if before.cells else 0.0

            told = self._telling(before)
            most = max(sum(map(len, told)), sum(map(len, after)))
            lines = sum(map(len, told & after)) / most if most else 0.0
            if cells > _CELLS or lines >= _LINES:
                share[old] = max(cells if cells > _CELLS else 0.0, lines if lines >= _LINES else 0.0)
        name = PurePath(path).name
        return max(share, key=lambda old: (share[old], PurePath(old).name == name), default=None)

    def _telling(self, traits: _Traits) -> set[str]:
        return {line for line in traits.lines if ("line", line) not in self._common}


def _marks(path: str, traits: _Traits) -> Iterator[tuple[str, str]]:
    # Runs of a template share its ids: if a folder of many such was renamed, the name tells which is which.
    yield "name", PurePath(path).name
    yield from (("id", id_) for id_ in traits.cells)
    yield from (("line", line) for line in traits.lines)


def _traits(memories: Iterable[tuple[str, str]]) -> _Traits:
    cells: dict[str, frozenset[str] | None] = {}
    lines: set[str] = set()
    for location, text in memories:
        # Outputs change with every run.
        source = source_of(text) if location else text
        if location and not is_position(location):
            cells[location] = None if _RANDOM_ID.fullmatch(location) else frozenset(_WORD.findall(source))
        lines.update(line for line in map(str.strip, source.splitlines()) if len(line) >= _SHORTEST)
    return _Traits(cells, frozenset(lines))


def _is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")


_TOGETHER = 100  # files whose texts are in memory at a time

_States = Mapping[str, FileState]
# Location and text of each memory of some files, by path.
_Held = Mapping[str, Sequence[tuple[str, str]]]


class MissingFiles:
    """Known files of a folder that are no longer there, or no longer wanted; what could not be looked at stays."""

    def __init__(
        self, seen: Walk, known: _States, files_under: Callable[[str], _States], held: Callable[[Sequence[str]], _Held]
    ) -> None:
        present = {str(path) for path in seen.files}
        unreadable = [path for path, _ in seen.failed]
        links = {str(path) for path in seen.links}
        self._known, self._files_under, self._held = known, files_under, held
        self._drives, self._files = DisconnectedDrives(), seen.files
        self._new = [path for path in seen.files if str(path) not in known]
        self._met: set[str] = set()
        self._placed: set[str] = set()
        self.paths: dict[str, None] = {}
        self.unreachable: Counter[str] = Counter()  # the files on drives that are not connected now, by folder
        # A file that is there and no longer wanted was not moved, only copied.
        left: dict[str, FileState] = {}
        for path, state in known.items():
            if path in present or any(is_at_or_below(path, folder) for folder in unreadable):
                continue
            missing = _is_missing(path)
            # It is there, but its reader may be missing at the moment.
            may_be_read = bool(seen.readers.problems) or suffix_of(path) in seen.readers.extras
            if not missing and may_be_read and suffix_of(path) not in seen.readers.suffixes:
                continue
            if missing and (place := self._drives.folder_of(state)) is not None:
                self.unreachable[place] += 1
                continue
            self.paths[path] = None
            if missing or path in links:
                left[path] = state
        self._left = left
        self._inside = _by_content(left)
        self._similar: _SimilarFiles | None = None

    def displaced(self) -> list[tuple[str, str]]:
        """Return the old and new names of files that took each other's places, and no longer count them as missing."""
        # Before the files are read: one that moves to a known name would replace the file that moved away from it.
        moves = _displaced(self._files, self._known, self._left) if self._left else []
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
            like = self._outside.get(new.content_hash, [])
            like[:] = [path for path in like if path != new.path and self._is_gone(self._elsewhere[path])]
            old = _taken(like, Path(new.path).name) or self._edited(new, drafts)
        if old is not None:
            self.paths.pop(old, None)
            self._left.pop(old, None)
            if self._similar is not None:
                self._similar.files.pop(old, None)
        return old

    def _edited(self, new: FileState, drafts: Sequence[Draft]) -> str | None:
        if self._similar is None:
            states = {path: state for path, state in self._elsewhere.items() if self._is_gone(state)}
            states |= self._left
            # Those that were only renamed, to files that are read later.
            everything = {**self._left, **states}
            sizes = {state.size for state in everything.values()} - {0}
            like, renamed = _by_content(everything), set[str]()
            for path in [path for path in self._new if str(path) not in self._met] if sizes else ():
                with suppress(OSError):
                    if path.stat().st_size in sizes and (old := _taken(like.get(digest(path), []), path.name)):
                        renamed.add(old)
            wanted = batches([path for path in states if path not in renamed], _TOGETHER)
            self._similar = _SimilarFiles(one for some in wanted for one in self._held(some).items())
        old = self._similar.most_similar(new.path, drafts) if self._similar.files else None
        if old is not None:
            held = (self._left.get(old) or self._elsewhere[old]).content_hash
            for of_content in (self._inside, self._outside):
                if old in of_content.get(held, ()):
                    of_content[held].remove(old)
        return old

    @cached_property
    def _elsewhere(self) -> _States:
        everything = self._files_under(self._new[0].anchor)
        return {path: state for path, state in everything.items() if path not in self._known}

    @cached_property
    def _outside(self) -> dict[str, list[str]]:
        return _by_content(self._elsewhere)

    def _is_gone(self, state: FileState) -> bool:
        return _is_missing(state.path) and self._drives.folder_of(state) is None


def _displaced(files: Iterable[Path], known: _States, gone: _States) -> list[tuple[str, str]]:
    # Known files whose name another known file has now, as after ``mv a old; mv b a``: their old and new names, in the
    # order in which each name is free before another file takes it. Only chains that begin with a file that is ``gone``
    # are followed: where two files swap names, neither is gone.
    sizes: dict[str, int] = {}
    of_size: dict[int, list[str]] = defaultdict(list)
    for file in files:
        with suppress(OSError):
            status, before = file.stat(), known.get(str(file))
            if before is None or (before.mtime_ns, before.size) != (status.st_mtime_ns, status.st_size):
                sizes[str(file)] = status.st_size
                of_size[status.st_size].append(str(file))

    @cache
    def content(path: str) -> str:
        with suppress(OSError):
            return digest(Path(path))
        return ""

    found, placed = list[tuple[str, str]](), set[str]()
    of_content: dict[str, list[str]] = defaultdict(list)
    from_ = {state.content_hash: path for path, state in gone.items() if state.size}
    of_gone = {state.size for state in gone.values()}
    for path in [one for one, size in sizes.items() if one in known and size in of_gone]:
        # One that holds what it held was touched, and is not the file of equal content that is gone.
        if content(path) not in from_ or path in placed or known[path].content_hash == content(path):
            continue
        placed.add(path)
        way, at = list[tuple[str, str]](), path
        while at in known and (held := known[at]).size:
            # All files of one size are read together, once.
            for one in of_size.pop(held.size, ()):
                of_content[content(one)].append(one)
            free = [to for to in of_content[held.content_hash] if to != at and to not in placed]
            new = (to for to in free if to not in known or known[to].content_hash != held.content_hash)
            if (to := next(new, None)) is None:
                break
            placed.add(to)
            way.append((at, to))
            at = to
        if way:
            found += [*way[::-1], (from_.pop(content(path)), path)]
        else:
            placed.remove(path)
    return found


def _by_content(states: _States) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, state in states.items():
        if state.size:
            found.setdefault(state.content_hash, []).append(path)
    return found


def _taken(like: list[str], name: str) -> str | None:
    old = next((path for path in like if Path(path).name == name), like[0] if like else None)
    if old is not None:
        like.remove(old)
    return old


def _is_missing(path: str) -> bool:
    # What cannot be looked at may be there.
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def use_known_names(seen: Walk, known: _States, files_under: Callable[[str], _States]) -> dict[str, FileState]:
    """Replace the files that the store knows by another name by that name; return what is known of all of ``seen``.

    So a file is indexed once, whichever of its names is used: its own, or that of a link to it or to a folder above it.
    """
    present = {str(path) for path in seen.files}
    new = [path for path in seen.files if str(path) not in known]
    if not new:
        return dict(known)
    # A link to a file is no name to keep where the file is found by its own.
    left = present | {str(path) for path in seen.links}
    others = {path: state for path, state in files_under(new[0].anchor).items() if path not in left}
    real_folder = cache(os.path.realpath)

    def real(path: str) -> str:
        folder, name = os.path.split(path)
        found = os.path.join(real_folder(folder), name)  # noqa: PTH118  a Path for each file takes too long
        return os.path.realpath(found) if os.path.islink(found) else found  # noqa: PTH114

    names = {real(path): path for path in others}
    renamed = {path: name for path in new if (name := names.get(real(str(path)))) is not None}
    seen.files[:] = sorted(Path(renamed.get(path, path)) for path in seen.files)
    return {**known, **{name: others[name] for name in renamed.values()}}
