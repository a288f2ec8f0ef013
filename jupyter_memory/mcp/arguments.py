"""What each tool is asked with: the arguments as a program sends them, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from jupyter_memory.interface.options import period_of
from jupyter_memory.mcp.bound import ToolError
from jupyter_memory.types import Filters

# Keys that a schema need not have: an agent pays for the list of tools before it has asked anything.
_UNSAID = ("title", "$defs", "maxLength", "minLength", "maxItems", "minItems")


def lean(schema: Any, definitions: Mapping[str, Any] | None = None) -> Any:
    """Return a schema of pydantic without titles, without references, and without null for what may be left out.

    >>> lean({"title": "A", "properties": {"b": {"title": "B", "anyOf": [{"type": "string"}, {"type": "null"}]}}})
    {'properties': {'b': {'type': 'string'}}}
    """
    if isinstance(schema, list):
        return [lean(one, definitions) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    if definitions is None:
        definitions = schema.get("$defs", {})
    if "$ref" in schema:
        named = definitions[str(schema["$ref"]).rpartition("/")[2]]
        return lean({**named, **{key: value for key, value in schema.items() if key != "$ref"}}, definitions)
    chosen = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(chosen) == 1:
        beside = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return lean({**chosen[0], **beside}, definitions)
    kept = {
        key: value
        for key, value in schema.items()
        if key not in _UNSAID
        and not (key == "default" and value in ("", [], None))
        and not (key == "additionalProperties" and value is False)
    }
    if "properties" in kept:
        kept.pop("description", None)  # of the class, for those who read the source
        # The names of properties are no keywords: a property may be called title.
        kept["properties"] = {name: lean(one, definitions) for name, one in kept["properties"].items()}
    return {key: value if key == "properties" else lean(value, definitions) for key, value in kept.items()}


LEAST_TOKENS, MOST_TOKENS, USUAL_TOKENS = 200, 50_000, 2_000
USUAL_HITS, MOST_HITS, MOST_IDS = 10, 50, 20

_A = TypeVar("_A", bound="Arguments")


# What models send: lists and objects as JSON text, a word alone, `File`, `true` for a number.
def _as_json(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _several(value: Any) -> Any:
    value = _as_json(value)
    return [value] if isinstance(value, str) else value


_LOWER = BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)
_NO_TRUTH = BeforeValidator(lambda value: str(value) if isinstance(value, bool) else value)

Several = Annotated[list[Annotated[str, Field(max_length=1_000)]], BeforeValidator(_several), Field(max_length=50)]
Ids = Annotated[
    list[Annotated[str, Field(max_length=100)]], BeforeValidator(_several), Field(min_length=1, max_length=MOST_IDS)
]
Whole = Annotated[int, _NO_TRUTH]
MaxTokens = Annotated[Whole, Field(ge=LEAST_TOKENS, le=MOST_TOKENS, description="of the whole answer")]
Limit = Annotated[Whole, Field(ge=1, le=MOST_HITS)]
Kind = Annotated[Literal["note", "file", "cell", "history"], _LOWER]
Mode = Annotated[Literal["scan", "full"], _LOWER]


class Arguments(BaseModel):
    """What a tool is asked with."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nothing(cls, given: Any) -> Any:
        given = _as_json(given)
        if not isinstance(given, Mapping):
            return given
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value
            for name, value in given.items()
            if not (value is None and name in cls.model_fields) and not (value == "" and name in optional)
        }

    @classmethod
    def input_schema(cls) -> dict[str, Any]:
        """Return the arguments as a short JSON schema."""
        found: dict[str, Any] = lean(cls.model_json_schema())
        return found

    @classmethod
    def read(cls: type[_A], given: dict[str, Any] | None) -> _A:
        """Return the arguments of a call; an error names the one that is wrong, but not what it was."""
        try:
            return cls.model_validate(given or {})
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
        filters = FilterArguments.model_fields
        path = [part for part in first["loc"] if isinstance(part, str)]
        if first["type"] == "extra_forbidden":
            known = filters if len(path) > 1 else cls.model_fields
            raise ToolError(f"There is an argument that is not known. Known: {', '.join(known) or 'none'}.")
        field = ".".join(dict.fromkeys(part for part in path if part in cls.model_fields or part in filters))
        said = _RULES.get(first["type"], "it cannot be used").format(**first.get("ctx", {}))
        raise ToolError(f"{field or 'arguments'}: {said}.")


class FilterArguments(Arguments):
    """What a memory must be; of several values any is enough."""

    kind: Annotated[list[Kind], BeforeValidator(_several)] | None = None
    tag: Several | None = None
    path: Several | None = Field(None, description="files or folders, or the last names of their paths")
    lang: Several | None = None
    since: str | None = Field(None, max_length=100, description="2026-03-01, last week")
    until: str | None = Field(None, max_length=100)

    def filters(self) -> Filters:
        """Return them as filters."""
        given = {"since": self.since, "until": self.until}
        times = period_of(given, datetime.now(UTC), lambda name, why: ToolError(f"filters.{name}: {why}."))
        if not all(path.strip() for path in self.path or ()):
            raise ToolError("filters.path: it is empty. Name a file or a folder, or leave it out.")
        return Filters(
            kind=tuple(self.kind or ()),
            tag=tuple(self.tag or ()),
            path=tuple(self.path or ()),
            lang=tuple(self.lang or ()),
            since=times.get("since"),
            until=times.get("until"),
        )


class SearchArguments(Arguments):
    query: str | None = Field(None, max_length=5_000, description="question or words")
    filters: FilterArguments | None = None
    mode: Mode = Field("scan", description="full: whole texts while they fit")
    limit: Limit = USUAL_HITS
    max_tokens: MaxTokens = USUAL_TOKENS
    cursor: str | None = Field(None, max_length=100, description="next of an answer")


class GetArguments(Arguments):
    ids: Ids
    around: str | None = Field(None, max_length=5_000, description="only the part about these words, such as a snippet")
    offset: Whole = Field(0, ge=0, description="next_offset of an answer; one id")
    max_tokens: MaxTokens = USUAL_TOKENS


class RelatedArguments(Arguments):
    id: str | None = Field(None, max_length=100)
    limit: Limit = 5
    max_tokens: MaxTokens = USUAL_TOKENS
    cursor: str | None = Field(None, max_length=100)


class RememberArguments(Arguments):
    text: str = Field(min_length=1, max_length=50_000)
    title: str = Field("", max_length=200)
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], BeforeValidator(_several)] = Field(
        [], max_length=10
    )


class ForgetArguments(Arguments):
    ids: Ids


# By the type of pydantic's error; what was sent is in none of them.
_RULES = {
    "missing": "it is missing",
    "string_too_short": "it is empty",
    "string_too_long": "it may have up to {max_length:,} characters",
    "too_short": "it is empty",
    "too_long": "it may hold up to {max_length} values",
    "greater_than_equal": "it must be {ge} or more",
    "less_than_equal": "it must be {le} or less",
    "literal_error": "it must be one of {expected}",
    "string_type": "it must be text",
    "int_type": "it must be a whole number",
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "list_type": "it must be a list",
    "model_type": "it must be an object",
    "model_attributes_type": "it must be an object",
}
