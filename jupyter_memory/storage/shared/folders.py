"""The folders of a store: which lie in others, and which hold files although nobody put them on the list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from jupyter_memory.text.paths import is_at_or_below, pure


class FolderRow(NamedTuple):
    """A folder on the list, or one that holds files and is not on it."""

    path: str
    watched: bool
    indexed_at: int | None


def topmost_unnoted(files: Iterable[tuple[str, int]], noted: set[str]) -> list[FolderRow]:
    """Return the topmost folders of the files that lie in no noted one, with the time of its newest file.

    ``files`` are paths, and when each was indexed.
    """
    found = dict[str, int]()
    for path, indexed_at in files:
        if path not in noted:
            parent = str(pure(path).parent)
            found[parent] = max(indexed_at, found.get(parent, 0))
    found = {path: at for path, at in found.items() if not noted.intersection(_upwards(path))}
    tops = dict[str, int]()
    for path, at in found.items():
        *_, top = (folder for folder in _upwards(path) if folder in found)
        tops[top] = max(at, tops.get(top, 0))
    return [FolderRow(top, False, at) for top, at in tops.items()]


def is_below(path: str, folder: str) -> bool:
    """Return whether a path lies in a folder, at whatever depth."""
    return path != folder and is_at_or_below(path, folder)


def _upwards(path: str) -> list[str]:
    """Return a path and all folders that it lies in."""
    return [path, *map(str, pure(path).parents)]
