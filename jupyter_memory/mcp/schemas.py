"""JSON schemas as short as they can be: an agent pays for the list of tools before it has asked anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def lean(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of pydantic without titles, without references, and without null for what may be left out.

    >>> lean({"title": "A", "properties": {"b": {"title": "B", "anyOf": [{"type": "string"}, {"type": "null"}]}}})
    {'properties': {'b': {'type': 'string'}}}
    """
    found: dict[str, Any] = _lean(schema, schema.get("$defs", {}))
    return found


def _lean(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_lean(one, definitions) for one in part]
    if not isinstance(part, Mapping):
        return part
    if "$ref" in part:
        named = definitions[str(part["$ref"]).rpartition("/")[2]]
        return _lean({**named, **{key: value for key, value in part.items() if key != "$ref"}}, definitions)
    if "anyOf" in part:
        chosen = [one for one in part["anyOf"] if one != {"type": "null"}]
        if len(chosen) == 1:
            return _lean(
                {**chosen[0], **{key: part[key] for key in part if key not in ("anyOf", "default")}}, definitions
            )
    kept = {key: value for key, value in part.items() if not _is_said(key, value)}
    if "properties" in kept:
        kept.pop("description", None)  # of the class, for those who read the source
    # The names of properties are no keywords: a property may be called title.
    return {
        key: {name: _lean(one, definitions) for name, one in value.items()}
        if key == "properties"
        else _lean(value, definitions)
        for key, value in kept.items()
    }


def _is_said(key: str, value: Any) -> bool:
    """Return whether a keyword tells a program nothing that it needs."""
    if key in ("title", "$defs", "maxLength", "minLength", "maxItems", "minItems"):
        return True
    return (key == "default" and value in ("", [], None)) or (key == "additionalProperties" and value is False)
