"""Requests checked against their schemas; errors that a client may see."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from tornado.web import HTTPError

from jupyter_memory import errors

if TYPE_CHECKING:
    from jsonschema import Draft7Validator

# The class of an error, the HTTP status, and its sentence where the error's own may quote what was sent.
_ANSWERS: tuple[tuple[type[errors.JupyterMemoryError], int, str], ...] = (
    (errors.UnknownMemory, 404, "No memory has this id: it may have been forgotten. Search again."),
    (
        errors.QueryError,
        400,
        "The query cannot be searched: it is empty, or a filter or time in it cannot be read. Filters are written like "
        'kind:cell, times like after:2026-03-31; put words with a colon in "quotation marks".',
    ),
    (errors.InputError, 400, "A value cannot be stored: an empty text, or a memory that says the same already."),
    (errors.UnknownProfile, 400, "There is no profile of this name. GET jupyter-memory/profiles lists them."),
    (errors.Interrupted, 503, ""),
    (errors.NoStore, 409, ""),
    (errors.StoreLocked, 503, ""),
    (errors.StoreFull, 507, ""),
    (errors.StoreError, 409, ""),
    (errors.EmbedderError, 409, ""),
    (errors.MissingExtra, 409, ""),
)


class ClientError(HTTPError):
    """An error for a client: ``message``, a sentence without user text, and ``kind``, one word."""

    def __init__(self, status: int, message: str, kind: str) -> None:
        super().__init__(status)
        self.message = message
        self.kind = kind


def client_error(error: errors.JupyterMemoryError) -> ClientError:
    """Return an error of the library as one for a client, without anything that was sent."""
    name = type(error).__name__
    unquoted = error.unquoted if isinstance(error, errors.QueryError) else ""
    for kind, status, message in _ANSWERS:
        if isinstance(error, kind):
            return ClientError(status, unquoted or message or str(error), name)
    return ClientError(500, "Something went wrong in the memory.", name)


def check_count(number: int, agreed: int | None) -> None:
    """Refuse to forget several memories that are not named by id, unless the client says how many they are."""
    if number > 1 and number != agreed:
        raise ClientError(
            409, f"This would forget {number} memories: to do it, send this number as count.", "CountDiffers"
        )


def invalid(field: str, what: str) -> ClientError:
    """Return the error for a body in which ``field`` cannot be used; ``what`` says what it must be."""
    return ClientError(400, f"{field}: {what}." if field else f"{what}.", "InvalidField")


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
    """Return the body of a request, checked against a schema; an error names the field, never its value."""
    if len(body) > LARGEST:
        raise ClientError(413, f"The body is larger than {LARGEST // 1024**2} MB.", "TooLarge")
    try:
        given = json.loads(body, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        raise invalid("", "The body is not JSON") from None
    wrong = min(
        _validator(name).iter_errors(given), key=lambda error: list(map(str, error.absolute_path)), default=None
    )
    if wrong is None:
        valid: dict[str, Any] = given
        return valid
    # Names on the path are those of the schema: an unknown name is an error of the object that holds it.
    field = ".".join(part for part in wrong.absolute_path if isinstance(part, str))
    rule, wanted = wrong.validator, wrong.validator_value
    if rule == "required":
        missing = next(name for name in wanted if name not in wrong.instance)
        raise invalid(f"{field}.{missing}" if field else missing, "it is missing")
    if rule == "additionalProperties":
        raise invalid(field, f"There is a field that is not known. Known: {', '.join(wrong.schema['properties'])}")
    if not field and rule == "type":
        raise invalid("", "The body must be a JSON object")
    if rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        raise invalid(field, f"it must be {' or '.join(_TYPES.get(kind, kind) for kind in kinds)}")
    if rule in ("enum", "const"):
        values = wanted if rule == "enum" else [wanted]
        raise invalid(field, f"it must be one of {', '.join(map(json.dumps, values))}")
    words = {
        "minLength": "it is empty",
        "maxLength": f"it is longer than {wanted} characters",
        "minItems": "it is an empty list",
        "maxItems": f"it holds more than {wanted} values",
        "minimum": f"it must be {wanted} or more",
        "maximum": f"it must be {wanted} or less",
        "minProperties": f"The body says too little: give one of {', '.join(wrong.schema.get('properties', ()))}",
        "not": f"Give one of {' and '.join(wanted['required'] if rule == 'not' else ())}, not both",
    }
    raise invalid(field, words.get(str(rule), "it cannot be used"))


@cache
def _validator(name: str) -> Draft7Validator:
    from jsonschema import Draft7Validator

    whole = json.loads(SCHEMAS.joinpath("requests.json").read_text(encoding="utf-8"))
    return Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": whole["definitions"]})


def _finite(written: str) -> float:
    # Python reads NaN, Infinity and 1e999, but they are no JSON and could never be answered.
    number = float(written)
    if not isfinite(number):
        raise ValueError("a number that JSON does not have")
    return number
