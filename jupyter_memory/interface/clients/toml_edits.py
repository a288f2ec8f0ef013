"""Adding, changing and removing one table of a TOML text; everything else stays as it was written.

The parser says whether a line begins a statement: it does where the lines before it are valid TOML by themselves.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from jupyter_memory.errors import ClientConfigError

Path = tuple[str, ...]


def parsed(text: str) -> dict[str, Any]:
    """Return what a text says.

    Raises:
        ClientConfigError: it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error)
        where = place[place.rfind("(at ") :] if "(at line" in place else "(at its end)"
        raise ClientConfigError(f"it is not valid TOML {where}") from None


def value_at(value: Any, path: Sequence[str]) -> Any:
    """Return what stands at a path of keys, None where nothing does."""
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def with_table(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """Return the text in which a table has these values, and keeps its others.

    Raises:
        ClientConfigError: the text is not TOML, or holds the table in a form that cannot be changed safely.
    """
    before, newline = parsed(text), "\r\n" if "\r\n" in text else "\n"
    if not isinstance(before.get(path[0], {}), Mapping):
        raise ClientConfigError(f"its {path[0]} is no table")
    written = [f"{key} = {json.dumps(value, ensure_ascii=False)}{newline}" for key, value in values.items()]
    lines = text.splitlines(keepends=True)
    found = next((span for span in _tables(lines, path) if span[2] == path), None)
    if found is None:
        gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
        after = text + gap + f"[{'.'.join(path)}]{newline}" + "".join(written)
    else:
        begin, end, _ = found
        kept = [line for line in _statements(lines[begin + 1 : end]) if not _sets(line, values)]
        after = "".join([*lines[: begin + 1], *written, *kept, *lines[end:]])
    return _checked(after, before, path, {**(value_at(before, path) or {}), **values})


def without_table(text: str, path: Path) -> str:
    """Return the text without a table and the tables below it.

    Raises:
        ClientConfigError: the text is not TOML, or holds the table in a form that cannot be removed safely.
    """
    before, lines = parsed(text), text.splitlines(keepends=True)
    if value_at(before, path) is None:
        return text
    for begin, end, _ in reversed(list(_tables(lines, path))):
        # The blank line before it was put there with it.
        start = begin - 1 if begin and not lines[begin - 1].strip() else begin
        del lines[start:end]
    return _checked("".join(lines), before, path, None)


def _tables(lines: list[str], path: Path) -> Iterator[tuple[int, int, Path]]:
    """Yield where a table and those below it begin and end, each with its own path."""
    heads = [(place, name) for place, line in enumerate(lines) if (name := _header(line)) and _is_whole(lines[:place])]
    for number, (begin, name) in enumerate(heads):
        end = heads[number + 1][0] if number + 1 < len(heads) else len(lines)
        # What stands above the next table belongs to that one.
        while end > begin + 1 and lines[end - 1].strip()[:1] in ("", "#"):
            end -= 1
        if name[: len(path)] == path:
            yield begin, end, name


def _header(line: str) -> Path | None:
    """Return the path that a line names as a table, None if it is no such line."""
    if not line.lstrip().startswith("["):
        return None
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(value, Mapping) and len(value) == 1:
        names.append(next(iter(value)))
        value = value[names[-1]]
    return tuple(names)


def _statements(lines: list[str]) -> Iterator[str]:
    """Yield the statements of a table: a line, or the lines over which a value goes on."""
    begin = 0
    for end in range(1, len(lines) + 1):
        if _is_whole(lines[begin:end]):
            yield "".join(lines[begin:end])
            begin = end


def _sets(statement: str, values: Mapping[str, Any]) -> bool:
    return bool(tomllib.loads(statement).keys() & values.keys())


def _is_whole(lines: list[str]) -> bool:
    try:
        tomllib.loads("".join(lines))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _checked(after: str, before: Mapping[str, Any], path: Path, table: Mapping[str, Any] | None) -> str:
    """Return a changed text, which must say what the earlier one said, but for this table."""
    expected = deepcopy(dict(before))
    inner = expected
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    inner.pop(path[-1], None)
    if table is not None:
        inner[path[-1]] = dict(table)
    try:
        same = _without_empty(tomllib.loads(after), path) == _without_empty(expected, path)
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise ClientConfigError("it is written in a way that this command cannot change safely")
    return after


def _without_empty(value: dict[str, Any], path: Path) -> dict[str, Any]:
    """Leave out a table of tables that is empty: TOML need not name it."""
    return {key: inner for key, inner in value.items() if not (key == path[0] and inner == {})}
