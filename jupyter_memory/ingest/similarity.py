"""Which file that is gone a new one goes on with, though it was edited: told by ids of cells, and by shared lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from jupyter_memory.types import Draft

# What tells two files to be one: of the old one's cells more than so many are in the new one, or lines that make up
# so much of both stand in both.
_CELLS = 0.5
_LINES = 2 / 3
# A cell whose id somebody wrote, such as "cell-1", is another's too: it counts where so many of its words are the same.
_WORDS = 0.5
# Ids as Jupyter, VS Code and Colab draw them: no two cells have the same one, unless one is a copy of the other.
_BY_CHANCE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?"
    r"|(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[\w-]{12}"
)
_WORD = re.compile(r"\w+")
_SHORTEST = 8  # characters of a line that tells anything
# A line that more files have than so many is a licence or an import, an id the cell of a template: neither tells them
# apart, and to compare all of them with all new ones would take as long as both are many.
_COMMON = 20


@dataclass(frozen=True, slots=True)
class _Traits:
    """What tells a file: its cells by id, each with its words where the id is not enough; the lengths of its lines."""

    cells: Mapping[str, frozenset[str] | None]
    lines: Mapping[str, int]


class Alike:
    """Files by what they held, to be found by a new one that holds much of the same."""

    def __init__(self, held: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> None:
        """Take the paths of some files, each with the location and the text of what it held."""
        self._files = {path: _traits(of_it) for path, of_it in held}
        self._by_id: dict[str, list[str]] = defaultdict(list)
        self._by_line: dict[str, list[str]] = defaultdict(list)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path, traits in self._files.items():
            self._by_name[PurePath(path).name].append(path)
            for id_ in traits.cells:
                self._by_id[id_].append(path)
            for line in traits.lines:
                self._by_line[line].append(path)

    def take(self, path: str) -> None:
        """Leave a file out from now on: it is found."""
        self._files.pop(path, None)

    def most_like(self, path: str, drafts: Iterable[Draft]) -> str | None:
        """Return the file that a new one goes on with, None where none is; of several alike that of its name."""
        new = _traits((draft.location, draft.text) for draft in drafts)
        name, is_notebook = PurePath(path).name, _is_notebook(path)
        near = {old for id_ in new.cells for old in _few(self._by_id.get(id_, ()))}
        near |= {old for line in new.lines for old in self._files_with(line)}
        # Runs of a template have its ids: of many such, a folder of which was renamed, the name tells which is which.
        near.update(_few(self._by_name.get(name, ())))
        share = {
            old: found
            for old in sorted(near)
            if old in self._files and _is_notebook(old) == is_notebook and (found := self._share(self._files[old], new))
        }
        return max(share, key=lambda old: (share[old], PurePath(old).name == name), default=None)

    def _share(self, old: _Traits, new: _Traits) -> float:
        """Return how much of an old file is in a new one, 0 where that is too little to tell."""
        stayed = sum(_is_same(words, new.cells[id_]) for id_, words in old.cells.items() if id_ in new.cells)
        cells = stayed / len(old.cells) if old.cells else 0.0
        shared = sum(length for line, length in new.lines.items() if line in old.lines and self._files_with(line))
        most = max(self._told(old), self._told(new))
        lines = shared / most if most else 0.0
        return max(cells if cells > _CELLS else 0.0, lines if lines >= _LINES else 0.0)

    def _told(self, traits: _Traits) -> int:
        return sum(length for line, length in traits.lines.items() if len(self._by_line.get(line, ())) <= _COMMON)

    def _files_with(self, line: str) -> Sequence[str]:
        return _few(self._by_line.get(line, ()))


def _few(files: Sequence[str]) -> Sequence[str]:
    """Return these files, none of them where they are many."""
    return files if len(files) <= _COMMON else ()


def _traits(memories: Iterable[tuple[str, str]]) -> _Traits:
    cells: dict[str, frozenset[str] | None] = {}
    lines: dict[str, int] = {}
    for location, text in memories:
        # What a cell put out changes with every run.
        source = text.split("\n\nOut:\n", 1)[0] if location else text
        if location and not location.startswith("#"):
            cells[location] = None if _BY_CHANCE.fullmatch(location) else frozenset(_WORD.findall(source))
        for line in source.splitlines():
            bare = line.strip()
            if len(bare) >= _SHORTEST:
                lines[bare] = len(bare)
    return _Traits(cells, lines)


def _is_same(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    """Return whether two cells of one id are the same cell."""
    if one is None or other is None:
        return True
    return len(one & other) >= _WORDS * len(one | other)


def _is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")
