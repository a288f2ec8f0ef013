"""Finding the parts of a JSON text, which may hold comments, without changing a character of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STRING = r'"(?:\\.|[^"\\\n])*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object, or an item of an array (without a name): where it begins, and where its value stands."""

    name: str | None
    begin: int
    value_begin: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON text with two copies of the same length, so that a place in one is the place in the others.

    ``bare`` has blanks in place of comments; ``strict`` has blanks in place of trailing commas too.
    """

    text: str
    bare: str
    strict: str

    @classmethod
    def read(cls, text: str, *, comments: bool) -> JsonText:
        """Return the text with its copies; without ``comments`` it has to be strict JSON."""
        if not comments:
            return cls(text, text, text)
        bare = _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)
        return cls(text, bare, _TRAILING_COMMA.sub(lambda found: found[1] or " ", bare))

    def value(self) -> Any:
        """Return what the text says; an empty one says ``{}``.

        Raises:
            JSONDecodeError: it is not JSON.
        """
        return json.loads(self.strict) if self.strict.strip() else {}

    def root(self) -> int:
        """Return where the whole value begins."""
        return self._skip(0)

    def children(self, begin: int) -> list[Child]:
        """Return the parts of the object or array that begins at a place."""
        return list(self._children(begin))

    def end(self, begin: int) -> int:
        """Return where the value that begins at a place ends."""
        return _DECODER.raw_decode(self.strict, begin)[1]

    def comma(self, begin: int, end: int) -> int:
        """Return where the comma between two places stands, -1 if there is none; none inside a comment counts."""
        return self.bare.find(",", begin, end)

    def _children(self, begin: int) -> Iterator[Child]:
        named = self.strict[begin] == "{"
        place = self._skip(begin + 1)
        while self.strict[place] not in "}]":
            name, start = None, place
            if named:
                name, place = _DECODER.raw_decode(self.strict, place)
                place = self._skip(self._skip(place) + 1)
            end = self.end(place)
            yield Child(name, start, place, end)
            place = self._skip(end)
            if self.strict[place] == ",":
                place = self._skip(place + 1)

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self.strict, place)
        assert found is not None
        return found.end()
