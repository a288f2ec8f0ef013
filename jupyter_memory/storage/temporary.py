"""SQLite's temporary files, kept in a store's own folder and out of sight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import apsw


class _Beside(apsw.VFS):
    """The file system as SQLite sees it, but for temporary files: they lie in ``folder``."""

    def __init__(self, name: str, base: str, folder: Path) -> None:
        self._base, self._folder = base, folder
        super().__init__(name, base)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  SQLite's name
        """Open a file; one without a name is temporary.

        SQLite asks for such a file to be made for its owner alone and to go when it is closed: on POSIX it loses its
        name as soon as it is open.
        """
        here = str(self._folder / f".{token_hex(16)}.tmp") if name is None else name
        return apsw.VFSFile(self._base, here, flags)


@contextmanager
def temporary_files_in(folder: Path, base: str | None = None) -> Iterator[str]:
    """Give the name of a VFS that keeps temporary files in ``folder``; close its connections before the block ends.

    ``base`` is the VFS that does the work, SQLite's default if left out. Where SQLite would put these files itself is
    one setting for all of a process.
    """
    name = f"beside-{token_hex(8)}"
    vfs = _Beside(name, base or "", folder)
    try:
        yield name
    finally:
        vfs.unregister()
