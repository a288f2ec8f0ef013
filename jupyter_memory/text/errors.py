"""Tracebacks and the signatures of errors."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from jupyter_memory.text.code import Words
from jupyter_memory.text.unicode import uncoloured

# What is longer loses its middle: a deep recursion repeats itself, and both ends say what happened.
_LONGEST = 200_000
_MOST_FRAMES = 200
_MOST_INNER = 20
_LONGEST_MESSAGE = 4_000

_CHAINED = re.compile(
    r"^(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):[ \t]*$",
    re.MULTILINE,
)
# A name of an exception, with its module or without; a group says how many it holds, at the end of the message.
_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_SAID = re.compile(rf"^({_NAME})(?:: ?(.*))?$")
_HEADER = re.compile(rf"^({_NAME}) +Traceback \(most recent call last\):?[ \t]*$", re.MULTILINE)
_FRAMES = tuple(
    re.compile(pattern)
    for pattern in (
        # Cell In[3], line 2, in load(path) · Input In [3], in <cell line: 2>() · In plain mode without the comma.
        r"^ *(?P<cell>(?:Cell|Input) In ?\[\d+\])(?:, line (?P<line>\d+))?(?:,? in (?P<function>.+))?$",
        # File "/x/y.py", line 3, in load
        r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?$',
        # File /x/y.py:3, in load(path) · File <frozen codecs>:322, in decode(self)
        r"^ *File (?P<file>.+?):(?P<line>\d+)(?:,? in (?P<function>.+))?$",
        # IPython 7: /x/y.py in load(path) · <ipython-input-3-a1b2c3> in <module>
        r"^(?P<file>[~/<][^\n]*?|[A-Za-z]:\\[^\n]*?) in (?P<function>\S.*)$",
    )
)
_CELL_FILE = re.compile(r"<ipython-input-\d+|[/\\]ipykernel_\d+[/\\]")
_ARROW = re.compile(r"^ *-+> ?(?P<line>\d+)(?: (?P<source>.*))?$")
_NUMBERED = re.compile(r"^ *\d+(?: |$)")
_CELL_LINE = re.compile(r"<cell line: (\d+)>")
# What marks the place in a line of Python 3.11 and later.
_CARETS = re.compile(r"^[ ~^]+$")
_NO_SOURCE = "'Could not get source"
_BARS = re.compile(r"^ *\| ?")
_PART = re.compile(r"^ *\+(?:-\+)?-{5,}(?: (?:\d+|\.\.\.) -{5,})?$")
_GROUP = re.compile(r"^ *\+ Exception Group Traceback \(most recent call last\):", re.MULTILINE)
# Where code lies that nobody wrote in this project, as parts of a path.
_INSTALLED = re.compile(r"(?:^|[/\\])(?:site-packages|dist-packages)[/\\]")
_STANDARD = re.compile(r"(?:^|[/\\])(?:lib|Lib)[/\\](?:python\d[^/\\]*[/\\])?(?=\w)|^<frozen ")
_ELSEWHERE = re.compile(r"\.(?:pyx|pxd|pxi)$|^<__array_function__|^<string>$|^<magic-")


@dataclass(frozen=True, slots=True)
class Frame:
    """One call of a traceback: the file, or "" for a cell, and the line that ran as far as the text shows it."""

    file: str
    function: str = ""
    line: int | None = None
    source: str = ""

    @property
    def is_cell(self) -> bool:
        return not self.file

    @property
    def is_library(self) -> bool:
        """Return whether the frame is of an installed package, of the standard library or of compiled code."""
        places = (_INSTALLED, _STANDARD, _ELSEWHERE)
        return bool(self.file) and any(place.search(self.file) for place in places)

    @property
    def module(self) -> str:
        """Return the module, without the place where its package is installed."""
        parts = [part for place in (_INSTALLED, _STANDARD) if (part := place.split(self.file)[-1]) != self.file]
        path = min(parts, key=len) if parts else re.split(r"[/\\]", self.file)[-1] if ":" in self.file else self.file
        path = re.sub(r"\.(?:py|pyx|pxd|pxi)$|[<>]", "", path.removeprefix("<frozen "))
        return re.sub(r"[/\\]+", ".", path).strip(".").removesuffix(".__init__")


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception: its name as Python shows it, its message, and its frames, the outermost first."""

    name: str
    message: str
    frames: tuple[Frame, ...] = ()
    inner: tuple[Raised, ...] = ()  # of a group
    before: tuple[Raised, ...] = ()  # that led to this one, the oldest first

    @property
    def of_user(self) -> Frame | None:
        """Return the innermost frame of a cell; without one, the innermost that is not a library's."""
        frames = [frame for one in (*self.before, self) for frame in one.frames]
        own = [frame for frame in self.frames if frame.is_cell] or [frame for frame in frames if frame.is_cell]
        own = own or [frame for frame in self.frames if not frame.is_library]
        return own[-1] if own else None

    @property
    def of_libraries(self) -> tuple[Frame, ...]:
        """Return the libraries' frames below the user's code, the innermost first; above it is what ran the cell."""
        first = next((place for place, frame in enumerate(self.frames) if not frame.is_library), 0)
        return tuple(frame for frame in reversed(self.frames[first:]) if frame.is_library)


def read_traceback(text: str) -> Raised | None:
    """Return the exception that a traceback ends with; None if the text is no traceback of Python."""
    plain = uncoloured(text).replace("\r\n", "\n")
    if len(plain) > _LONGEST:
        plain = f"{plain[: _LONGEST // 2]}\n{plain[-_LONGEST // 2 :]}"
    parts = [_exception(part) for part in _CHAINED.split(plain)]
    chain = [one for one in parts if one is not None]
    if not chain or parts[-1] is None:
        return None
    return replace(chain[-1], before=tuple(chain[:-1]))


def _exception(text: str) -> Raised | None:
    if _GROUP.search(text):
        parts: list[list[str]] = [[]]
        for line in text.split("\n"):
            if _PART.match(line):
                parts.append([])
            else:
                parts[-1].append(_BARS.sub("", re.sub(r"^ *\+ (?=Exception Group)", "", line)))
        first, *others = (part for lines in parts if (part := "\n".join(lines)).strip())
        whole = _exception(first.removeprefix("Exception Group "))
        inner = [one for part in others[:_MOST_INNER] for one in [_exception(part)] if one is not None]
        return None if whole is None else replace(whole, inner=tuple(inner))
    header = _HEADER.search(text)
    lines = text[header.end() :].split("\n") if header else text.split("\n")
    frames, end = _frames(lines)
    if header is None and not frames:
        alone = _SAID.match(next((line for line in lines if line.strip()), ""))
        if alone is None or not re.search(r"(?:Error|Exception|Warning|Interrupt|Exit)$", alone[1]):
            return None
    if len(frames) > _MOST_FRAMES:
        frames = [*frames[: _MOST_FRAMES // 2], *frames[-_MOST_FRAMES // 2 :]]

    name = header[1].rpartition(".")[2] if header else ""
    for place, line in enumerate(lines[end:], start=end):
        said = _SAID.match(line.rstrip())
        if said and (not name or said[1].rpartition(".")[2] == name):
            message = "\n".join((said[2] or "", *lines[place + 1 :])).strip()
            return Raised(said[1], message[:_LONGEST_MESSAGE], tuple(frames))
    return None


def _frames(lines: Sequence[str]) -> tuple[list[Frame], int]:
    starts = [
        (place, found)
        for place, line in enumerate(lines)
        if len(line) <= 4_000 and (found := next(filter(None, (one.match(line) for one in _FRAMES)), None)) is not None
    ]
    edges = [*(place for place, _ in starts), len(lines)]
    frames, end = [], 0
    for (_, found), (first, last) in zip(starts, pairwise(edges), strict=True):
        source = line = ""
        end = last
        for place in range(first + 1, last):
            shown = lines[place]
            if arrow := _ARROW.match(shown):
                source, line = (arrow["source"] or "").strip(), arrow["line"]
            elif shown.strip() and not _NUMBERED.match(shown) and not shown.startswith(" "):
                end = place
                break
            elif shown.startswith("  ") and not source and not line and not _NUMBERED.match(shown):
                source = "" if _CARETS.match(shown) else shown.strip()
        source = "" if source.startswith(_NO_SOURCE) else source

        of_cell = _CELL_LINE.search(found["function"] or "")
        number = line or found.groupdict().get("line") or (of_cell and of_cell[1])
        file = found.groupdict().get("file") or ""
        # Python itself names no class before 3.11, and IPython does.
        name = (found["function"] or "").split("(")[0].strip()
        function = "" if name.startswith(("<module>", "<cell line")) else name.rpartition(".")[2]
        frames.append(Frame("" if _CELL_FILE.search(file) else file, function, int(number) if number else None, source))
    return frames, end


# The rest of a long message is a listing or advice.
_LONGEST_SIGNED = 600
# More quoted names than these are a list of what would be right.
_MOST_NAMED = 3
_QUOTED = re.compile(r"(?<!\w)'([^'\n]*)'(?!\w)|\"([^\"\n]*)\"|`([^`\n]*)`")
_PATH = re.compile(r"(?<![~.\w-])(?:[~.\w-]*[/\\])+[\w.-]*")
_NUMBER = re.compile(r"\b0x[0-9a-fA-F]+|(?<!\w)[-+]?\d[\d.,:e+-]*(?!\w)")
_WHOLE_NAME = re.compile(r"[^\W\d][\w.]*")
# What Python proposes instead belongs to the names at hand.
_PROPOSED = re.compile(r"[.?]? Did you mean:? .*", re.DOTALL)
# Words, also with a digit as in "2D", and the signs that say something.
_WORD = re.compile(r"[^\W_][\w.']*\w|[^\W_]|<=|>=|!=|[+*/]")


@dataclass(frozen=True, slots=True)
class Signature:
    """An error without what is its own."""

    name: str
    words: frozenset[str]  # of the message without numbers, paths and what it quotes
    named: frozenset[str] = frozenset()  # the quoted names that are a library's or Python's, such as a type or a module
    frames: tuple[str, ...] = ()  # the library's, ``module:function``, the innermost first


def signature(name: str, message: str, raised: Raised | None, words: Words) -> Signature:
    # What a group itself says is seldom more than their number.
    inner = raised.inner if raised else ()
    told = [_told(message), *(f"{one.name.rpartition('.')[2]} {_told(one.message)}" for one in inner)]
    shared = frozenset(
        one for one in quoted(message) if _WHOLE_NAME.fullmatch(one) and one not in words.own | words.within
    )
    frames = [f"{frame.module}:{frame.function}" for frame in raised.of_libraries] if raised else []
    return Signature(
        name.rpartition(".")[2],
        frozenset().union(*map(message_words, told)),
        shared if len(shared) <= _MOST_NAMED else frozenset(),
        tuple(dict.fromkeys(frames)),
    )


def message_words(message: str) -> frozenset[str]:
    """Return the words of a message in lower case, without numbers, paths and what stands in quotes."""
    for pattern in (_QUOTED, _PATH, _NUMBER):
        message = pattern.sub(" ", message)
    return frozenset(_WORD.findall(message.lower()))


def fixed(words: Set[str], other: Set[str], own: Set[str]) -> frozenset[str]:
    """Return the words of a message that no code calls its own; those that the other message has as well count.

    >>> sorted(fixed({"cannot", "insert", "room"}, {"cannot", "insert", "meter"}, {"room", "meter"}))
    ['cannot', 'insert']
    """
    return frozenset(word for word in words if word in other or word not in own)


def quoted(message: str) -> list[str]:
    return [text for one in _QUOTED.finditer(_told(message)) if (text := next(filter(None, one.groups()), ""))]


def _told(message: str) -> str:
    # One that stands in quotes as a whole, as a KeyError's, without them.
    message = _PROPOSED.sub("", message[:_LONGEST_SIGNED].strip())
    whole = len(message) > 1 and message[0] in "'\"" and message.count(message[0]) == 2 and message[0] == message[-1]
    # A few words are a key.
    return message[1:-1] if whole and len(message.split()) > 2 else message
