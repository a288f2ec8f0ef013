"""Files and folders that a store keeps up with, and what it covers."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import Any

from jupyter_memory.config import JupyterMemory, budget
from jupyter_memory.errors import InputError
from jupyter_memory.runtime import shown
from jupyter_memory.search.query.parser import from_folder
from jupyter_memory.storage.base import NotedFolder, Prepared
from jupyter_memory.storage.databases import PartOfStore, SearchStorage, Storage
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.storage.sql import all_of, spellings
from jupyter_memory.store.models import ModelChoice
from jupyter_memory.text.code import known_language
from jupyter_memory.text.paths import (
    absolute,
    called_before,
    is_at_or_below,
    is_from_root,
    normal,
    plain_path,
    separator,
)
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import Draft, Filters, IndexReport
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import Folder, budget_notice

_LONGEST_DESCRIPTION = 300


class Part:
    """A part of a store: what people do with it, by topic."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, scope: Scope) -> None:
        self._storage, self._model, self._settings, self._scope = storage, model, settings, scope

    def _prepared(self, drafts: Sequence[Draft], embedder: Embedder | None, capacity: int = 0) -> list[Prepared]:
        from jupyter_memory.ingest.preparation import prepare  # imported late: a search needs nothing of it

        return prepare(drafts, embedder, capacity=capacity or self._settings.chunk_tokens)


class Sources(Part):
    """The files and folders of one store, in its space."""

    def index(
        self,
        path: str | Path,
        *,
        progress: bool | Callable[[int, int | None], None] = True,
        retry: bool = False,
        anew: bool = False,
    ) -> IndexReport:
        """Index a file or a folder, notebooks by cell and other text files in parts; return counts, and what failed.

        Unchanged files are skipped, changed ones replaced, deleted ones forgotten; moved ones keep ids, tags and pins.

        Args:
            progress: Whether to show a bar; or a function of how many files are done and how many there are (None while
                they are being counted), whose errors end the indexing.
            retry: Read files again that could not be read before and have not changed since.
            anew: Read unchanged files, too: after a change of ``chunk_tokens``, their chunks get the new size.

        Raises:
            InputError: there is nothing at ``path``, or it is a file of an unknown kind.
        """
        from jupyter_memory.ingest.indexer import Indexing

        self._model.for_writing()  # raises before anything is read, where the model does not fit
        indexing = Indexing(self._storage, self._model, self._settings, self._scope.space)
        where = called_before(normal(path), self._noted())  # looks at disks, which may take long
        with self._storage.snapshot() as snapshot:
            above = snapshot.folder_above(str(where), self._scope.space)
        try:
            report = indexing.index(
                where,
                # A file has the same title whether it is indexed alone or with its folder.
                named_from=None if above is None else Path(above),
                ignore=self._ignored(where),
                progress=(lambda some, what: shown(some, True, what)) if progress is True else None,
                tell=progress if callable(progress) else None,
                retry=retry,
                anew=anew,
            )
            self._model.calibrate()
            if report.moved:
                self._storage.writer.drop_vacated(self._scope.space)
            if not self._settings.max_store_mb:
                return report
            return replace(report, notice=budget_notice(self._storage.held(), budget(self._settings)))
        finally:
            indexing.close()
            if self._files_under(where):
                self._storage.writer.note_folder(str(where), self._scope.space, datetime.now(UTC))
            self._storage.tidy()

    def folders(self, *, compare: bool = False) -> list[Folder]:
        """Return the folders and single files that were indexed; ``changed`` is None unless you ``compare`` them."""
        with self._storage.snapshot() as snapshot:
            found = snapshot.folders(self._scope.space)
        return [replace(folder, changed=self.stale(folder.path)) for folder in found] if compare else found

    def described_folders(self) -> list[NotedFolder]:
        """Return the folders that have a description, or are hidden from searches that do not name them."""
        with self._storage.snapshot() as snapshot:
            return snapshot.described(self._scope.space)

    def describe_folder(self, path: str | Path, description: str | None = None, *, hidden: bool | None = None) -> str:
        """Describe a folder in one line, which its hits show (an empty line removes it); return the folder's path.

        Searches leave a ``hidden`` folder out unless they name its path; it stays indexed. Raises ``InputError`` if
        nothing at or below this path was indexed, or the line has more than 300 characters.
        """
        from jupyter_memory.ingest.redaction.redactor import redact

        said: dict[str, Any] = {} if hidden is None else {"hidden": hidden}
        if description is not None:
            line = " ".join(storable(description).split())
            said["description"] = redact(line)[0] if self._settings.redact else line
        if len(said.get("description", "")) > _LONGEST_DESCRIPTION:
            raise InputError(f"A description is one line of at most {_LONGEST_DESCRIPTION} characters.")
        where = str(self._as_known(path))
        with self._storage.snapshot() as snapshot:
            held = snapshot.exists(self._scope.bound(Filters(path=(where,))))
        if not held and where not in [one.path for one in self.described_folders()]:
            raise InputError(f"Nothing at {where} was indexed. Check the path, or index it first.")
        self._storage.writer.describe_folder(where, self._scope.space, said)
        return where

    def watch(self, path: str | Path, watched: bool = True) -> None:
        """Note that a folder is watched, or no longer.

        Raises ``InputError`` if nothing at or below this path was indexed, and it is not a folder or not to be watched.
        """
        where = str(called_before(normal(path), self._noted()))  # looks at disks, which may take long
        with self._storage.snapshot() as snapshot:
            known = any(is_at_or_below(folder.path, where) for folder in snapshot.folders(self._scope.space))
            known = known or snapshot.folder_above(where, self._scope.space) is not None
        # A new folder may be empty: what is saved there is remembered from then on.
        if not known and not (watched and Path(where).is_dir()):
            advice = "so it cannot be watched. Index it first." if watched else "so it is not watched either."
            raise InputError(f"Nothing at {where} was indexed, {advice}")
        self._storage.writer.watch(where, self._scope.space, watched)

    def remove_folder(self, path: str | Path) -> int:
        """Take a folder off the list and forget what was indexed from it, but no notes; return the number removed."""
        return self._storage.writer.remove_folder(str(self._as_known(path)), self._scope.space)

    def forget_gone(self, path: str | Path) -> int:
        """Forget what was indexed from a file or folder that no longer exists; return the number removed."""
        where = normal(path)
        known = [] if where.exists() else self._files_under(where)
        return self._storage.writer.forget_files(known, self._scope.space) if known else 0

    def stale(self, path: str | Path) -> int:
        """Return how many files at or below a path are new or gone, or have another content than the indexed one."""
        from jupyter_memory.ingest.indexer import Indexing

        where = self._as_known(path)
        indexing = Indexing(self._storage, self._model, self._settings, self._scope.space)
        return indexing.changed(where, ignore=self._ignored(where))

    def rename(self, old: str | Path, new: str | Path) -> int:
        """Note that a file or a folder has another path now; return how many memories came along, in every space.

        What was indexed there before is forgotten. Raises ``InputError`` if one of the paths lies within the other.
        """
        known = self._as_known(old)
        # Another space may know a folder by its own name where this one has that of a link.
        names = dict.fromkeys([(known, self._as_known(new, but=known)), (normal(old), normal(new))])
        pairs = [(str(before), str(after)) for before, after in names if before != after]
        for before, after in pairs:
            if is_at_or_below(before, after) or is_at_or_below(after, before):
                raise InputError(f"{after} and {before} lie one within the other, so one cannot become the other.")
        return sum(self._storage.writer.rename(before, after) for before, after in pairs)

    def _as_known(self, path: str | Path, *, but: Path | None = None) -> Path:
        where = normal(path)
        if self._files_under(where):
            return where
        noted = self._noted()
        return called_before(where, [name for name in noted if but is None or not is_at_or_below(name, str(but))])

    def _ignored(self, where: Path) -> Sequence[str]:
        # What the settings name, and the store itself if it is in there.
        store, ignored = self._storage.path, list(self._settings.ignore)
        if isinstance(store, Path) and where in normal(store).parents:
            # As a pattern of an ignore file, in which these characters have a meaning.
            name = re.sub(r"([\\*?\[\]!# ])", r"\\\1", normal(store).relative_to(where).as_posix())
            ignored.append(f"/{name}")
        return ignored

    def _noted(self) -> list[str]:
        with self._storage.snapshot() as snapshot:
            return snapshot.noted_folders(self._scope.space)

    def _files_under(self, path: Path) -> list[str]:
        with self._storage.snapshot() as snapshot:
            return list(snapshot.files_under(str(path), self._scope.space))


# Tags and languages are looked up whatever their case, languages by any of their names (`c#`, `csharp`), and paths by
# the names that the store has for them: links give a file or a folder several.
_ANY_CASE = ("tag", "not_tag", "lang", "not_lang")
_SAME: Mapping[str, Callable[[str], str]] = {"tag": str.casefold, "lang": known_language}


@dataclass(frozen=True, slots=True)
class Scope:
    """A store's space, empty for all, unless filters name another, and its folder of relative paths."""

    storage: SearchStorage
    space: str = ""
    folder: str = ""

    def bound(self, filters: Filters, *, every_name: bool = False) -> Filters:
        """Return filters as they hold in this store, with paths by the names that it knows."""
        found = from_folder(filters, self.folder) if self.folder else filters
        if self.space and not found.names("space"):
            found = replace(found, space=(self.space,))
        if any(map(found.names, _ANY_CASE)):
            spelt: dict[tuple[str, str], list[str]] = defaultdict(list)
            with self.storage.snapshot() as snapshot:
                for facet in ("tag", "lang"):
                    for value in snapshot.facet_values(facet):
                        spelt[facet, _SAME[facet](value)].append(value)

            def spellings(name: str, value: str) -> list[str]:
                facet = name.removeprefix("not_")
                return spelt.get((facet, _SAME[facet](value)), [value])

            found = found.meaning(_ANY_CASE, spellings)
        if not found.names("path") and not found.names("not_path"):
            return found
        # Links are followed here, once for whatever is done with the filters. For a path that matches as it is typed,
        # only the indexed folders are compared with it; for others, and with ``every_name``, the folders of all files.
        with self.storage.snapshot() as snapshot:
            return found.meaning(("path", "not_path"), _KnownNames(snapshot, self.space, every_name).of)

    def parts(self, filters: Filters) -> tuple[dict[str, list[str]], list[str]]:
        """Return what paths of filters that are not whole may mean, and all paths if there are such.

        It is the files and folders with these last names, else whatever has the part anywhere in its path.
        """
        written = {path for one in all_of(filters) for path in (*one.path, *one.not_path)}
        written = {path for path in written if not is_from_root(path) or _GLOB.search(path)}
        if not written or len(written) > _MOST_PARTS:
            return {}, []
        with self.storage.snapshot() as snapshot:
            unknown = [path for path in sorted(written) if not snapshot.exists(self.bound(Filters(path=(path,))))]
            sources = snapshot.facet_values("path") if unknown else []
        return {path: known for path in unknown if (known := _with_part(path, sources))}, sources

    def meant(self, filters: Filters) -> tuple[Filters, tuple[str, ...]]:
        """Return filters of a search with what parts of paths and globs in them mean, and what a person is told."""
        found, sources = self.parts(filters)
        notices = []
        for path, paths in found.items():
            if len(paths) > 1 and not _GLOB.search(path):
                name = os.path.normpath(path).strip(separator(paths[0])).lower()
                how = "are called" if paths[0].lower().endswith(name) else "have in their path"
                listed = f"{', '.join(sorted(paths)[:_SHOWN])}{' and others' if len(paths) > _SHOWN else ''}"
                said = f"{len(paths):,} files or folders {how} {path!r}: {listed}."
                notices.append(f"{said} Name more of the path to search one.")
        return (self._with_parts(filters, found, sources) if found else filters), tuple(notices)

    def described(self, typed: Filters, meant: Filters) -> tuple[Mapping[tuple[str, str], str], tuple[str, ...]]:
        """Return descriptions by folder, and the folders to leave out: hidden ones that no path of filters names."""
        with self.storage.snapshot() as snapshot:
            folders = snapshot.described(self.space)
        # A glob may match files of a hidden folder, but does not name it.
        globs = any(_GLOB.search(path) for one in all_of(typed) for path in one.path)
        named = [] if globs else [path for one in all_of(meant) for path in (*one.path, *one.source)]
        if isinstance(self.storage, PartOfStore) and (bounds := self.storage.within.path):
            named += bounds
            # Whoever sees only these paths is told nothing of what is above them.
            folders = [one for one in folders if any(is_at_or_below(one.path, path) for path in bounds)]
        named = [form for path in named for form in spellings(path)]
        hidden = [one.path for one in folders if one.hidden and one.space == self.space]
        left_out = [path for path in hidden if not any(is_at_or_below(name, path) for name in named)]
        return {(one.space, one.path): one.description for one in folders if one.description}, tuple(left_out)

    def _with_parts(self, filters: Filters, found: Mapping[str, Sequence[str]], sources: Sequence[str]) -> Filters:
        changed: dict[str, Any] = {}
        for name in ("path", "not_path"):
            paths = dict.fromkeys(known for path in getattr(filters, name) for known in found.get(path, (path,)))
            changed[name] = tuple(paths)
            if len(paths) > _MOST_MEANT:
                # So many are compared with the sources whole, and with them what was named otherwise.
                whole = self.bound(Filters(path=tuple(set(getattr(filters, name)) - set(found)))).path
                below = [one for one in sources if any(is_at_or_below(one, path) for path in whole)]
                changed |= {name: (), name.replace("path", "source"): tuple(dict.fromkeys((*paths, *below)))}
        also = None if filters.also is None else self._with_parts(filters.also, found, sources)
        return replace(filters, **changed, also=also)


# Paths that are looked up by their parts, files and folders that a filter names as paths, and those in a notice.
_MOST_PARTS, _MOST_MEANT, _SHOWN = 20, 200, 4
_GLOB = re.compile(r"[*?\[]")


def _with_part(written: str, sources: Sequence[str]) -> list[str]:
    if written.startswith("…"):  # as a hit shows a long path
        return [source for source in sources if source.endswith(written[1:])] if len(written) > 1 else []
    wanted = os.path.normpath(written)
    for folded in (False, True):
        found: dict[str, None] = {}
        for source in sources:
            mark = separator(source)
            names, whole = f"{mark}{wanted.strip(mark)}{mark}", source + mark
            if folded:
                names, whole = names.lower(), whole.lower()
            if (at := whole.find(names)) >= 0 and len(whole) == len(source) + 1:
                found[source[: at + len(names) - 1]] = None
        if found:
            return list(found)
    if not _GLOB.search(written):
        # What leads to all of them tells nothing.
        if written.startswith("~") or not {".", ".."}.isdisjoint(written.split("/")):
            return []
        above = os.path.dirname(os.path.commonprefix(list(filter(is_from_root, sources))))  # noqa: PTH120, RUF071
        return [source for source in sources if written.lower() in source.removeprefix(above).lower()]
    # As in an ignore file: from any folder on, and with whatever lies below. The expressions take linear time.
    glob = os.path.expanduser(written).rstrip("/")  # noqa: PTH111  no path, but a pattern of one
    globs = "|".join(translate(f"{before}{glob}{after}") for before in ("", "*/") for after in ("", "/*"))
    matches = re.compile(globs, re.IGNORECASE).match
    return [source for source in sources if matches(source.replace(separator(source), "/"))]


class _KnownNames:
    def __init__(self, snapshot: Snapshot, space: str, every_name: bool) -> None:
        self._snapshot, self._space, self._every_name = snapshot, space, every_name

    def of(self, facet: str, path: str) -> list[str]:
        found: list[str] = []
        with suppress(InputError):  # "~name" of no user here
            here = str(plain_path(path))
            # After `link/..` a shell is in the folder of the link, and the system in that of what it leads to.
            found = self._leading_to(os.path.realpath(here), path, here)
            found = found or self._leading_to(os.path.realpath(absolute(path)), path, here)
        return found or [path]

    def _leading_to(self, real: str, path: str, here: str) -> list[str]:
        found = [name for name in ([path] if real == here else [path, real]) if self._is_known(name)]
        others = self._others(real, here, self._folders_by_links)
        if self._every_name or not (found or others):
            others = self._others(real, here, self._sources_by_links)
        return [*found, *others]

    def _others(self, real: str, here: str, linked: dict[str, str]) -> list[str]:
        same_place = []
        for name, leads_to in linked.items():
            if is_at_or_below(leads_to, real):
                same_place.append(name)
            elif is_at_or_below(real, leads_to):
                same_place.append(str(Path(name, os.path.relpath(real, leads_to))))
        found = [real, here]
        for name in sorted(same_place, key=len):
            if not any(is_at_or_below(name, above) for above in found):
                found.append(name)
        return [name for name in found[2:] if self._is_known(name)]

    def _is_known(self, path: str) -> bool:
        return self._snapshot.exists(Filters(path=(path,)))

    @cached_property
    def _folders_by_links(self) -> dict[str, str]:
        return _by_links(self._snapshot.noted_folders(self._space))

    @cached_property
    def _sources_by_links(self) -> dict[str, str]:
        # A folder may have become a link since it was indexed.
        files = [source for source in self._snapshot.facet_values("path") if is_from_root(source)]
        # Far faster than with a Path for each file.
        return _by_links({os.path.dirname(file) for file in files} | {file for file in files if os.path.islink(file)})  # noqa: PTH114, PTH120


def _by_links(names: Iterable[str]) -> dict[str, str]:
    return {name: real for name in names if (real := os.path.realpath(name)) != name}
