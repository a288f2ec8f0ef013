"""What a store is bound to: its space, the folder of relative paths, the names by which it knows files; a part of it.

Links give a file or a folder several names: the paths of filters are looked up by those that the store has. Tags and
languages are looked up whatever their case.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.search.query.parser import from_folder
from jupyter_memory.storage.base import Snapshot
from jupyter_memory.storage.writing import SearchStorage, Storage
from jupyter_memory.text.paths import StorePath, absolute, is_at_or_below, is_from_root, plain_path
from jupyter_memory.types import Filters

_ANY_CASE = ("tag", "not_tag", "lang", "not_lang")


@dataclass(frozen=True, slots=True)
class PartOfStore:
    """What a search asks of a store, as if it held only what filters let through; see `storage.base.SearchStorage`."""

    storage: Storage
    within: Filters

    @property
    def path(self) -> StorePath:
        return self.storage.path

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return self.storage.snapshot(self.within)

    def searching(self, weights: Mapping[str, float], stop_words: Iterable[str], /) -> AbstractContextManager[None]:
        return self.storage.searching(weights, stop_words)


@dataclass(frozen=True, slots=True)
class Scope:
    """A store's space, unless filters name another, and its folder of relative paths.

    Without a space everything is seen; without a folder, relative paths are those of the working folder.
    """

    storage: SearchStorage
    space: str = ""
    folder: str = ""

    def bound(self, filters: Filters, *, every_name: bool = False) -> Filters:
        """Return filters as they hold in this store, with paths by the names that it knows; see ``_by_known_names``."""
        found = from_folder(filters, self.folder) if self.folder else filters
        found = found.with_defaults(space=(self.space,)) if self.space else found
        found = _as_stored(found, self.storage)
        return _by_known_names(found, self.storage, self.space, every_name=every_name)


def _as_stored(filters: Filters, storage: SearchStorage) -> Filters:
    """Return filters that have each tag and language as the store writes it, whatever their case."""
    if not any(filters.names(name) for name in _ANY_CASE):
        return filters
    with storage.snapshot() as snapshot:
        spelt: dict[str, dict[str, list[str]]] = {}
        for facet in ("tag", "lang"):
            of_facet = spelt.setdefault(facet, {})
            for value in snapshot.facet_values(facet):
                of_facet.setdefault(value.casefold(), []).append(value)
    return _spelt(filters, spelt)


def _spelt(filters: Filters, known: Mapping[str, Mapping[str, Sequence[str]]]) -> Filters:
    """Return filters with every known spelling of their tags and languages; an unknown value stays."""
    changed: dict[str, Any] = {
        name: tuple(
            dict.fromkeys(
                one
                for value in getattr(filters, name)
                for one in known[name.removeprefix("not_")].get(value.casefold(), (value,))
            )
        )
        for name in _ANY_CASE
    }
    return replace(filters, **changed, also=None if filters.also is None else _spelt(filters.also, known))


def _by_known_names(filters: Filters, storage: SearchStorage, space: str, *, every_name: bool = False) -> Filters:
    """Return filters that have each path by the names under which the store knows it; an unknown one stays.

    Links are followed here, once for whatever is done with the filters. For a path that matches as it is typed, only
    the indexed folders are compared with it; for others, and with ``every_name``, the folders of all files.
    """
    if not filters.names("path") and not filters.names("not_path"):
        return filters
    with storage.snapshot() as snapshot:
        return _KnownNames(snapshot, space, every_name).within(filters)


class _KnownNames:
    """The names of files and folders in one state of a store."""

    def __init__(self, snapshot: Snapshot, space: str, every_name: bool) -> None:
        self._snapshot = snapshot
        self._space = space
        self._every_name = every_name

    def within(self, filters: Filters) -> Filters:
        """Return filters, and those that must hold as well, with known names in them."""
        also = None if filters.also is None else self.within(filters.also)
        return replace(filters, path=self._of_all(filters.path), not_path=self._of_all(filters.not_path), also=also)

    def _of_all(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for path in paths for name in self._of(path)))

    def _of(self, path: str) -> list[str]:
        try:
            here = str(plain_path(path))
        except InputError:  # "~name" of nobody here
            return [path]
        if found := self._leading_to(os.path.realpath(here), path, here):
            return found
        # After `link/..` a shell is in the folder of the link, and the system in that of what it leads to.
        return self._leading_to(os.path.realpath(absolute(path)), path, here) or [path]

    def _leading_to(self, real: str, path: str, here: str) -> list[str]:
        """Return the names by which a path is known that leads to ``real``; ``here`` is the path from the root."""
        found = [name for name in ([path] if real == here else [path, real]) if self._is_known(name)]
        others = self._others(real, here, self._folders_by_links)
        if self._every_name or not (found or others):
            others = self._others(real, here, self._sources_by_links)
        return [*found, *others]

    def _others(self, real: str, here: str, linked: dict[str, str]) -> list[str]:
        """Return the known names that lead to the same place by links, without those below another."""
        found = [real, here]
        for name in sorted(_same_place(real, linked), key=len):
            if not any(is_at_or_below(name, above) for above in found):
                found.append(name)
        return [name for name in found[2:] if self._is_known(name)]

    def _is_known(self, path: str) -> bool:
        return self._snapshot.exists(Filters(path=(path,)))

    @cached_property
    def _folders_by_links(self) -> dict[str, str]:
        """The indexed folders and files whose names have links in them, and what these lead to."""
        return _by_links(self._snapshot.noted_folders(self._space))

    @cached_property
    def _sources_by_links(self) -> dict[str, str]:
        """The same of all files and their folders: a folder may have become a link since it was indexed."""
        files = [source for source in self._snapshot.facet_values("path") if is_from_root(source)]
        # Far faster than with a Path for each file.
        return _by_links({os.path.dirname(file) for file in files} | {file for file in files if os.path.islink(file)})  # noqa: PTH114, PTH120


def _by_links(names: Iterable[str]) -> dict[str, str]:
    return {name: real for name in names if (real := os.path.realpath(name)) != name}


def _same_place(real: str, linked: dict[str, str]) -> Iterator[str]:
    """Yield the names by links of a path, or of what lies below it."""
    for name, leads_to in linked.items():
        if is_at_or_below(leads_to, real):
            yield name
        elif is_at_or_below(real, leads_to):
            yield str(Path(name, os.path.relpath(real, leads_to)))
