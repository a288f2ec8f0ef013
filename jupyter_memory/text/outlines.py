"""The outline of a text or of code: its blocks and what they are called."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from pathlib import Path

from jupyter_memory.text.code import PYTHON, Place


@dataclass(frozen=True, slots=True)
class Block:
    """A function, class or section: where it begins and ends in its text, its level (1 is the highest), its name."""

    start: int
    end: int
    level: int
    name: str
    about: str = ""  # its signature and the first line of its docstring, where it is so long that it is cut


def around(blocks: Sequence[Block], places: Iterable[int]) -> Iterator[list[Block]]:
    """Yield for each place, in ascending order, the blocks around it, outermost first; they are in order."""
    rest = iter(blocks)
    coming = next(rest, None)
    found: list[Block] = []
    for place in places:
        while coming is not None and coming.start <= place:
            found = [*(one for one in found if one.level < coming.level), coming]
            coming = next(rest, None)
        found = [one for one in found if one.end > place]
        yield found


# A pattern says where a block begins and what it is called; indentation says how deep it is. That is less than a parser
# knows, and enough to say where a chunk is. It also works in code that no parser would read.

_DEEPEST = 8
# Lines of comments and annotations above a block.
_ABOVE = 40
_LONGEST_NAME = 120
_PATTERNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_PART = re.compile("%([A-Z]+)%")
_BLANK = re.compile(r" (\*?)")


def _compiled(lang: str, patterns: Sequence[str]) -> re.Pattern[str]:
    pattern = "|".join(patterns)
    while _PART.search(pattern):
        pattern = _PART.sub(lambda found: _PATTERNS["parts"][found[1]], pattern)
    spaced = _BLANK.sub(lambda found: r"[ \t]*+" if found[1] else r"[ \t]++", pattern)
    flags = re.MULTILINE | (re.IGNORECASE if lang in ("sql", "sas") else 0)
    try:
        return re.compile(rf"^(?P<indent>[ \t]{{0,{_DEEPEST}}}+)(?:{spaced})", flags)
    except re.error as error:
        raise ValueError(f"The patterns of {lang} in outlines.toml are not a regular expression: {error}.") from None


_BEGINNINGS = {lang: _compiled(lang, patterns) for lang, patterns in _PATTERNS["beginnings"].items()}
_BEGINNINGS["typescript"] = _BEGINNINGS["javascript"]
# A line that closes a block; what comes after it is outside.
_CLOSING = (
    re.compile(r"^(?:[}\])]|end\b)[^\n]*+\n?", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}+(?:[}\])]|end\b)[^\n]*+\n?", re.MULTILINE),
)
# What may stand in the lines above a block and belongs to it.
_COMMENTS = ("#", "//", "--", "/*", "*", "%", "@", "'''", '"""', "[[")


def _code_blocks(lang: str, text: str) -> list[Block]:
    pattern = _BEGINNINGS.get(lang)
    if pattern is None:
        return []
    found = []
    last = 0
    for match in islice(pattern.finditer(text), _MOST):
        name = next((group for group in match.groups()[1:] if group), "")
        start = match.start()
        for _ in range(_ABOVE):
            above = text.rfind("\n", 0, start - 1) + 1
            if start == 0 or not text[above:start].lstrip().startswith(_COMMENTS):
                break
            start = above
        level = 2 if match["indent"] else 1
        found.append((max(last, start), match.end(), level, " ".join(name.split())[:_LONGEST_NAME]))
        last = match.end()

    after = [len(text)] * 3
    blocks = []
    for start, at, level, name in reversed(found):
        limit = min(after[1 : level + 1])
        closed = _CLOSING[level - 1].search(text, at, limit)
        blocks.append(Block(start, closed.end() if closed else limit, level, name))
        after[level] = start
    return blocks[::-1]


# Characters of a block that is never cut, and lines of a signature that are read.
_NEVER_CUT = 1_000
_SIGNATURE = 12
_DOCSTRING = re.compile(r"[rRuU]?(?:\"\"\"|'''|\"|')")
_INDENT = re.compile(r"[ \t]*")


def _python_blocks(text: str, places: Sequence[Place]) -> list[Block]:
    # A block begins with the decorators and comments right above it, and ends before the next statement outside it.
    if not places:
        return []
    lines = text.split("\n")
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found = []
    for place in sorted(place for place in places if place.line <= len(lines)):
        indent = _INDENT.match(lines[place.line - 1])
        assert indent is not None  # it may be empty
        begin = place.line - 1
        for above in range(place.line - 2, max(-1, place.line - 1 - _ABOVE), -1):
            bare = lines[above].lstrip()
            if not bare:
                break
            if lines[above].startswith((f"{indent[0]}@", f"{indent[0]}#")):
                begin = above
            elif len(lines[above]) - len(bare) <= len(indent[0]) and bare[0] not in ")]}":
                break
        after = re.compile(rf"^[ \t]{{0,{min(indent.end(), 100)}}}+[^\s)\]}}#]", re.MULTILINE)
        end = after.search(text, offsets[place.line])
        start, stop = offsets[begin], end.start() if end else len(text)
        about: list[str] = []
        if stop - start > _NEVER_CUT:
            some = lines[place.line - 1 : place.line - 1 + _SIGNATURE]
            ends = (at for at, line in enumerate(some) if line.partition("#")[0].rstrip().endswith(":"))
            below = place.line + next(ends, len(some))
            about = [line.strip() for line in lines[place.line - 1 : below]]
            if below < len(lines) and (quotes := _DOCSTRING.match(docstring := lines[below].strip())):
                about.append(docstring[quotes.end() :].rstrip("\"' "))
        found.append(Block(start, stop, place.level, place.name, " ".join(about)))
    return found


def outline(lang: str, text: str, places: Sequence[Place] = ()) -> list[Block]:
    """Return the blocks of a text in order; ``places`` are the definitions that Python found in a source of its own."""
    if lang == PYTHON:
        return _python_blocks(text, places)
    return _sections(lang, text) if lang in _DOCUMENTS else _code_blocks(lang, text)


def stretches(lang: str, blocks: Sequence[Block], length: int) -> list[tuple[int, int]]:
    """Return the stretches into which the blocks of a text cut it: functions and classes, or sections of any level."""
    is_document = lang in _DOCUMENTS
    edges = {edge for one in blocks if is_document or one.level == 1 for edge in (one.start, one.end)}
    return list(pairwise(sorted({0, length, *edges})))


_MOST = 20_000
_LATEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_LATEX = re.compile(
    rf"^[ \t]{{0,8}}\\(?P<level>{'|'.join(_LATEX_LEVELS)})\*?(?:\[[^\]\n]{{0,200}}\])?"
    r"\{(?P<title>[^\n{}]*+(?:\{[^\n{}]*+\}[^\n{}]*+)*+)\}",
    re.MULTILINE,
)
_COMMAND = re.compile(r"\\[A-Za-z]+\*?|[{}~$]")
_ORG_STATE = re.compile(r"(?:(?:TODO|DONE|NEXT|WAITING)[ \t]+)?(?:\[#[A-Z]\][ \t]*)?")
_DOCUMENTS = {
    "latex": _LATEX,
    "org": re.compile(r"^(?P<level>\*{1,8})[ \t]++(?P<title>[^\n]+)$", re.MULTILINE),
    "asciidoc": re.compile(r"^(?P<level>={1,6})[ \t]++(?P<title>[^\n]+)$", re.MULTILINE),
}


def _sections(lang: str, text: str) -> list[Block]:
    found = []
    for match in islice(_DOCUMENTS[lang].finditer(text), _MOST):
        level, title = len(match["level"]), match["title"]
        if lang == "latex":
            level, title = _LATEX_LEVELS.index(match["level"]) + 1, " ".join(_COMMAND.sub(" ", title).split())
        elif lang == "org":
            title = _ORG_STATE.sub("", title, count=1).rstrip()
            if title.endswith(":"):
                title, _, tags = title.rpartition(" ")
                title = title if tags.startswith(":") else f"{title} {tags}"
        found.append((match.start(), level, title.strip()))
    opened: list[tuple[int, int, str]] = []
    closed = []
    # Each ends where the next one of the same or a higher level begins.
    for one in found:
        while opened and opened[-1][1] >= one[1]:
            start, level, name = opened.pop()
            closed.append(Block(start, one[0], level, name))
        opened.append(one)
    closed += [Block(start, len(text), level, name) for start, level, name in opened]
    return sorted(closed, key=lambda block: (block.start, block.level))
