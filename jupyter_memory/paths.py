"""Paths as people write them, made those of this machine."""

from __future__ import annotations

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
