"""The folders of a store: what was indexed, what of it is watched, what has changed or moved since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError
from jupyter_memory.storage import folders
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.store.model import StoreModel
from jupyter_memory.text.paths import called_before, normal
from jupyter_memory.types.report import Folder


class Folders:
    """The part of a ``MemoryStore`` that knows where its files are."""

    space: str
    _settings: JupyterMemory
    _database: Database
    _model: StoreModel
    _library: Library

    def folders(self, *, compare: bool = False) -> list[Folder]:
        """Return the folders and single files that were indexed, by path.

        With ``compare`` each is compared with the disk, which takes as long as to look through it; without, ``changed``
        is None.
        """
        with self._database.read() as connection:
            found = folders.listed(connection, self.space)
        return [replace(folder, changed=self.stale(folder.path)) for folder in found] if compare else found

    def watch(self, path: str | Path, watched: bool = True) -> None:
        """Mark a folder as one to be kept up to date, or no longer; JupyterLab's server does the watching.

        One that is known by the name of a link is marked by that name, whichever is given.

        Raises
        ------
        InputError
            Nothing at or below this path was indexed, and it is no folder.
        """
        with self._database.read() as connection:
            noted = folders.noted(connection, self.space)
        where = str(called_before(normal(path), noted))  # looks at disks, which may take long
        with self._database.write() as connection:
            known = any(_at_or_below(folder.path, where) for folder in folders.listed(connection, self.space))
            # A new folder may be empty: what is saved there is remembered from then on.
            if not known and not folders.above(connection, where, self.space) and not Path(where).is_dir():
                raise InputError(f"Nothing at {where} was indexed, so it cannot be watched. Index it first.")
            folders.watch(connection, where, self.space, watched)

    def remove_folder(self, path: str | Path) -> int:
        """Take a folder off the list and forget what was indexed from it; return how many memories went.

        Notes that only name one of its files as their source stay, and so do the files. A folder
        that is known by the name of a link may be named either way.
        """
        where = str(self._as_known(path))
        known = self._library.files_under(where, self.space)
        with self._database.write() as connection:
            folders.remove(connection, where, self.space)
        return self._library.forget_files(list(known), self.space)

    def forget_gone(self, path: str | Path) -> int:
        """Forget what was indexed from a file or folder that is not there any more; return how many memories went.

        Notes that name it as their source stay, and a folder that is watched is watched on.
        """
        where = normal(path)
        known = () if where.exists() else list(self._library.files_under(str(where), self.space))
        return self._library.forget_files(known, self.space) if known else 0

    def stale(self, path: str | Path) -> int:
        """Return how many files at or below a path are new, gone or different since they were indexed.

        Nothing is indexed; files that carry another time but the same content are the same.
        """
        # Imported late: who only searches need not wait for what reads files.
        from jupyter_memory.ingest.catalog import FileCatalog
        from jupyter_memory.ingest.indexer import changed

        return changed(
            self._as_known(path),
            FileCatalog(self._library, self._model, self.space),
            ignore=self._settings.ignore,
            max_bytes=int(self._settings.max_file_mb * 1_000_000),
        )

    def rename(self, old: str | Path, new: str | Path) -> int:
        """Note that a file or a folder has another path now; return how many memories came along.

        They keep their ids, tags and pins, in every space; what was indexed from files that were at the new path before
        is forgotten. Their titles and contexts follow when the new path is indexed the next time.

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
            if _at_or_below(before, after) or _at_or_below(after, before):
                raise InputError(f"{after} and {before} lie one within the other, so one cannot become the other.")
        return sum(self._library.rename(before, after) for before, after in pairs)

    def _as_known(self, path: str | Path, *, but: Path | None = None) -> Path:
        """Return a path by the name of the link that it is known by; ``but`` is a name that is given up."""
        where = normal(path)
        if self._library.files_under(str(where), self.space):
            return where
        with self._database.read() as connection:
            noted = folders.noted(connection, self.space)
        return called_before(where, [name for name in noted if but is None or not _at_or_below(name, str(but))])


def _at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
