"""Known files whose place another known one took, while they stand under a new name: `mv a old; mv b a`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from jupyter_memory.ingest.walker import digest
from jupyter_memory.protocols import FileState

_States = Mapping[str, FileState]


class Displaced:
    """Follows files from name to name, each to where what it held stands now."""

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

        Only of chains that begin with a file that is ``gone``: where two files swap names, neither is.
        """
        found: list[tuple[str, str]] = []
        from_ = {state.content_hash: path for path, state in gone.items() if state.size}
        sizes = {state.size for state in gone.values()}
        for path in [one for one, size in self._sizes.items() if one in self._known and size in sizes]:
            old = from_.get(self._digest(path))
            if old is None or path in self._placed:
                continue
            self._placed.add(path)
            if way := self._way_of(path):
                del from_[self._digest(path)]
                found += [*way, (old, path)]
            else:
                self._placed.remove(path)
        return found

    def _way_of(self, path: str) -> list[tuple[str, str]]:
        """Return the moves by which what a known file held came to where it stands now, the last one first."""
        way: list[tuple[str, str]] = []
        while path in self._known and (to := self._place_of(self._known[path], path)) is not None:
            self._placed.add(to)
            way.append((path, to))
            path = to
        return way[::-1]

    def _place_of(self, held: FileState, path: str) -> str | None:
        """Return where what a known file held stands now, unless that held the same before."""
        for to in self._with(held) if held.size else ():
            before = self._known.get(to)
            if to != path and to not in self._placed and (before is None or before.content_hash != held.content_hash):
                return to
        return None

    def _with(self, held: FileState) -> Sequence[str]:
        """Return the files that hold what a known one held. Those of one size are looked through once, be they many."""
        for path in self._of_size.pop(held.size, ()):
            self._of_content[self._digest(path)].append(path)
        return self._of_content.get(held.content_hash, ())

    def _digest(self, path: str) -> str:
        """Return the fingerprint of what a file holds, empty where it cannot be read."""
        if path not in self._digests:
            self._digests[path] = ""
            with suppress(OSError):
                self._digests[path] = digest(Path(path))
        return self._digests[path]
