"""What a caller selects memories by, as ``Filters``: values checked, times understood."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from jupyter_memory.errors import QueryError
from jupyter_memory.text.moments import moment
from jupyter_memory.text.paths import plain_path
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import KINDS, TIERS, Filters

_KNOWN = {"kind": KINDS, "tier": TIERS}
_TIMES = ("since", "until")
_MOST_PATHS = 1_000


def filters_from(filters: Filters | Mapping[str, Any] | None, since: Any, until: Any, now: datetime) -> Filters:
    """Return filters from a mapping or ``Filters``, with the bounds in time given beside it.

    Raises:
        QueryError: a filter that does not exist, a kind or tier that is not known, a time that cannot be read.
    """
    given = {} if filters is None else dict(_items(filters))
    given |= {name: value for name, value in (("since", since), ("until", until)) if value is not None}
    names = [field.name for field in fields(Filters) if field.name != "also"]
    also = given.pop("also", None)
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        if name not in names:
            near = get_close_matches(str(name), names, n=1)
            raise QueryError(
                f"There is no filter {name!r}."
                + (f" Did you mean {near[0]!r}?" if near else "")
                + f" Known: {', '.join(names)}."
            )
        chosen[name] = moment(value, now, end=name == "until") if name in _TIMES else _values(name, value)
    result = replace(Filters(), **chosen, also=also)
    if result.since is not None and result.until is not None and result.since >= result.until:
        message = "since is not before until, so nothing can lie between them."
        raise QueryError(message, unquoted=message)
    return result


def from_folder(filters: Filters, folder: str) -> Filters:
    """Return filters whose relative paths are read from a folder, those of ``also`` as well; other sources stay."""

    def paths(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            one if one.startswith("~") or "://" in one else str(plain_path(Path(folder, one))) for one in values
        )

    also = None if filters.also is None else from_folder(filters.also, folder)
    return replace(filters, path=paths(filters.path), not_path=paths(filters.not_path), also=also)


def _items(filters: Filters | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(filters, Filters):
        return {field.name: getattr(filters, field.name) for field in fields(filters)}
    if isinstance(filters, Mapping):
        return {name: value for name, value in filters.items() if value is not None}
    raise QueryError(f"filters is a mapping such as {{'kind': 'cell'}}, not {type(filters).__name__}.")


def _values(name: str, value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    values = tuple(os.fspath(one) if isinstance(one, os.PathLike) else one for one in several)
    if not all(isinstance(one, str) for one in values):
        raise QueryError(f"The filter {name!r} takes a string or several.")
    values = tuple(map(storable, values))  # as the text that they are compared with
    if name.endswith("path") and not all(one.strip() for one in values):
        raise QueryError("The filter 'path' is empty. Name a file or a folder.")
    if name.endswith("path") and len(values) > _MOST_PATHS:
        raise QueryError(
            f"The filter 'path' takes up to {_MOST_PATHS:,} values. Name the folders instead of the files."
        )
    known = _KNOWN.get(name.removeprefix("not_"))
    if known is None:
        return values
    for one in values:
        if one.lower() not in known:
            near = get_close_matches(one.lower(), known, n=1)
            kind, listed = name.removeprefix("not_"), f"Known: {', '.join(known)}."
            raise QueryError(
                f"There is no {kind} {one!r}." + (f" Did you mean {near[0]!r}?" if near else "") + f" {listed}",
                unquoted=f"There is no such {kind}. {listed}",
            )
    return tuple(map(str.lower, values))
