"""The bodies of requests, checked against their schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from jupyter_memory.server.client_errors import ClientError, invalid

if TYPE_CHECKING:
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import ValidationError

# Bytes: the longest text of a schema is 10,000,000 characters, each of four bytes at most.
LARGEST = 64 * 1024 * 1024

SCHEMAS = files("jupyter_memory.server").joinpath("schemas")
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def validated(name: str, body: bytes) -> dict[str, Any]:
    """Return the body of a request whose schema is ``name``.

    Raises:
        ClientError: 400, naming the field that is wrong, never its value; 413, the body is too large to be looked at.
    """
    if len(body) > LARGEST:
        raise ClientError(413, f"The body is larger than {LARGEST // 1024**2} MB.", "TooLarge")
    try:
        given = json.loads(body, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        raise invalid("", "The body is not JSON") from None
    errors = sorted(validator(name).iter_errors(given), key=lambda error: list(map(str, error.absolute_path)))
    if errors:
        raise invalid(*_described(errors[0]))
    valid: dict[str, Any] = given
    return valid


@cache
def validator(name: str) -> Draft7Validator:
    """Return what checks values against the schema of that name, such as ``answer`` or ``search-request``."""
    # Imported late: the server starts without it.
    from jsonschema import Draft7Validator

    return Draft7Validator(_schema(name), registry=_registry())


@cache
def _schema(name: str) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(SCHEMAS.joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return schema


@cache
def _registry() -> Any:
    """Return the schemas by their addresses; nothing is fetched."""
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7

    def found(address: str) -> Resource[Any]:
        return Resource.from_contents(_schema(address.rpartition("/")[2].removesuffix(".json")), DRAFT7)

    return Registry(retrieve=found)  # type: ignore[call-arg]


def _refuse(constant: str) -> float:
    """Refuse NaN and Infinity: Python reads them, but they are no JSON and could never be answered."""
    raise ValueError("a number that JSON does not have")


def _finite(digits: str) -> float:
    """Return the number that is written as 1.5 or 2e3, if it is one that a machine can hold."""
    number = float(digits)
    return number if isfinite(number) else _refuse(digits)


def _described(error: ValidationError) -> tuple[str, str]:
    """Return the field that is wrong, and what it must be, in words of the schema alone."""
    # Names on the path are those of the schema: an unknown name is an error of the object that holds it.
    field = ".".join(part for part in error.absolute_path if isinstance(part, str))
    rule, wanted = error.validator, error.validator_value
    if rule == "required":
        missing = next(name for name in wanted if name not in error.instance)
        return f"{field}.{missing}" if field else missing, "it is missing"
    if rule == "additionalProperties":
        return field, f"There is a field that is not known. Known: {', '.join(error.schema['properties'])}"
    if not field and rule == "type":
        return "", "The body must be a JSON object"
    return field, _rule(str(rule), wanted, error.schema)


def _rule(rule: str, wanted: Any, schema: Mapping[str, Any]) -> str:
    if rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return f"it must be {' or '.join(_TYPES.get(kind, kind) for kind in kinds)}"
    if rule in ("enum", "const"):
        return f"it must be one of {', '.join(map(json.dumps, wanted if rule == 'enum' else [wanted]))}"
    words = {
        "minLength": "it is empty",
        "maxLength": f"it is longer than {wanted} characters",
        "minItems": "it is an empty list",
        "maxItems": f"it holds more than {wanted} values",
        "minimum": f"it must be {wanted} or more",
        "maximum": f"it must be {wanted} or less",
        "minProperties": f"The body says too little: give one of {', '.join(schema.get('properties', ()))}",
        "not": f"Give one of {' and '.join(wanted['required'] if rule == 'not' else ())}, not both",
    }
    return words.get(rule, "it cannot be used")
