"""Filters and paths before they become SQL: what must match as well, and the ranges that lie below a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jupyter_memory.errors import InputError
from jupyter_memory.text.paths import inside, path_forms, plain_path
from jupyter_memory.types import Filters


def all_of(filters: Filters | None) -> Iterator[Filters]:
    """Yield filters and those that must match as well."""
    while filters is not None:
        yield filters
        filters = filters.also


def below(path: str) -> tuple[str, str, str]:
    """Return ``(path, low, high)``: a source is at or below a path if it equals it or lies in ``[low, high)``."""
    low = inside(path)
    mark = low[-1]
    bare = low.rstrip(mark)
    # Roots end in a separator: "/", and "C:\\", behind which "C:" alone would be the working folder of the drive.
    return low if not bare or bare.endswith(":") else bare, low, low[:-1] + chr(ord(mark) + 1)


def spellings(path: str) -> Iterable[str]:
    """Return a path as it is written and as a file of this machine, with both forms of its letters.

    A source may be any of them. The disk is not looked at: links are followed once, before anything is searched.
    """
    try:
        found = [path, str(plain_path(path))]
    except InputError:  # "~name" of nobody here
        found = [path]
    return dict.fromkeys(form for one in found for form in path_forms(one))
