"""Whether a file is one that indexing a folder would take, and by which name, told without a walk through it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_memory.ingest.ignore import is_ignored, is_never_wanted, rules, rules_above, rules_in
from jupyter_memory.ingest.walk import SUFFIXES

_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")


def is_wanted(path: Path, root: Path, *, ignore: Sequence[str] = ()) -> bool:
    """Return whether ``walk(root)`` goes to ``path``, a file or folder at or below it; both are absolute.

    Size and links are left to the walk. A file is wanted only if its suffix is known.
    """
    if path == root:
        return True
    try:
        chain = list(rules_above(root))
        folder = root
        for name in path.relative_to(root).parts:
            own = rules_in(folder)
            chain += [own] if own else []
            one = folder / name
            is_folder = one.is_dir() and not one.is_symlink()
            last = (rules(root, ignore),) if ignore else ()
            if is_never_wanted(name, is_folder=is_folder) or is_ignored(str(one), (*chain, *last), is_folder=is_folder):
                return False
            if is_folder and any((one / mark).exists() for mark in _ENVIRONMENT):
                return False
            folder = one
    except OSError:
        return False
    return path.is_dir() or path.suffix.lower() in SUFFIXES


def own_name(path: Path, root: Path, *, ignore: Sequence[str] = ()) -> Path:
    """Return under which name ``walk(root)`` finds a file: a link's is that of the file that it leads to, if wanted."""
    if path == root or not path.is_symlink():
        return path
    try:
        target, top = path.resolve(strict=True), root.resolve()
    except (OSError, RuntimeError):
        return path
    if not target.is_relative_to(top):
        return path
    named = root / target.relative_to(top)
    return named if is_wanted(named, root, ignore=ignore) else path
