"""Paths as people write them, made those of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from unicodedata import normalize

from jupyter_memory.errors import InputError


def absolute(path: str | Path) -> Path:
    """Return a path from the root, with ``~`` spelled out.

    Raises:
        InputError: the path is empty, ``~name`` is nobody here, or the working folder is gone.
    """
    # pathlib takes "" for the working folder; it is what a variable holds that was never set.
    if path == "":
        raise InputError("The path is empty. Name a file or a folder; a dot is the folder you are in.")
    try:
        return Path(path).expanduser().absolute()
    except (RuntimeError, OSError):
        raise InputError(f"{path} cannot be understood here. Write the path from the root: /home/…") from None


def normal(path: str | Path) -> Path:
    """Return a path from the root without ``..`` and the like, as indexed files are kept; links in it stay.

    Where the system takes ``NOTES`` for ``notes``, and two forms of ``ü`` for one, it is written as the disk has it.

    Raises:
        InputError: as ``absolute``.
    """
    found = Path(os.path.normpath(absolute(path)))
    return _as_on_disk(found) if sys.platform in ("darwin", "win32") else found


def spelling(name: str, entries: Iterable[str]) -> str:
    """Return the entry of a folder that a name means, where it is the only one but for case and form of letters.

    >>> spelling("PREISE.md", ["preise.md", "λ.ipynb"])
    'preise.md'
    """
    alike = [entry for entry in entries if _folded(entry) == _folded(name)]
    return alike[0] if len(alike) == 1 and name not in alike else name


def _folded(name: str) -> str:
    return normalize("NFC", name).casefold()


def _as_on_disk(path: Path) -> Path:
    found = Path(path.anchor)
    for name in path.parts[1:]:
        try:
            # What is not there is spelt as it was typed.
            found /= spelling(name, (entry.name for entry in found.iterdir())) if (found / name).exists() else name
        except OSError:
            found /= name
    return found
