"""Adding, replacing and removing one part of a JSON text; everything else stays as it was written."""

from __future__ import annotations

import json
import re
from typing import Any

from jupyter_memory.interface.clients.jsonc import Child, JsonText

_REST_OF_LINE = re.compile(r"(?:[ \t]*+(?://[^\r\n]*+|/\*[^\r\n]*?\*/))++(?=[ \t]*+\r?\n)")


def added(json_text: JsonText, container: int, name: str | None, value: Any) -> str:
    """Return the text with a last part more in the object or array that begins at a place."""
    text, children, end = json_text.text, json_text.children(container), json_text.end(container)
    style = _Style(text)
    outer = _line_indent(text, container)
    indent = _indent(text, children[-1].begin) if children else outer + style.unit
    if style.compact or indent is None:
        # All on one line, or at least what is there already.
        part = _ON_ONE_LINE.part(name, value, "")
        return _put(text, children[-1].end if children else container + 1, (", " if children else "") + part)
    part = style.newline + indent + style.part(name, value, indent)
    if not children:
        inner = text[container + 1 : end - 1].rstrip()
        return text[: container + 1] + inner + part + style.newline + outer + text[end - 1 :]
    last = children[-1].end
    comma = json_text.comma(last, end)
    if comma >= 0:
        return _put(text, _after_comments(json_text, comma + 1), part + ",")
    # The comma comes first, so that a comment on that line stays with what it is about.
    return _put(_put(text, _after_comments(json_text, last), part), last, ",")


def replaced(json_text: JsonText, child: Child, value: Any) -> str:
    """Return the text with another value of a part."""
    old, indent = json_text.text[child.value_begin : child.end], _line_indent(json_text.text, child.begin)
    style = _Style(json_text.text) if "\n" in old else _ON_ONE_LINE
    return json_text.text[: child.value_begin] + style.value(value, indent) + json_text.text[child.end :]


def removed(json_text: JsonText, container: int, child: Child) -> str:
    """Return the text without a part of the object or array that begins at a place."""
    text, children, end = json_text.text, json_text.children(container), json_text.end(container)
    place = children.index(child)
    begin = len(text[: child.begin].rstrip())
    following = json_text.comma(child.end, children[place + 1].begin if place + 1 < len(children) else end)
    if following >= 0:
        without = text[:following] + text[following + 1 :]
        return without[:begin] + without[child.end :]
    without = text[:begin] + text[child.end :]
    if place == 0:
        inner = without[container + 1 : begin + end - child.end - 1]
        return without if inner.strip() else without[: container + 1] + without[container + 1 + len(inner) :]
    comma = json_text.comma(children[place - 1].end, child.begin)
    return without[:comma] + without[comma + 1 :]


class _Style:
    """How a text is written: its line ends, its indent, or all of it on one line."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r"\n([ \t]+)\S", text)
        self.unit = found[1] if found else "  "
        self.compact = len(text.strip()) > len("{}") and "\n" not in text.strip()

    def part(self, name: str | None, value: Any, indent: str) -> str:
        written = self.value(value, indent)
        return written if name is None else f"{json.dumps(name, ensure_ascii=False)}: {written}"

    def value(self, value: Any, indent: str) -> str:
        written = json.dumps(value, indent=None if self.compact else self.unit, ensure_ascii=False)
        return written.replace("\n", self.newline + indent)


_ON_ONE_LINE = _Style("[ ]")


def _put(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]


def _indent(text: str, place: int) -> str | None:
    """Return the blanks before a place on its line, None where something else stands there."""
    before = text[text.rfind("\n", 0, place) + 1 : place]
    return before if not before.strip() else None


def _line_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _after_comments(json_text: JsonText, place: int) -> int:
    """Return the place behind the comments that end the line; they are about what stands before them."""
    if json_text.bare == json_text.text:
        return place
    found = _REST_OF_LINE.match(json_text.text, place)
    return found.end() if found else place
