"""Other programs' settings, edited with their comments: JSON, TOML, and a copy of what was there."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, Protocol

from jupyter_memory.errors import ClientConfigError

# Finding the parts of a JSON text, which may hold comments, without changing a character of it.

_STRING = r'"(?:\\.|[^"\\\n])*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


# A member of an object, or an item of an array (without a name): where it begins, and where its value stands.
@dataclass(frozen=True, slots=True)
class _Child:
    name: str | None
    begin: int
    value_begin: int
    end: int


# A JSON text with two copies of the same length, so that a place in one is the place in the others.
#
# ``bare`` has blanks in place of comments; ``strict`` has blanks in place of trailing commas too.
@dataclass(frozen=True, slots=True)
class _JsonText:
    text: str
    bare: str
    strict: str

    @classmethod
    def read(cls, text: str, *, comments: bool) -> _JsonText:
        if not comments:
            return cls(text, text, text)
        bare = _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)
        return cls(text, bare, _TRAILING_COMMA.sub(lambda found: found[1] or " ", bare))

    def value(self) -> Any:
        return json.loads(self.strict) if self.strict.strip() else {}

    def root(self) -> int:
        return self._skip(0)

    def children(self, begin: int) -> list[_Child]:
        # The parts of the object or array that begins at a place.
        children: list[_Child] = []
        named = self.strict[begin] == "{"
        place = self._skip(begin + 1)
        while self.strict[place] not in "}]":
            name, start = None, place
            if named:
                name, place = _DECODER.raw_decode(self.strict, place)
                place = self._skip(self._skip(place) + 1)
            end = self.end(place)
            children.append(_Child(name, start, place, end))
            place = self._skip(end)
            if self.strict[place] == ",":
                place = self._skip(place + 1)
        return children

    def end(self, begin: int) -> int:
        return _DECODER.raw_decode(self.strict, begin)[1]

    def comma(self, begin: int, end: int) -> int:
        # -1 if there is none; a comma inside a comment does not count.
        return self.bare.find(",", begin, end)

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self.strict, place)
        assert found is not None
        return found.end()


# Adding, replacing and removing one part of a JSON text; everything else stays as it was written.

_REST_OF_LINE = re.compile(r"(?:[ \t]*+(?://[^\r\n]*+|/\*[^\r\n]*?\*/))++(?=[ \t]*+\r?\n)")


# A last part more in the object or array that begins at a place.
def _added(json_text: _JsonText, container: int, name: str | None, value: Any) -> str:
    text, children, end = json_text.text, json_text.children(container), json_text.end(container)
    style = _Style(text)
    outer = _line_indent(text, container)
    indent = outer + style.unit
    if children:
        first = children[-1].begin
        indent = text[text.rfind("\n", 0, first) + 1 : first]
    if style.compact or indent.strip():
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


def _replaced(json_text: _JsonText, child: _Child, value: Any) -> str:
    old, indent = json_text.text[child.value_begin : child.end], _line_indent(json_text.text, child.begin)
    style = _Style(json_text.text) if "\n" in old else _ON_ONE_LINE
    return json_text.text[: child.value_begin] + style.value(value, indent) + json_text.text[child.end :]


def _removed(json_text: _JsonText, container: int, child: _Child) -> str:
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
    # Its line ends, its indent, or all of it on one line.

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


def _line_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _after_comments(json_text: _JsonText, place: int) -> int:
    if json_text.bare == json_text.text:
        return place
    found = _REST_OF_LINE.match(json_text.text, place)
    return found.end() if found else place


# Adding, changing and removing one table of a TOML text; everything else stays as it was written.
#
# The parser says whether a line begins a statement: it does where the lines before it are valid TOML by themselves.

_KeyPath = tuple[str, ...]


def _parsed_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error)
        where = place[place.rfind("(at ") :] if "(at line" in place else "(at its end)"
        raise ClientConfigError(f"it is not valid TOML {where}") from None


def _value_at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _tables(lines: list[str], path: _KeyPath) -> Iterator[tuple[int, int, _KeyPath]]:
    heads = [(place, name) for place, line in enumerate(lines) if (name := _header(line)) and _is_whole(lines[:place])]
    for number, (begin, name) in enumerate(heads):
        end = heads[number + 1][0] if number + 1 < len(heads) else len(lines)
        # What stands above the next table belongs to that one.
        while end > begin + 1 and lines[end - 1].strip()[:1] in ("", "#"):
            end -= 1
        if name[: len(path)] == path:
            yield begin, end, name


def _header(line: str) -> _KeyPath | None:
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


def _is_whole(lines: list[str]) -> bool:
    try:
        tomllib.loads("".join(lines))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _checked_toml(after: str, before: Mapping[str, Any], path: _KeyPath, table: Mapping[str, Any] | None) -> str:
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


def _without_empty(value: dict[str, Any], path: _KeyPath) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if not (key == path[0] and inner == {})}


# Each shape changes the text and then reads it again: what comes out must say what was meant, and nothing else.

NAME = "jupyter-memory"


class Shape(Protocol):
    """What a configuration looks like; ``text`` is its whole text.

    Each method raises ``ClientConfigError`` for a text that cannot be read, or has another form than the client's.
    """

    def entry_of(self, text: str) -> Any:
        """Return our entry, None where there is none."""

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""

    def without_entry(self, text: str) -> str:
        """Return the text without our entry."""


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member of a JSON object that is reached through ``keys``; the client may allow ``comments`` in its file."""

    keys: tuple[str, ...] = ("mcpServers",)
    name: str = NAME
    comments: bool = False

    def entry_of(self, text: str) -> Any:
        found = _value(_parsed(text, comments=self.comments))
        for key in self.keys:
            found = _object(found.get(key, {}), key)
        return found.get(self.name)

    def with_entry(self, text: str, entry: Any) -> str:
        old = self.entry_of(text)
        new = {**old, **entry} if isinstance(old, Mapping) and isinstance(entry, Mapping) else entry
        text = text if text.strip() else "{}\n"
        parsed = _parsed(text, comments=self.comments)
        container, missing = self._container(parsed)
        child = _member(parsed, container, self.name)
        if missing:
            inner = new
            for key in (self.name, *reversed(missing[1:])):
                inner = {key: inner}
            after = _added(parsed, container, missing[0], inner)
        elif child is None:
            after = _added(parsed, container, self.name, new)
        else:
            after = _replaced(parsed, child, new)
        return _checked(after, self._expected(text, new), comments=self.comments)

    def without_entry(self, text: str) -> str:
        if self.entry_of(text) is None:
            return text
        parsed = _parsed(text, comments=self.comments)
        container, _ = self._container(parsed)
        child = _member(parsed, container, self.name)
        assert child is not None
        after = _removed(parsed, container, child)
        return _checked(after, self._expected(text, None), comments=self.comments)

    def _container(self, parsed: _JsonText) -> tuple[int, tuple[str, ...]]:
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
        items = self._items(text)
        place = _place(items)
        return None if place is None else items[place]

    def with_entry(self, text: str, entry: Any) -> str:
        items = self._items(text)
        parsed, place = _parsed(text if text.strip() else "{}\n", comments=False), _place(items)
        new = {"name": NAME, **(items[place] if place is not None else {}), **entry}
        array = _member(parsed, parsed.root(), self.key)
        if array is None:
            after = _added(parsed, parsed.root(), self.key, [new])
        elif place is None:
            after = _added(parsed, array.value_begin, None, new)
        else:
            after = _replaced(parsed, parsed.children(array.value_begin)[place], new)
        items = [*items, new] if place is None else [*items[:place], new, *items[place + 1 :]]
        return _checked(after, {**parsed.value(), self.key: items}, comments=False)

    def without_entry(self, text: str) -> str:
        items = self._items(text)
        parsed, place = _parsed(text, comments=False), _place(items)
        if place is None:
            return text
        array = _member(parsed, parsed.root(), self.key)
        assert array is not None
        after = _removed(parsed, array.value_begin, parsed.children(array.value_begin)[place])
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
        return _value_at(_parsed_toml(text), self.path)

    def with_entry(self, text: str, entry: Any) -> str:
        before, newline = _parsed_toml(text), "\r\n" if "\r\n" in text else "\n"
        if not isinstance(before.get(self.path[0], {}), Mapping):
            raise ClientConfigError(f"its {self.path[0]} is no table")
        written = [f"{key} = {json.dumps(value, ensure_ascii=False)}{newline}" for key, value in entry.items()]
        lines = text.splitlines(keepends=True)
        found = next((span for span in _tables(lines, self.path) if span[2] == self.path), None)
        if found is None:
            gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
            after = text + gap + f"[{'.'.join(self.path)}]{newline}" + "".join(written)
        else:
            begin, end, _ = found
            kept, statement = [], ""
            for line in lines[begin + 1 : end]:
                statement += line
                # A value may go on over several lines.
                if _is_whole([statement]):
                    if not tomllib.loads(statement).keys() & entry.keys():
                        kept.append(statement)
                    statement = ""
            after = "".join([*lines[: begin + 1], *written, *kept, *lines[end:]])
        return _checked_toml(after, before, self.path, {**(_value_at(before, self.path) or {}), **entry})

    def without_entry(self, text: str) -> str:
        before, lines = _parsed_toml(text), text.splitlines(keepends=True)
        if _value_at(before, self.path) is None:
            return text
        for begin, end, _ in reversed(list(_tables(lines, self.path))):
            # The blank line before it was put there with it.
            start = begin - 1 if begin and not lines[begin - 1].strip() else begin
            del lines[start:end]
        return _checked_toml("".join(lines), before, self.path, None)


def _parsed(text: str, *, comments: bool) -> _JsonText:
    parsed = _JsonText.read(text, comments=comments)
    try:
        parsed.value()
    except json.JSONDecodeError as error:
        kind = "JSON" if not comments else "JSON, even with comments"
        raise ClientConfigError(f"it is not valid {kind} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ClientConfigError("it is nested too deeply") from None
    return parsed


def _value(parsed: _JsonText) -> dict[str, Any]:
    return _object(parsed.value(), "")


def _object(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ClientConfigError(f"its {key!r} is no object" if key else "it is no JSON object")
    return value


def _place(items: list[Any]) -> int | None:
    return next((place for place, one in enumerate(items) if isinstance(one, dict) and one.get("name") == NAME), None)


def _member(parsed: _JsonText, container: int, name: str) -> _Child | None:
    # Of members with the same name, the last one counts, as for every reader of JSON.
    return next((child for child in reversed(parsed.children(container)) if child.name == name), None)


def _checked(after: str, expected: Any, *, comments: bool) -> str:
    if _JsonText.read(after, comments=comments).value() != expected:
        raise ClientConfigError("it is written in a way that this command cannot change safely")
    return after


# Reading, showing and replacing the files of other programs, with a copy of what was there.

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A file as it is and as it is to be; None is a file that does not exist.

    ``kept`` says that the copy beside the file stays unchanged; ``restores``, that the file becomes what the copy is;
    ``own_folder``, that the folder is deleted with the file if nothing else is in it.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    kept: bool = False
    restores: bool = False
    own_folder: bool = False

    def diff(self) -> str:
        """Return what changes, line by line, without the secrets of neighbouring lines."""
        # Imported late: its patterns take a while to load, and only what is shown needs them.
        from jupyter_memory.ingest.redaction.redactor import redact

        old, new = (str(self.path) if side is not None else os.devnull for side in (self.before, self.after))
        lines = unified_diff(_lines(self.before), _lines(self.after), old, new, n=2, lineterm="")
        text, _ = redact("\n".join(lines))
        # Programs write files whose whole content is one line.
        return "\n".join(line if len(line) <= 300 else f"{line[:300]} …" for line in text.split("\n"))

    def apply(self) -> None:
        """Replace the file as a whole, after a copy of it was made; a link stays one.

        Raises:
            ClientConfigError: the file cannot be written, or was changed since it was read.
        """
        with _named(self.path):
            if read(self.path) != self.before:
                raise ClientConfigError(f"{self.path} was changed just now, so it was left as it is. Try again.")
            target = Path(os.path.realpath(self.path))
            if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
                raise PermissionError(13, "it is write-protected")
            copy = backup_of(self.path)
            if self.before is not None and not (self.kept or self.restores):
                _replace(copy, self.before, target)
            if self.after is None:
                self.path.unlink()
                folder = self.path.parent
                if self.own_folder and not any(folder.iterdir()):
                    folder.rmdir()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                _replace(target, self.after, target)
            if self.restores:
                copy.unlink(missing_ok=True)


def backup_of(path: Path) -> Path:
    """Return the file that keeps a copy of another, beside it."""
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + ".jupyter-memory.bak")


def read(path: Path) -> bytes | None:
    """Return what a file holds, None if it does not exist."""
    with _named(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def decoded(data: bytes | None) -> str:
    """Return the text of a file, without the mark at its beginning; an absent file is empty."""
    try:
        return (data or b"").removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise ClientConfigError("it is not UTF-8") from None


def encoded(text: str, before: bytes | None) -> bytes:
    """Return a text as the file that held ``before`` is to hold it."""
    return (_BOM if (before or b"").startswith(_BOM) else b"") + text.encode("utf-8")


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ClientConfigError(f"{path} cannot be used, and was left as it is: {why}.") from None


def _replace(path: Path, data: bytes, like: Path) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Never readable by more than may read the file.
        mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else None
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            if os.name == "posix" and (found := like.stat()).st_uid != temporary.stat().st_uid:
                os.chown(temporary, found.st_uid, found.st_gid)
            temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
