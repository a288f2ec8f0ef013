"""Writes a profile as a TOML file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.search import fusion, postprocessing, signals
from jupyter_memory.text.unicode import json_text

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# The parts of a profile that are a table by name, or a list of tables.
NAMED, LISTED = ("terms", "keyword_only", "signals"), ("steps",)


def _classes(module: Any, has: str) -> dict[str, type]:
    """Return the dataclasses of a module that a file can name, by name."""
    values = vars(module).values()
    return {
        one.__name__: one
        for one in values
        if isinstance(one, type) and dataclasses.is_dataclass(one) and hasattr(one, has)
    }


_TERMS = _classes(fusion, "contributions")
FORMS: Mapping[str, Mapping[str, type]] = {
    "terms": _TERMS,
    "keyword_only": _TERMS,
    "signals": _classes(signals, "__call__"),
    "steps": _classes(postprocessing, "__call__"),
}


def to_toml(profile: Any) -> str:
    """Return a `Profile` as the text of a TOML file that says everything, whatever later versions change.

    Raises:
        InputError: a signal or a term is of a class of one's own, which a file cannot hold.
    """
    plain, tables = [], []
    for field in dataclasses.fields(profile):
        value = getattr(profile, field.name)
        if field.name in NAMED:
            tables += [_table(f"[{field.name}.{_key(one.name)}]", _encoded(one, field.name)) for one in value]
        elif field.name in LISTED:
            tables += [_table(f"[[{field.name}]]", _encoded(one, field.name)) for one in value]
        elif isinstance(value, Mapping):
            tables.append(_table(f"[{field.name}]", value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            tables.append(_table(f"[{field.name}]", dataclasses.asdict(value)))
        else:
            plain.append(f"{field.name} = {_value(value)}")
    return "\n\n".join(["\n".join(plain), *tables]) + "\n"


def _encoded(part: Any, key: str) -> dict[str, Any]:
    form = type(part).__name__
    if FORMS[key].get(form) is not type(part):
        raise InputError(
            f"{part.name if hasattr(part, 'name') else form} is an instance of your own class {form}, and a file "
            "cannot contain it. Save the profile without it, and add it again with with_signal()."
        )
    return {"is": form} | {
        one.name: getattr(part, one.name)
        for one in dataclasses.fields(FORMS[key][form])
        if one.name != "name" and getattr(part, one.name) != one.default
    }


def _table(head: str, values: Mapping[str, Any]) -> str:
    return "\n".join([head, *_lines(values)])


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{_key(name)} = {_value(value)}"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # A JSON string is a TOML string, once DEL is escaped too.
        return json_text(value)
    if isinstance(value, int | float):
        return repr(value)
    raise InputError(f"A value of the type {type(value).__name__} cannot be written to a file.")
