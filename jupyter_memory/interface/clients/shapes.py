"""How the configuration of a client holds the entries of servers: a JSON object, a JSON array, or tables of TOML.

Each shape changes the text and then reads it again: what comes out must say what was meant, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from jupyter_memory.errors import ClientConfigError
from jupyter_memory.interface.clients import json_edits, toml_edits
from jupyter_memory.interface.clients.jsonc import Child, JsonText

NAME = "jupyter-memory"


class Shape(Protocol):
    """What a configuration looks like; ``text`` is its whole text.

    Each method raises ``ClientConfigError`` for a text that cannot be read, or has another form than the client's.
    """

    def entry_of(self, text: str) -> Any:
        """Return our entry, None where there is none."""
        ...

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""
        ...

    def without_entry(self, text: str) -> str:
        """Return the text without our entry."""
        ...


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member of a JSON object that is reached through ``keys``; the client may allow ``comments`` in its file."""

    keys: tuple[str, ...] = ("mcpServers",)
    name: str = NAME
    comments: bool = False

    def entry_of(self, text: str) -> Any:
        """Return our entry, None where there is none."""
        found = _value(_parsed(text, comments=self.comments))
        for key in self.keys:
            found = _object(found.get(key, {}), key)
        return found.get(self.name)

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""
        old = self.entry_of(text)
        new = {**old, **entry} if isinstance(old, Mapping) and isinstance(entry, Mapping) else entry
        text = text if text.strip() else "{}\n"
        after = self._changed(_parsed(text, comments=self.comments), new)
        return _checked(after, self._expected(text, new), comments=self.comments)

    def without_entry(self, text: str) -> str:
        """Return the text without our entry."""
        if self.entry_of(text) is None:
            return text
        parsed = _parsed(text, comments=self.comments)
        container, _ = self._container(parsed)
        child = _member(parsed, container, self.name)
        assert child is not None
        after = json_edits.removed(parsed, container, child)
        return _checked(after, self._expected(text, None), comments=self.comments)

    def _changed(self, parsed: JsonText, entry: Any) -> str:
        container, missing = self._container(parsed)
        if missing:
            for key in (self.name, *reversed(missing[1:])):
                entry = {key: entry}
            return json_edits.added(parsed, container, missing[0], entry)
        child = _member(parsed, container, self.name)
        if child is None:
            return json_edits.added(parsed, container, self.name, entry)
        return json_edits.replaced(parsed, child, entry)

    def _container(self, parsed: JsonText) -> tuple[int, tuple[str, ...]]:
        """Return where the innermost object on our way begins, and the keys that are missing from there on."""
        place = parsed.root()
        for count, key in enumerate(self.keys):
            child = _member(parsed, place, key)
            if child is None:
                return place, self.keys[count:]
            place = child.value_begin
        return place, ()

    def _expected(self, text: str, entry: Any) -> Any:
        value = deepcopy(_value(_parsed(text, comments=self.comments)))
        inner = value
        for key in self.keys:
            inner = inner.setdefault(key, {})
        inner.pop(self.name, None)
        if entry is not None:
            inner[self.name] = entry
        return value


@dataclass(frozen=True, slots=True)
class JsonItem:
    """An item of a JSON array below ``key``, known by its member ``name``."""

    key: str = "mcp_servers"

    def entry_of(self, text: str) -> Any:
        """Return our entry, None where there is none."""
        items = self._items(text)
        place = _place(items)
        return None if place is None else items[place]

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""
        items = self._items(text)
        parsed, place = _parsed(text if text.strip() else "{}\n", comments=False), _place(items)
        new = {"name": NAME, **(items[place] if place is not None else {}), **entry}
        array = _member(parsed, parsed.root(), self.key)
        if array is None:
            after = json_edits.added(parsed, parsed.root(), self.key, [new])
        elif place is None:
            after = json_edits.added(parsed, array.value_begin, None, new)
        else:
            after = json_edits.replaced(parsed, parsed.children(array.value_begin)[place], new)
        items = [*items, new] if place is None else [*items[:place], new, *items[place + 1 :]]
        return _checked(after, {**parsed.value(), self.key: items}, comments=False)

    def without_entry(self, text: str) -> str:
        """Return the text without our entry."""
        items = self._items(text)
        parsed, place = _parsed(text, comments=False), _place(items)
        if place is None:
            return text
        array = _member(parsed, parsed.root(), self.key)
        assert array is not None
        after = json_edits.removed(parsed, array.value_begin, parsed.children(array.value_begin)[place])
        return _checked(after, {**parsed.value(), self.key: items[:place] + items[place + 1 :]}, comments=False)

    def _items(self, text: str) -> list[Any]:
        items = _value(_parsed(text, comments=False)).get(self.key, [])
        if not isinstance(items, list):
            raise ClientConfigError(f"its {self.key!r} is no array")
        return items


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of TOML: ``[mcp_servers.jupyter-memory]``."""

    path: tuple[str, ...] = ("mcp_servers", NAME)

    def entry_of(self, text: str) -> Any:
        """Return our entry, None where there is none."""
        return toml_edits.value_at(toml_edits.parsed(text), self.path)

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""
        return toml_edits.with_table(text, self.path, entry)

    def without_entry(self, text: str) -> str:
        """Return the text without our entry."""
        return toml_edits.without_table(text, self.path)


def _parsed(text: str, *, comments: bool) -> JsonText:
    parsed = JsonText.read(text, comments=comments)
    try:
        parsed.value()
    except json.JSONDecodeError as error:
        kind = "JSON" if not comments else "JSON, even with comments"
        raise ClientConfigError(f"it is not valid {kind} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ClientConfigError("it is nested too deeply") from None
    return parsed


def _value(parsed: JsonText) -> dict[str, Any]:
    return _object(parsed.value(), "")


def _object(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ClientConfigError(f"its {key!r} is no object" if key else "it is no JSON object")
    return value


def _place(items: list[Any]) -> int | None:
    """Return the place of our entry among the items of an array."""
    return next((place for place, one in enumerate(items) if isinstance(one, dict) and one.get("name") == NAME), None)


def _member(parsed: JsonText, container: int, name: str) -> Child | None:
    # Of members with the same name, the last one counts, as for every reader of JSON.
    return next((child for child in reversed(parsed.children(container)) if child.name == name), None)


def _checked(after: str, expected: Any, *, comments: bool) -> str:
    """Return a changed text, which must say exactly what is expected."""
    if JsonText.read(after, comments=comments).value() != expected:
        raise ClientConfigError("it is written in a way that this command cannot change safely")
    return after
