"""The files and folders of a store: indexing them, watching them, and what has changed or moved since."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory.config import JupyterMemory, budget
from jupyter_memory.errors import InputError
from jupyter_memory.runtime import shown
from jupyter_memory.storage.writing import Storage
from jupyter_memory.store.models.choice import ModelChoice
from jupyter_memory.text.paths import DatabaseAddress, called_before, is_at_or_below, normal
from jupyter_memory.types import IndexReport
from jupyter_memory.types.report import Folder, PictureReport, budget_notice


class Sources:
    """The files and folders of one store, in its space."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, space: str) -> None:
        self._storage = storage
        self._model = model
        self._settings = settings
        self._space = space

    def index(
        self,
        path: str | Path,
        *,
        progress: bool | Callable[[int, int | None], None] = True,
        retry: bool = False,
    ) -> IndexReport:
        """Index a file or a folder: notebooks by cell, other text files in parts.

        Unchanged files are skipped, changed ones replaced, deleted ones forgotten. Files that ``.gitignore`` or the
        settings name are left out. A file that was moved, even from another folder, keeps its ids, tags and pins.
        Indexing can be interrupted at any time; the next call continues from there.

        Parameters
        ----------
        progress : bool or callable, default True
            Whether to show a bar; or a function that receives how many files are done and how many there are (None
            while they are still being counted). An error that it raises ends the indexing; what was written stays.
        retry : bool, default False
            Whether to read files again that could not be read before and have not changed since, and to report them.

        Returns
        -------
        IndexReport
            Counts, and each file that was skipped or failed with the reason.

        Raises
        ------
        InputError
            There is nothing at ``path``, or it is a file of an unknown kind.
        """
        # Imported late: a search does not need what reads files.
        from jupyter_memory.ingest.indexer import FileCatalog, index
        from jupyter_memory.ingest.pictures import quota_of

        self._model.for_writing()  # raises before anything is read, where the model does not fit
        quota = quota_of(self._storage, self._settings, self._space)
        removed = self._storage.thumbnails.clear() if quota is None else 0
        catalog = FileCatalog(self._storage, self._model, self._space, quota)
        where = called_before(normal(path), self._noted())  # looks at disks, which may take long
        with self._storage.snapshot() as snapshot:
            above = snapshot.folder_above(str(where), self._space)
        try:
            report = index(
                where,
                catalog,
                # A file has the same title whether it is indexed alone or with its folder.
                named_from=None if above is None else Path(above),
                ignore=self._ignored(where),
                max_bytes=int(self._settings.max_file_mb * 1_000_000),
                redacting=self._settings.redact,
                progress=(lambda paths: shown(paths, True, "Indexing")) if progress is True else None,
                tell=progress if callable(progress) else None,
                retry=retry,
            )
            self._model.calibrate()
            if report.moved:
                self._storage.writer.drop_vacated(self._space)
            pictures = PictureReport(removed=removed) if quota is None else quota.report
            too_large = budget_notice(self._storage.held(), budget(self._settings))
            return replace(report, pictures=pictures, notice=too_large)
        finally:
            catalog.close()
            self._note_folder(where)
            self._storage.writer.tidy()

    def folders(self, *, compare: bool = False) -> list[Folder]:
        """Return the folders and single files that were indexed, by path.

        With ``compare`` each folder is compared with the disk, which takes as long as walking through it. Without,
        ``changed`` is None.
        """
        with self._storage.snapshot() as snapshot:
            found = snapshot.folders(self._space)
        return [replace(folder, changed=self.stale(folder.path)) for folder in found] if compare else found

    def watch(self, path: str | Path, watched: bool = True) -> None:
        """Note that a folder is watched, or no longer.

        JupyterLab's server, `%memory watch` and `jupyter-memory watch` keep watched folders up to date.

        A folder that is known by the name of a link is watched by that name, whichever is given.

        Raises
        ------
        InputError
            Nothing at or below this path was indexed, and it is no folder or not to be watched.
        """
        where = str(called_before(normal(path), self._noted()))  # looks at disks, which may take long
        with self._storage.snapshot() as snapshot:
            known = any(is_at_or_below(folder.path, where) for folder in snapshot.folders(self._space))
            known = known or snapshot.folder_above(where, self._space) is not None
        # A new folder may be empty: what is saved there is remembered from then on.
        if not known and not (watched and Path(where).is_dir()):
            advice = "so it cannot be watched. Index it first." if watched else "so it is not watched either."
            raise InputError(f"Nothing at {where} was indexed, {advice}")
        self._storage.writer.watch(where, self._space, watched)

    def remove_folder(self, path: str | Path) -> int:
        """Take a folder off the list and forget what was indexed from it; return how many memories went.

        The files themselves stay, and so do notes that only name one of them as their source. A folder that is known
        by the name of a link may be given either way.
        """
        return self._storage.writer.remove_folder(str(self._as_known(path)), self._space)

    def forget_gone(self, path: str | Path) -> int:
        """Forget what was indexed from a file or folder that no longer exists; return how many memories went.

        Notes that name it as their source stay, and a watched folder stays watched.
        """
        where = normal(path)
        known = [] if where.exists() else self._files_under(where)
        return self._storage.writer.forget_files(known, self._space) if known else 0

    def stale(self, path: str | Path) -> int:
        """Return how many files at or below a path are new, gone or different since they were indexed.

        Nothing is indexed. Files with another time but the same content count as unchanged.
        """
        # Imported late: a search does not need what reads files.
        from jupyter_memory.ingest.indexer import FileCatalog, changed

        where = self._as_known(path)
        return changed(
            where,
            FileCatalog(self._storage, self._model, self._space),
            ignore=self._ignored(where),
            max_bytes=int(self._settings.max_file_mb * 1_000_000),
        )

    def rename(self, old: str | Path, new: str | Path) -> int:
        """Note that a file or a folder has another path now; return how many memories came along.

        They keep their ids, tags and pins, in every space. What was indexed from files at the new path before is
        forgotten. Titles and contexts follow when the new path is indexed the next time.

        Raises
        ------
        InputError
            One of the paths lies within the other.
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
        """Return a path by the name of the link that it is known by; ``but`` is a name that is given up."""
        where = normal(path)
        if self._files_under(where):
            return where
        noted = self._noted()
        return called_before(where, [name for name in noted if but is None or not is_at_or_below(name, str(but))])

    def _ignored(self, where: Path) -> Sequence[str]:
        """Return what is left out of a folder: what the settings name, and the store itself if it is in there."""
        if isinstance(self._storage.path, DatabaseAddress):
            return self._settings.ignore
        store = normal(self._storage.path)
        if not store.is_relative_to(where) or store == where:
            return self._settings.ignore
        # As a pattern of an ignore file, in which these characters have a meaning.
        name = re.sub(r"([\\*?\[\]!# ])", r"\\\1", store.relative_to(where).as_posix())
        return [*self._settings.ignore, f"/{name}"]

    def _note_folder(self, path: Path) -> None:
        """Note a folder that was indexed, if only in part; not one from which nothing came."""
        if self._files_under(path):
            self._storage.writer.note_folder(str(path), self._space, datetime.now(UTC))

    def _noted(self) -> list[str]:
        """Return the paths of the folders on the list."""
        with self._storage.snapshot() as snapshot:
            return snapshot.noted_folders(self._space)

    def _files_under(self, path: Path) -> list[str]:
        """Return the paths of the known files at or below a path."""
        with self._storage.snapshot() as snapshot:
            return list(snapshot.files_under(str(path), self._space))
