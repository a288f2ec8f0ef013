"""The list of stores that are searched together, and which of them a person trusts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_core.paths import jupyter_data_dir

from jupyter_memory.errors import InputError, NoStore, StoreError, UnknownStore, guess
from jupyter_memory.text.paths import StorePath, absolute, store_at, write_private
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types.search import OWN

# The names of the store that belongs to a project, and of every store together.
PROJECT, ALL = "project", "all"
_STORE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class ListedStore(NamedTuple):
    """A store on the list of those that are searched together; ``place`` is None for own and project, which vary."""

    name: str
    place: StorePath | None = None
    read_only: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> ListedStore:
        """Read a row of the setting ``stores``; ``InputError`` if its name or path cannot be one."""
        name, path, read_only = row.get("name"), row.get("path"), row.get("read_only", False)
        if name in (OWN, PROJECT) and path is None:
            return cls(name, None, bool(read_only))
        if not isinstance(name, str) or not _STORE_NAME.fullmatch(name):
            raise InputError("The name of a store has at most 40 letters, digits, - and _, such as team.")
        if name in (OWN, PROJECT, ALL):
            raise InputError(f"{name} already has a meaning, so choose another name than {OWN}, {PROJECT} and {ALL}.")
        if not isinstance(path, str) or not path.strip():
            raise InputError(f"The store {name} needs a path: that of its file, or the URL of its database.")
        return cls(name, store_at(path), bool(read_only))

    def row(self) -> dict[str, Any]:
        """Return its row in the setting ``stores``."""
        placed = {} if self.place is None else {"path": str(self.place)}
        return {"name": self.name, **placed, **({"read_only": True} if self.read_only else {})}


def listed_stores(rows: Iterable[Mapping[str, Any]], *, projects: bool = True) -> list[ListedStore]:
    """Return the stores of the setting ``stores`` in their order: your own first unless the list says otherwise.

    The store of a project comes after your own; without ``projects``, only where the list itself names it.
    """
    listed = [ListedStore.of(row) for row in rows]
    usual = (OWN, PROJECT) if projects else (OWN,)
    unnamed = [name for name in usual if name not in {one.name for one in listed}]
    return [*map(ListedStore, unnamed), *listed]


def chosen_stores(
    rows: Iterable[Mapping[str, Any]], names: Sequence[str], *, projects: bool = True, here: str | None = None
) -> list[ListedStore]:
    """Return those of ``listed_stores`` that have these names, or ``all``, in the order of the list."""
    listed = listed_stores(rows, projects=projects)
    refuse_unknown([name for name in names if name != ALL], [one.name for one in listed])
    if ALL not in names:
        return [one for one in listed if one.name in names]
    return [one for one in listed if one.name != PROJECT or project_store(here) is not None]


def project_store(here: str | None = None) -> Path | None:
    """Return the store of the project here: `.jupyter-memory/memory.sqlite` in the notebook's folder, or above it."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    for folder in (*([absolute(notebook).parent] if notebook else []), Path(here) if here else Path.cwd()):
        for above in (folder, *folder.parents):
            file = above / ".jupyter-memory" / "memory.sqlite"
            with suppress(OSError):
                if file.is_file():
                    return file
    return None


def needed_project(here: str | None = None) -> Path:
    """Return what ``project_store`` does, or raise ``NoStore``."""
    if (file := project_store(here)) is None:
        raise NoStore("No folder here or above has a file .jupyter-memory/memory.sqlite, the store of a project.")
    return file


def trusted_project(here: str | None = None) -> Path:
    """Return the store of the project here, or raise ``StoreError`` if you have not trusted it as it is now."""
    file = needed_project(here)
    if not is_trusted(file):
        raise StoreError(f"{file} came with the project, or was replaced. If you trust it, type `store trust`.")
    return file


def is_trusted(file: Path) -> bool:
    """Return whether a person trusted the file at this path, and it is still the same file."""
    with suppress(OSError):
        return _trusted().get(str(file)) == _identity(file)
    return False


def trust(file: Path, trusted: bool = True) -> None:
    """Note, where no project can write, whether a person trusts the store of a project."""
    kept = {path: identity for path, identity in _trusted().items() if path != str(file)}
    if trusted:
        kept[str(file)] = _identity(file)
    write_private(_trust_file(), (json_text(kept, indent=1) + "\n").encode())


def _identity(file: Path) -> list[int]:
    found = file.stat()
    # The number of a file that is gone may be the next one's: on ext4 it mostly is where git replaces a file.
    born = int(getattr(found, "st_birthtime", 0) * 1_000)
    if sys.platform == "linux":
        import ctypes

        # What Python's stat leaves out: the kernel's struct statx has it at byte 80, zeros where a disk does not know.
        statx, room = getattr(ctypes.CDLL(None), "statx", None), ctypes.create_string_buffer(256)
        at_cwd, btime = -100, 0x800
        if statx is not None and statx(at_cwd, os.fsencode(file), 0, btime, room) == 0:
            born = int.from_bytes(room.raw[80:92], "little")
    return [found.st_dev, found.st_ino, born]


def _trust_file() -> Path:
    return Path(jupyter_data_dir()) / "memory" / "trusted.json"


def _trusted() -> dict[str, list[int]]:
    # What cannot be read is trusted no more.
    with suppress(OSError, ValueError):
        found = json.loads(_trust_file().read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def refuse_unknown(names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownStore(f"No store on the list is called {name!r}.{guess(name, known)} `store list` shows them.")
