"""Other programs' settings, edited with their comments: JSON, TOML, and a copy of what was there."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_memory.errors import ClientConfigError

NAME = "jupyter-memory"

_STRING = r'"(?:\\.|[^"\\\n])*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")
_REST_OF_LINE = re.compile(r"(?:[ \t]*+(?://[^\r\n]*+|/\*[^\r\n]*?\*/))++(?=[ \t]*+\r?\n)")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_UNSAFE = "it is written in a way that this command cannot change safely"


# A member of an object, or an item of an array (without a name): where it begins, and where its value stands.
class _Child(NamedTuple):
    name: str | None
    begin: int
    value_begin: int
    end: int


# A JSON object as it was written. Of its text there are two copies of the same length, so that a place in one is the
# place in the others: `bare` has blanks in place of comments; `strict` has blanks in place of trailing commas too.
# `added`, `replaced` and `removed` return the text with one part changed, and everything else as it was written.
class _Json:
    def __init__(self, text: str, comments: bool) -> None:
        self.text = self.bare = self.strict = text
        if comments:
            self.bare = _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)
            self.strict = _TRAILING_COMMA.sub(lambda found: found[1] or " ", self.bare)
        try:
            self.value = json.loads(self.strict) if self.strict.strip() else {}
        except json.JSONDecodeError as error:
            kind = "JSON, even with comments" if comments else "JSON"
            raise ClientConfigError(f"it is not valid {kind} (line {error.lineno}, column {error.colno})") from None
        except RecursionError:
            raise ClientConfigError("it is nested too deeply") from None
        if not isinstance(self.value, dict):
            raise ClientConfigError("it is not a JSON object")
        self.root = self._skip(0)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r"\n([ \t]+)\S", text)
        self.indent_unit = found[1] if found else "  "

    def children(self, begin: int) -> list[_Child]:
        children: list[_Child] = []
        named = self.strict[begin] == "{"
        place = self._skip(begin + 1)
        while self.strict[place] not in "}]":
            name, start = None, place
            if named:
                name, place = _DECODER.raw_decode(self.strict, place)
                place = self._skip(self._skip(place) + 1)
            _, end = _DECODER.raw_decode(self.strict, place)
            children.append(_Child(name, start, place, end))
            place = self._skip(end)
            if self.strict[place] == ",":
                place = self._skip(place + 1)
        return children

    def member(self, container: int, name: str) -> _Child | None:
        # Of members with the same name, the last one counts, as for every reader of JSON.
        return next((child for child in reversed(self.children(container)) if child.name == name), None)

    def reached(self, keys: Sequence[str]) -> tuple[int, Sequence[str]]:
        # The innermost of the objects that keys lead to, and the keys that are missing in it.
        place = self.root
        for count, key in enumerate(keys):
            child = self.member(place, key)
            if child is None:
                return place, keys[count:]
            place = child.value_begin
        return place, ()

    def added(self, container: int, name: str | None, value: Any) -> str:
        text, children = self.text, self.children(container)
        _, end = _DECODER.raw_decode(self.strict, container)
        outer = self._line_indent(container)
        indent = outer + self.indent_unit
        if children:
            first = children[-1].begin
            indent = text[text.rfind("\n", 0, first) + 1 : first]
        label = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
        is_compact = len(text.strip()) > len("{}") and "\n" not in text.strip()
        if is_compact or indent.strip():
            # All on one line, or at least what is there already.
            part = (", " if children else "") + label + json.dumps(value, ensure_ascii=False)
            return _put(text, children[-1].end if children else container + 1, part)
        part = self.newline + indent + label + self._on_lines(value, indent)
        if not children:
            inner = text[container + 1 : end - 1].rstrip()
            return text[: container + 1] + inner + part + self.newline + outer + text[end - 1 :]
        last = children[-1].end
        comma = self.bare.find(",", last, end)
        if comma >= 0:
            return _put(text, self._after_comments(comma + 1), part + ",")
        # The comma comes first, so that a comment on that line stays with what it is about.
        return _put(_put(text, self._after_comments(last), part), last, ",")

    def replaced(self, child: _Child, value: Any) -> str:
        is_compact = "\n" not in self.text[child.value_begin : child.end]
        indent = self._line_indent(child.begin)
        written = json.dumps(value, ensure_ascii=False) if is_compact else self._on_lines(value, indent)
        return self.text[: child.value_begin] + written + self.text[child.end :]

    def removed(self, container: int, child: _Child) -> str:
        text, children = self.text, self.children(container)
        place = children.index(child)
        begin = len(text[: child.begin].rstrip())
        _, end = _DECODER.raw_decode(self.strict, container)
        # A comma inside a comment does not count.
        comma = self.bare.find(",", child.end, children[place + 1].begin if place + 1 < len(children) else end)
        if comma >= 0:
            return text[:begin] + text[child.end : comma] + text[comma + 1 :]
        without = text[:begin] + text[child.end :]
        if place == 0:
            inner = without[container + 1 : begin + end - child.end - 1]
            return without if inner.strip() else without[: container + 1] + without[container + 1 + len(inner) :]
        comma = self.bare.find(",", children[place - 1].end, child.begin)
        return without[:comma] + without[comma + 1 :]

    def _on_lines(self, value: Any, indent: str) -> str:
        written = json.dumps(value, indent=self.indent_unit, ensure_ascii=False)
        return written.replace("\n", self.newline + indent)

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self.strict, place)
        assert found is not None
        return found.end()

    def _line_indent(self, place: int) -> str:
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip())]

    def _after_comments(self, place: int) -> int:
        found = None if self.bare == self.text else _REST_OF_LINE.match(self.text, place)
        return found.end() if found else place


def _put(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]


# What a configuration looks like: `entry_of` gives our entry in a text, None where there is none. Each method raises
# `ClientConfigError` for a text that cannot be read, or has another form than the client's. What comes out of a change
# is read again: it must say what was meant, and nothing else.


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """A member of the JSON object that ``keys`` lead to; with ``items``, the one of its array that has our name."""

    keys: tuple[str, ...] = ("mcpServers",)
    name: str = NAME
    comments: bool = False
    items: bool = False

    def entry_of(self, text: str) -> Any:
        _, held, place = self._read(text)
        return None if place is None else held[place]

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""
        parsed, held, place = self._read(text if text.strip() else "{}\n")
        if isinstance(entry, Mapping):
            old = {} if place is None else held[place]
            named = {"name": self.name} if self.items else {}
            entry = {**named, **(old if isinstance(old, Mapping) else {}), **entry}
        container, missing = parsed.reached(self.keys)
        if missing:
            inner: Any = [entry] if self.items else {self.name: entry}
            for key in reversed(missing[1:]):
                inner = {key: inner}
            after = parsed.added(container, missing[0], inner)
        elif place is None:
            after = parsed.added(container, None if self.items else self.name, entry)
        else:
            after = parsed.replaced(self._child(parsed, container, place), entry)
        if place is None and self.items:
            held.append(entry)
        else:
            held[self.name if place is None else place] = entry
        return self._checked(after, parsed.value)

    def without_entry(self, text: str) -> str:
        parsed, held, place = self._read(text)
        if place is None or held[place] is None:
            return text
        container, _ = parsed.reached(self.keys)
        after = parsed.removed(container, self._child(parsed, container, place))
        del held[place]
        return self._checked(after, parsed.value)

    # The text, the object or array that holds our entry, made where it is missing, and the place of the entry in it.
    def _read(self, text: str) -> tuple[_Json, Any, Any]:
        parsed = _Json(text, self.comments)
        held = parsed.value
        for count, key in enumerate(self.keys, start=1):
            kind: type = list if self.items and count == len(self.keys) else dict
            held = held.setdefault(key, kind())
            if not isinstance(held, kind):
                raise ClientConfigError(f"its {key!r} is no {'array' if kind is list else 'object'}")
        if not self.items:
            return parsed, held, self.name if self.name in held else None
        named = (count for count, one in enumerate(held) if isinstance(one, dict) and one.get("name") == self.name)
        return parsed, held, next(named, None)

    def _child(self, parsed: _Json, container: int, place: Any) -> _Child:
        child = parsed.children(container)[place] if self.items else parsed.member(container, self.name)
        assert child is not None
        return child

    def _checked(self, after: str, expected: Any) -> str:
        if _Json(after, self.comments).value != expected:
            raise ClientConfigError(_UNSAFE)
        return after


# The parser of TOML says whether a line begins a statement: it does where the lines before it are valid by themselves.
def _toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


_SERVERS = "mcp_servers"


class TomlTable:
    """The table ``[mcp_servers.jupyter-memory]`` of TOML."""

    def entry_of(self, text: str) -> Any:
        try:
            servers = tomllib.loads(text).get(_SERVERS)
        except tomllib.TOMLDecodeError as error:
            place = str(error)
            where = place[place.rfind("(at ") :] if "(at line" in place else "(at its end)"
            raise ClientConfigError(f"it is not valid TOML {where}") from None
        return servers.get(NAME) if isinstance(servers, Mapping) else None

    def with_entry(self, text: str, entry: Any) -> str:
        """Return the text with our entry; what the entry had besides stays in it."""
        old, newline = self.entry_of(text), "\r\n" if "\r\n" in text else "\n"
        if not isinstance(tomllib.loads(text).get(_SERVERS, {}), Mapping):
            raise ClientConfigError(f"its {_SERVERS} is no table")
        written = [f"{key} = {json.dumps(value, ensure_ascii=False)}{newline}" for key, value in entry.items()]
        lines = text.splitlines(keepends=True)
        found = next((span for span in self._tables(lines) if span[2] == (_SERVERS, NAME)), None)
        if found is None:
            gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
            after = f"{text}{gap}[{_SERVERS}.{NAME}]{newline}{''.join(written)}"
        else:
            begin, end, _ = found
            kept, statement = [], ""
            for line in lines[begin + 1 : end]:
                statement += line
                # A value may go on over several lines.
                if (value := _toml(statement)) is not None:
                    if not value.keys() & entry.keys():
                        kept.append(statement)
                    statement = ""
            after = "".join([*lines[: begin + 1], *written, *kept, *lines[end:]])
        return self._checked(after, text, {**(old or {}), **entry})

    def without_entry(self, text: str) -> str:
        if self.entry_of(text) is None:
            return text
        lines = text.splitlines(keepends=True)
        for begin, end, _ in reversed(list(self._tables(lines))):
            # The blank line before it was put there with it.
            start = begin - 1 if begin and not lines[begin - 1].strip() else begin
            del lines[start:end]
        return self._checked("".join(lines), text, None)

    def _tables(self, lines: list[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        # Our table and those below it: where each begins and ends, and its name.
        heads: list[tuple[int, tuple[str, ...]]] = []
        for place, line in enumerate(lines):
            value: Any = _toml(line) if line.lstrip().startswith("[") else None
            names: list[str] = []
            while isinstance(value, Mapping) and len(value) == 1:
                names += value
                value = value[names[-1]]
            if names and _toml("".join(lines[:place])) is not None:
                heads.append((place, tuple(names)))
        for (begin, name), (end, _) in pairwise([*heads, (len(lines), ())]):
            # What stands above the next table belongs to that one.
            while end > begin + 1 and lines[end - 1].strip()[:1] in ("", "#"):
                end -= 1
            if name[:2] == (_SERVERS, NAME):
                yield begin, end, name

    def _checked(self, after: str, before: str, table: Mapping[str, Any] | None) -> str:
        found, expected = _toml(after), tomllib.loads(before)
        expected[_SERVERS] = {key: value for key, value in expected.get(_SERVERS, {}).items() if key != NAME}
        if table is not None:
            expected[_SERVERS][NAME] = dict(table)
        for value in (found or {}, expected):
            if value.get(_SERVERS) == {}:
                del value[_SERVERS]
        if found != expected:
            raise ClientConfigError(_UNSAFE)
        return after


Shape = JsonEntry | TomlTable


_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A file as it is and as it is to be; None is a file that does not exist.

    The copy beside it is ``kept``, or ``restores`` the file; an empty folder of our ``own_folder`` goes with the file.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    kept: bool = False
    restores: bool = False
    own_folder: bool = False

    def diff(self) -> str:
        """Return what changes, line by line, without the secrets of neighbouring lines."""
        from jupyter_memory.ingest.redaction.redactor import redact

        sides = (self.before, self.after)
        old, new = ((side or b"").decode("utf-8", "replace").splitlines() for side in sides)
        before, after = (os.devnull if side is None else str(self.path) for side in sides)
        text, _ = redact("\n".join(unified_diff(old, new, before, after, n=2, lineterm="")))
        # Programs write files whose whole content is one line.
        return "\n".join(line if len(line) <= 300 else f"{line[:300]} …" for line in text.split("\n"))

    def apply(self) -> None:
        """Replace the file as a whole, after a copy of it was made; a link stays one."""
        with _named(self.path):
            if _read(self.path) != self.before:
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


def _read(path: Path) -> bytes | None:
    with _named(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def _decoded(data: bytes | None) -> str:
    try:
        return (data or b"").removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise ClientConfigError("it is not UTF-8") from None


def _encoded(text: str, before: bytes | None) -> bytes:
    return (_BOM if (before or b"").startswith(_BOM) else b"") + text.encode("utf-8")


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


@dataclass(frozen=True, slots=True)
class Entry:
    """What is ours in a configuration; ``added`` and ``removed`` return the change, None if there is nothing to do."""

    shape: Shape
    file: Path
    value: Any = True

    @property
    def is_there(self) -> bool:
        """Return whether the file has and enables it; a file that cannot be read does not."""
        try:
            return self.shape.entry_of(_decoded(_read(self.file))) not in (None, False)
        except ClientConfigError:
            return False

    def added(self) -> ConfigChange | None:
        before = _read(self.file)
        after = self._edited(before, lambda text: self.shape.with_entry(text, self.value))
        return None if after == before else ConfigChange(self.file, before, after, kept=self._is_all_that_came(before))

    def removed(self) -> ConfigChange | None:
        before = _read(self.file)
        after = self._edited(before, self.shape.without_entry)
        if before is None or after == before:
            return None
        # Where nothing but the entry came since, the file becomes what it was, to the last byte.
        if self._is_all_that_came(before):
            return ConfigChange(self.file, before, _read(backup_of(self.file)), restores=True)
        return ConfigChange(self.file, before, after)

    def _is_all_that_came(self, now: bytes | None) -> bool:
        if now is None:
            return False
        copy = _read(backup_of(self.file))
        try:
            entry = self.shape.entry_of(_decoded(now))
            alone = entry is not None and self.shape.entry_of(_decoded(copy)) is None
            return alone and _encoded(self.shape.with_entry(_decoded(copy), entry), copy) == now
        except ClientConfigError:
            return False

    def _edited(self, before: bytes | None, edit: Callable[[str], str]) -> bytes:
        try:
            return _encoded(edit(_decoded(before)), before)
        except ClientConfigError as error:
            raise ClientConfigError(f"{self.file} was left as it is: {error}. Mend it, then try again.") from None


@dataclass(frozen=True, slots=True)
class Skill:
    """Our skill in a folder of skills; ``added`` and ``removed`` return the change, None if there is nothing to do."""

    folder: Path
    is_wanted: bool = True

    @property
    def file(self) -> Path:
        return self.folder / NAME / "SKILL.md"

    @property
    def is_there(self) -> bool:
        return self.file.exists()

    def added(self) -> ConfigChange | None:
        before, after = _read(self.file), (files(__package__) / "SKILL.md").read_text("utf-8").encode()
        return ConfigChange(self.file, before, after) if self.is_wanted and before != after else None

    def removed(self) -> ConfigChange | None:
        before, ours = _read(self.file), (files(__package__) / "SKILL.md").read_text("utf-8").encode()
        # A copy stays only of a changed skill.
        return None if before is None else ConfigChange(self.file, before, None, kept=before == ours, own_folder=True)
