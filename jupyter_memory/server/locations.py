"""Where a memory can be opened in this Lab: from the absolute path of its source to the contents manager's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from jupyter_memory.server.client_errors import ClientError, invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_memory.types import Memory

# Characters of the first line by which a cell is found again; people do not read longer lines.
_BEGINS = 200


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that the contents manager shows, None where it shows no folder of this machine."""

    folder: str | None
    hidden: bool = False

    def contents_path(self, source: str) -> tuple[str | None, str | None]:
        """Return the contents path of a file, or None with the reason, for a person.

        >>> Root("/home/ada/work").contents_path("/home/ada/other/prices.md")
        (None, 'It lies outside the folder that this Lab shows.')
        """
        if "\0" in source or not Path(source).is_absolute():
            return None, "It stands in no file."
        relative = self._below(source)
        if relative is None:
            return None, "It lies outside the folder that this Lab shows."
        if not self.hidden and any(part.startswith(".") for part in relative.parts):
            return None, "It lies in a hidden folder, which this Lab does not show."
        if not os.path.exists(source):  # noqa: PTH110  a folder without permission is no error
            return None, "The file is gone: it was moved, renamed or removed."
        return relative.as_posix(), None

    def absolute(self, path: str) -> Path:
        """Return where a typed path leads: an absolute one stays, any other is the contents manager's, "" its root.

        Raises:
            ClientError: as ``within``.
        """
        given = at_home(path)
        if given.is_absolute() and path != "/":
            return Path(os.path.normpath(given))
        return self.within(path)

    def within(self, path: str) -> Path:
        """Return the file or folder that a contents path names.

        Raises:
            ClientError: this server shows no folder of this machine, or the path leads out of it.
        """
        if self.folder is None:
            raise invalid("path", "this Lab shows no folder of this machine, so it must be an absolute path")
        found = Path(os.path.normpath(Path(self.folder, path.strip("/"))))
        if not found.is_relative_to(self.folder):
            raise invalid("path", "it leads out of the folder that this Lab shows; write an absolute path")
        return found

    def _below(self, source: str) -> PurePath | None:
        if self.folder is None:
            return None
        for one, top in ((source, self.folder), (os.path.realpath(source), os.path.realpath(self.folder))):
            try:
                return PurePath(one).relative_to(top)
            except ValueError:
                continue
        return None


def at_home(path: str) -> Path:
    """Return a typed path with ``~`` spelled out; ``~name`` is as good a name for a file of Lab as any."""
    home = path.partition("/")[0] == "~"
    return Path(os.path.expanduser(path)) if home else Path(path)  # noqa: PTH111  without a home it stays


def place_of(
    memory: Memory, location: str, root: Root, is_stale: Callable[[Memory], bool], context: str = ""
) -> dict[str, Any]:
    """Return where a memory can be opened, as JSON values; ``location`` is that of the hit, or the memory's own.

    ``context`` has the headings of the hit, ``Prices > Cleaning``.
    """
    source, cell = memory.source, memory.location
    if not source:
        source, cell = _remembered_from(memory, root)
    path, closed = root.contents_path(source)
    # In a notebook a line says nothing, in any other file a cell does not.
    is_notebook = source.lower().endswith(".ipynb")
    by_index = is_notebook and cell.startswith("#") and cell[1:].isdecimal()
    return {
        "path": path,
        "closed": closed,
        "cell": cell if is_notebook and cell and not by_index else None,
        "index": int(cell[1:]) if by_index else None,
        "line": int(location) if memory.source and not is_notebook and location.isdecimal() else None,
        "begins": memory.text.lstrip().split("\n", 1)[0][:_BEGINS],
        "changed": path is not None and is_stale(memory),
        "pinned": memory.pinned,
        "lang": memory.lang,
        "context": context,
    }


def _remembered_from(memory: Memory, root: Root) -> tuple[str, str]:
    """Return file and cell of a note that the panel made of a cell or a selection: its metadata name them."""
    place = memory.metadata.get("from")
    path, cell = (place.get("path"), place.get("cell")) if isinstance(place, Mapping) else (None, None)
    if not isinstance(path, str) or not path:
        return "", ""
    try:
        return str(root.within(path)), cell if isinstance(cell, str) else ""
    except ClientError:
        return "", ""
