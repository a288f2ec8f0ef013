"""Finds the missing file that a new one continues although it was edited: they share ids of cells, or lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from jupyter_memory.text.markdown import is_position, source_of
from jupyter_memory.types import Draft

# Two files are one if the new one has more than this share of the old one's cells, or if the lines that they share make
# up this share of both.
_CELLS = 0.5
_LINES = 2 / 3
# An id that somebody wrote, such as "cell-1", occurs elsewhere too: it counts if this share of the words is equal.
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


@dataclass(frozen=True, slots=True)
class _Traits:
    """What identifies a file: cells by id, with words where the id is not enough; its lines with their lengths."""

    cells: Mapping[str, frozenset[str] | None]
    lines: Mapping[str, int]


class SimilarFiles:
    """Missing files by their content, to find the one that a new file continues."""

    def __init__(self, held: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> None:
        """Take the paths of some files, each with the location and the text of its memories."""
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
        """Leave a file out from now on, because it was found."""
        self._files.pop(path, None)

    def most_similar(self, path: str, drafts: Iterable[Draft]) -> str | None:
        """Return the file that a new one continues, None if there is none; of equal ones the one with the same name."""
        new = _traits((draft.location, draft.text) for draft in drafts)
        name, is_notebook = PurePath(path).name, _is_notebook(path)
        near = {old for id_ in new.cells for old in _few(self._by_id.get(id_, ()))}
        near |= {old for line in new.lines for old in self._files_with(line)}
        # Runs of a template share its ids: if a folder of many such was renamed, the name tells which is which.
        near.update(_few(self._by_name.get(name, ())))
        share = {
            old: found
            for old in sorted(near)
            if old in self._files and _is_notebook(old) == is_notebook and (found := self._share(self._files[old], new))
        }
        return max(share, key=lambda old: (share[old], PurePath(old).name == name), default=None)

    def _share(self, old: _Traits, new: _Traits) -> float:
        """Return the share of an old file that is in a new one, 0 where it is too small to decide."""
        stayed = sum(_is_same(words, new.cells[id_]) for id_, words in old.cells.items() if id_ in new.cells)
        cells = stayed / len(old.cells) if old.cells else 0.0
        shared = sum(length for line, length in new.lines.items() if line in old.lines and self._files_with(line))
        most = max(self._length(old), self._length(new))
        lines = shared / most if most else 0.0
        return max(cells if cells > _CELLS else 0.0, lines if lines >= _LINES else 0.0)

    def _length(self, traits: _Traits) -> int:
        return sum(length for line, length in traits.lines.items() if len(self._by_line.get(line, ())) <= _COMMON)

    def _files_with(self, line: str) -> Sequence[str]:
        return _few(self._by_line.get(line, ()))


def _few(files: Sequence[str]) -> Sequence[str]:
    """Return these files, or none where they are many."""
    return files if len(files) <= _COMMON else ()


def _traits(memories: Iterable[tuple[str, str]]) -> _Traits:
    cells: dict[str, frozenset[str] | None] = {}
    lines: dict[str, int] = {}
    for location, text in memories:
        # Outputs change with every run.
        source = source_of(text) if location else text
        if location and not is_position(location):
            cells[location] = None if _RANDOM_ID.fullmatch(location) else frozenset(_WORD.findall(source))
        for line in source.splitlines():
            bare = line.strip()
            if len(bare) >= _SHORTEST:
                lines[bare] = len(bare)
    return _Traits(cells, lines)


def _is_same(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    """Return whether two cells with one id are the same cell."""
    if one is None or other is None:
        return True
    return len(one & other) >= _WORDS * len(one | other)


def _is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")
