"""The outline of a source in Python: its classes and functions, and those right within them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from jupyter_memory.text.code.definitions import Place
from jupyter_memory.text.outlines.blocks import Block

# Characters of a block that is never cut, and lines of a signature that are read.
_NEVER_CUT = 1_000
_SIGNATURE = 12
_DOCSTRING = re.compile(r"[rRuU]?(?:\"\"\"|'''|\"|')")
# Lines of decorators and comments above a definition.
_ABOVE = 40
_INDENT = re.compile(r"[ \t]*")


def python_blocks(text: str, places: Sequence[Place]) -> list[Block]:
    """Return the blocks of a source, given where Python found its classes and functions.

    A block begins with the decorators and comments right above it, and ends before the next statement outside it.
    """
    if not places:
        return []
    lines = text.split("\n")
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found = []
    for place in sorted(place for place in places if place.line <= len(lines)):
        indent = _INDENT.match(lines[place.line - 1])
        assert indent is not None  # it may be empty
        begin = _begin(lines, place.line - 1, indent[0])
        end = _after(indent.end()).search(text, offsets[place.line])
        start, stop = offsets[begin], end.start() if end else len(text)
        about = _about(lines, place.line - 1) if stop - start > _NEVER_CUT else ""
        found.append(Block(start, stop, place.level, place.name, about))
    return found


def _about(lines: Sequence[str], line: int) -> str:
    """Return the signature that begins on a line, and the first line of the docstring below it."""
    end = line
    while end < min(line + _SIGNATURE, len(lines)) and not lines[end].partition("#")[0].rstrip().endswith(":"):
        end += 1
    signature = [one.strip() for one in lines[line : end + 1]]
    below = lines[end + 1].strip() if end + 1 < len(lines) else ""
    if quotes := _DOCSTRING.match(below):
        signature.append(below[quotes.end() :].rstrip("\"' "))
    return " ".join(signature)


def _begin(lines: Sequence[str], line: int, indent: str) -> int:
    """Return the line on which the decorators and comments above a definition begin; lines count from 0."""
    begin = line
    for above in range(line - 1, max(-1, line - _ABOVE), -1):
        text = lines[above]
        bare = text.lstrip()
        if not bare:
            break
        if text.startswith((f"{indent}@", f"{indent}#")):
            begin = above
        elif len(text) - len(bare) <= len(indent) and bare[0] not in ")]}":
            break
    return begin


@lru_cache(64)
def _after(indent: int) -> re.Pattern[str]:
    """Return the pattern of a line that is not within a block of such an indentation."""
    return re.compile(rf"^[ \t]{{0,{min(indent, 100)}}}+[^\s)\]}}#]", re.MULTILINE)
