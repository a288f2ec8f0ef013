"""The regular expressions of the package, and how each is used: found in the modules, and in their source."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import jupyter_memory

# What looks at one place only; everything else looks at each place of a text.
_AT_ONE_PLACE = {"match", "fullmatch"}
_METHODS = {*_AT_ONE_PLACE, "search", "findall", "finditer", "sub", "subn", "split"}


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and whether it is tried at every place of a text."""

    name: str
    pattern: re.Pattern[str]
    everywhere: bool


def patterns() -> list[Found]:
    """Return every pattern of text in the package, each once."""
    found: dict[tuple[str, int], Found] = {}
    for module in _modules():
        for one in (*_held(module), *_written(module)):
            known = found.get(key := (one.pattern.pattern, one.pattern.flags))
            if known is None or (one.everywhere and not known.everywhere):
                found[key] = one
    return list(found.values())


def _modules() -> Iterator[ModuleType]:
    for one in pkgutil.walk_packages(jupyter_memory.__path__, "jupyter_memory."):
        if one.name.endswith("__main__"):
            continue
        try:
            yield pkgutil.resolve_name(one.name)
        except (ImportError, AttributeError):  # an extra that is not installed
            continue


def _held(module: ModuleType) -> Iterator[Found]:
    """Yield the patterns that a module keeps in its names, in containers too, and those that it compiles late."""
    uses = _uses(module)
    for name, value in vars(module).items():
        if name.startswith("__") or isinstance(value, ModuleType):
            continue
        if isinstance(value, functools._lru_cache_wrapper) and value.__module__ == module.__name__:
            parameters = inspect.signature(value).parameters
            returned = str(inspect.signature(value).return_annotation)
            value = value() if not parameters and "Pattern" in returned else ()
        for pattern in _within(value):
            yield Found(f"{module.__name__}.{name}", pattern, not uses.get(name, {"search"}) <= _AT_ONE_PLACE)


def _within(value: Any, depth: int = 4) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth and isinstance(value, Mapping):
        yield from _of_all(value.values(), depth)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        yield from _of_all(value, depth)
    elif depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _of_all((getattr(value, field.name) for field in dataclasses.fields(value)), depth)


def _of_all(values: Iterable[Any], depth: int) -> Iterator[re.Pattern[str]]:
    for value in values:
        yield from _within(value, depth - 1)


def _uses(module: ModuleType) -> Mapping[str, set[str]]:
    """Return the methods that a module calls of each of its names: ``_WORD.findall(…)``."""
    used: dict[str, set[str]] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _METHODS:
            used.setdefault(node.value.id, set()).add(node.attr)
    return used


def _written(module: ModuleType) -> Iterator[Found]:
    """Yield the patterns that are written where they are used: ``re.sub(r"…", …)``."""
    for node in ast.walk(_tree(module)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, first, method = node.func.value, node.args[0], node.func.attr
        if not (isinstance(of, ast.Name) and of.id == "re" and method in _METHODS):
            continue
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield Found(f"{module.__name__}:{node.lineno}", re.compile(first.value), method not in _AT_ONE_PLACE)


@functools.cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))
