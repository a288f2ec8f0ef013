"""What the panel sends and gets: requests and paths checked, errors that it may see, and the values of the store."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from math import isfinite, isnan
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import is_hidden
from tornado.web import HTTPError

from jupyter_memory import errors
from jupyter_memory.text.paths import normal, plain_path

if TYPE_CHECKING:
    from datetime import datetime

    from jsonschema import Draft7Validator

    from jupyter_memory.store.store import MemoryStore
    from jupyter_memory.types import Answer, Memory

# The class of an error, the HTTP status, and its sentence where the error's own may quote what was sent.
_ANSWERS: tuple[tuple[type[errors.JupyterMemoryError], int, str], ...] = (
    (errors.UnknownMemory, 404, "No memory has this id: it may have been forgotten. Search again."),
    (
        errors.QueryError,
        400,
        "The query cannot be searched: it is empty, or a filter or time in it cannot be read. Filters are written like "
        'kind:cell, times like after:2026-03-31; put words with a colon in "quotation marks".',
    ),
    (errors.UnknownStore, 404, "No store on the list has this name: `store list` shows them. Search again."),
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

    @classmethod
    def of(cls, error: errors.JupyterMemoryError) -> ClientError:
        """Return an error of the library as one for a client, without anything that was sent."""
        name = type(error).__name__
        unquoted = error.unquoted if isinstance(error, errors.QueryError) else ""
        for kind, status, message in _ANSWERS:
            if isinstance(error, kind):
                return cls(status, unquoted or message or str(error), name)
        return cls(500, "Something went wrong in the memory.", name)


def check_count(number: int, agreed: int | None) -> None:
    """Refuse to forget several memories that are not named by id, unless the client says how many they are."""
    if number > 1 and number != agreed:
        raise ClientError(409, f"This would forget {number} memories: send this number as count.", "CountDiffers")


def invalid(field: str, what: str) -> ClientError:
    """Return the error for a body in which ``field`` cannot be used; ``what`` says what it must be."""
    return ClientError(400, f"{field}: {what}." if field else f"{what}.", "InvalidField")


# Bytes: the longest text of a schema is 10,000,000 characters, each of four bytes at most.
_LARGEST = 64 * 1024 * 1024
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def validated(name: str, body: bytes) -> dict[str, Any]:
    """Return the body of a request, checked against a schema; an error names the field, never its value."""
    if len(body) > _LARGEST:
        raise ClientError(413, f"The body is larger than {_LARGEST // 1024**2} MB.", "TooLarge")
    try:
        given = json.loads(body, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        raise invalid("", "The body is not JSON") from None
    wrong = min(_validator(name).iter_errors(given), key=lambda one: list(map(str, one.absolute_path)), default=None)
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
        raise invalid(field, f"it must be {_TYPES[wanted]}")
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

    file = files("jupyter_memory.server") / "schemas" / "requests.json"
    whole = json.loads(file.read_text(encoding="utf-8"))
    return Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": whole["definitions"]})


def _finite(written: str) -> float:
    # Python reads NaN, Infinity and 1e999, but they are no JSON and could never be answered.
    number = float(written)
    if not isfinite(number):
        raise ValueError("a number that JSON does not have")
    return number


_OUTSIDE = (
    "it lies outside the folder that this Lab shows. Index it with %memory index in a notebook, or allow such paths in "
    "jupyter_server_config.py: c.JupyterMemoryServer.allow_outside_root = True"
)
_HIDDEN = (
    "it is hidden, or lies in a hidden folder, and this Lab shows none. Index it with %memory index in a notebook, or "
    "allow such paths in jupyter_server_config.py: c.ContentsManager.allow_hidden = True"
)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that the contents manager shows, None where it shows no folder of this machine.

    ``hidden`` says whether it shows hidden files, and ``outside`` whether a request may name paths elsewhere.
    """

    folder: str | None
    hidden: bool = False
    outside: bool = False

    def contents_path(self, source: str) -> tuple[str | None, str | None]:
        """Return the contents path of a file, or None with the reason, for a person."""
        if "\0" in source or not Path(source).is_absolute():
            return None, "It is in no file."
        relative = self._below(source)
        if relative is None:
            return None, "It lies outside the folder that this Lab shows."
        if not self.hidden and _has_hidden_name(relative):
            return None, "It lies in a hidden folder, which this Lab does not show."
        # Only here: whether a file elsewhere exists is nothing that a request may learn.
        if not os.path.exists(source):  # noqa: PTH110  a folder without permission is no error
            return None, "The file is gone: it was moved, renamed or removed."
        return relative.as_posix(), None

    def admitted(self, path: str) -> Path:
        """Return the file or folder that a typed path names, if a request may have it looked at."""
        given = typed(path)
        if not given.is_absolute() or not path.strip("/"):
            found = self.within(path)
        else:
            relative = self._below(str(given))
            if relative is None and not self.outside:
                raise invalid("path", _OUTSIDE)
            found = plain_path(given) if relative is None else Path(self.folder or "", relative)
        if not self.hidden:
            top = self.folder if self.folder is not None and found.is_relative_to(self.folder) else found.anchor
            try:
                hidden = _has_hidden_name(found.relative_to(top)) or is_hidden(found, top)
            except OSError:  # there can be nothing at such a path
                hidden = False
            if hidden:
                raise invalid("path", _HIDDEN)
        return normal(found)

    def admits(self, path: str) -> bool:
        try:
            self.admitted(path)
        except ClientError:
            return False
        return True

    def within(self, path: str) -> Path:
        """Return the file or folder that a contents path names."""
        typed(path)
        if self.folder is None:
            raise invalid("path", "this Lab shows no folder of this machine, so it must be an absolute path")
        found = plain_path(Path(self.folder, path.strip("/")))
        if not found.is_relative_to(self.folder):
            raise invalid("path", _OUTSIDE)
        return found

    def _below(self, source: str) -> PurePath | None:
        if self.folder is None:
            return None
        # With links followed as well: Lab may have been started through a link, or the file be named through one.
        for one, top in ((plain_path(source), self.folder), (os.path.realpath(source), os.path.realpath(self.folder))):
            try:
                return PurePath(one).relative_to(top)
            except ValueError:
                continue
        return None


def _has_hidden_name(relative: PurePath) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def typed(path: str) -> Path:
    """Return a typed path with ``~`` spelled out; ``~name`` is as good a name for a file of Lab as any."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise invalid("path", "it is not valid Unicode, so no file has this name") from None
    if "\0" in path:
        raise invalid("path", "it holds a NUL character, so no file has this name")
    home = path.partition("/")[0] == "~"
    return Path(os.path.expanduser(path)) if home else Path(path)  # noqa: PTH111  without a home it stays


def answered(answer: Answer, store: MemoryStore | None, root: Root) -> dict[str, Any]:
    """Return an answer with the places where this Lab can open its hits, and how long cells of the store last ran."""
    places = [_place(hit.memory, hit.location, root, hit.freshness == "changed", hit.context) for hit in answer.hits]
    took = {} if store is None else store.history.durations(hit.memory for hit in answer.hits)
    hits = []
    for hit, place in zip(answer.hits, places, strict=True):
        if seconds := took.get(hit.memory.id):
            place["seconds"] = seconds
        # A request learns nothing of the files outside the folder of this Lab.
        hits.append(hit if place["path"] is not None else replace(hit, freshness="unknown"))
    from jupyter_memory.store.searching import changes_notice

    # The panel says below the results which files changed.
    notices = tuple(one for one in answer.notices if one != changes_notice(answer.hits))
    strength, temporal, time_read = answer.strength, answer.query.temporal, None
    if temporal is not None and temporal.sessions is None:
        since, until = _iso(temporal.since), _iso(temporal.until)
        time_read = {"phrase": temporal.phrase, "since": since, "until": until, "sure": temporal.sure}
    return {
        **replace(answer, hits=tuple(hits), notices=notices).addressed().to_json(),
        "query_id": answer.query_id,
        "profile": answer.profile,
        "strength": None if isnan(strength) else strength,
        "time_read": time_read,
        "timings": dict(answer.timings),
        "terms": list(answer.terms),
        "facets": {facet: dict(answer.facets.get(facet, {})) for facet in ("kind", "lang", "tier", "tag")},
        "places": places,
    }


def item(memory: Memory, store: MemoryStore, root: Root) -> dict[str, Any]:
    """Return one memory with its whole text; its file is compared if this Lab shows it."""
    place = _place(memory, memory.place(), root)
    if place["path"] is not None and memory.kind in ("file", "cell"):
        place["changed"] = bool(store.stale(memory.source))
    told = ("title", "text", "kind", "tier", "pinned", "lang", "source", "location", "tags")
    return {
        "memory_id": memory.id,
        **{name: getattr(memory, name) for name in told},
        "event_at": _iso(memory.dated),
        "place": place,
    }


def _place(memory: Memory, location: str, root: Root, changed: bool = False, context: str = "") -> dict[str, Any]:
    # Location and headings are those of the hit.
    source, cell, told = memory.source, memory.location, memory.metadata
    noted = told.get("from")
    if not source:
        cell = ""
        # Where a note was remembered.
        if isinstance(noted, Mapping) and isinstance(noted.get("path"), str) and noted["path"]:
            with suppress(ClientError):
                source = str(root.within(noted["path"]))
                cell = _text(noted.get("cell"))
    path, closed = root.contents_path(source)
    if memory.kind == "history" and not source:
        closed = "The kernel did not know its notebook, or it is gone."
    # In a notebook a line says nothing, in any other file a cell does not.
    is_notebook = source.lower().endswith(".ipynb")
    by_index = is_notebook and cell.startswith("#") and cell[1:].isdecimal()
    index = int(cell[1:]) if by_index else told.get("index") if is_notebook and cell else None
    place: dict[str, Any] = {
        "path": path,
        "closed": closed,
        "cell": cell if is_notebook and cell and not by_index else None,
        "index": index if isinstance(index, int) else None,
        "line": int(location) if memory.source and not is_notebook and location.isdecimal() else None,
        "begins": memory.text.lstrip().split("\n", 1)[0][:200],
        "changed": path is not None and changed,
        "pinned": memory.pinned,
        "lang": memory.lang,
        "context": context,
    }
    if memory.kind == "history":
        # An entry that a person added by hand may tell anything of itself, or nothing: then it ran once.
        count = told.get("runs")
        place["run"] = {
            "count": count if isinstance(count, int) and count > 0 else 1,
            "first": _text(told.get("first_run")) or None,
            "last": memory.event_at.isoformat(),
            "outcome": memory.outcome,
            "error": memory.error,
            "environment": _text(told.get("environment")),
            "packages": memory.packages,
        }
    return place


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def folders(store: MemoryStore, compared: Root | None = None) -> list[dict[str, Any]]:
    """Return the indexed folders; those that ``compared`` admits are compared with the disk, which takes time."""
    return [
        {
            **asdict(one),
            "changed": store.stale(one.path) if compared is not None and compared.admits(one.path) else None,
            "indexed_at": _iso(one.indexed_at),
        }
        for one in store.folders()
    ]


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
