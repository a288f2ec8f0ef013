"""Paths as people write them, made those of this machine."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_memory.errors import InputError


def absolute(path: str | Path) -> Path:
    """Return a path from the root, with ``~`` spelled out.

    Raises:
        InputError: ``~name`` is nobody here, or the working folder is gone.
    """
    try:
        return Path(path).expanduser().absolute()
    except (RuntimeError, OSError):
        raise InputError(f"{path} cannot be understood here. Write the path from the root: /home/…") from None


def normal(path: str | Path) -> Path:
    """Return a path from the root without ``..`` and the like, as indexed files are kept; links in it stay.

    Raises:
        InputError: as ``absolute``.
    """
    return Path(os.path.normpath(absolute(path)))
