"""A part of `%memory` or `%memeval`: its name, its options, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from inspect import cleandoc
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from IPython.core.error import UsageError

from jupyter_memory.interface.options import Option
from jupyter_memory.magics.parsing import Line, LineParser
from jupyter_memory.magics.session import Session, say

_HELP = ("?", "??", "-h", "--help")
# What people type, and what it is called here.
_ELSEWHERE = {
    **dict.fromkeys(("search", "find", "ask", "query"), "%memsearch WORDS"),
    **dict.fromkeys(("add", "remember", "note"), "%memadd TEXT"),
    **dict.fromkeys(("delete", "remove", "rm"), "%memory forget ID"),
    **dict.fromkeys(("eval", "bench"), "%memeval run"),
    "restore": "`jupyter-memory restore FILE` in a terminal, when no kernel uses the store",
    "show": "%memory list",
}
# The help is read in windows 80 characters wide: a call that is longer than its column stands on a line of its own.
_CALL, _TOLD = 31, 46


@dataclass(frozen=True)
class Subcommand:
    """One subcommand.

    ``words`` shows what it takes beside its options, empty for nothing; ``values`` are what a word can be, for
    completion: given ones, or the name of a sort such as ``"path"``; ``after`` has those that follow a first word.
    """

    run: Callable[[Session, Line], Any]
    words: str = ""
    options: Sequence[Option] = ()
    values: str | tuple[str, ...] = ()
    after: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    magic: str = "memory"

    @property
    def name(self) -> str:
        """Return the word after the magic."""
        return self.run.__name__

    @property
    def doc(self) -> str:
        """Return its help."""
        return cleandoc(self.run.__doc__ or "")

    @cached_property
    def parser(self) -> LineParser:
        """Return the parser of its lines."""
        return LineParser(f"{self.magic} {self.name}", self.doc, self.options, self.words.rstrip("…"))

    def __call__(self, session: Session, source: str) -> Any:
        """Run it on the rest of a line."""
        if self.parser.is_call_for_help(source):
            return say(self.parser.help)
        line = self.parser.parse(source)
        if line.words and not self.words:
            raise UsageError(f"%{self.magic} {self.name} takes nothing but options; there is: {line.text}")
        result = self.run(session, line)
        return None if line.silent else result


def run(table: Mapping[str, Subcommand], session: Session, source: str) -> Any:
    """Run the subcommand that a line of a magic names.

    Raises:
        UsageError: there is no such subcommand.
    """
    magic = next(iter(table.values())).magic
    name, _, rest = source.strip().partition(" ")
    name = name.rstrip(";")
    if name in ("", "help", *_HELP):
        return say(overview(table))
    if name not in table and name.rstrip("?") in table:
        name, rest = name.rstrip("?"), "?"
    if name not in table:
        guess = _guess(magic, name, table)
        raise UsageError(f"There is no %{magic} {name}.{guess} There are: {', '.join(table)}.")
    return table[name](session, rest)


def overview(table: Mapping[str, Subcommand]) -> str:
    """Return a line for each subcommand."""
    lines: list[str] = []
    for one in table.values():
        call = f"%{one.magic} {one.name} {one.words}".rstrip()
        told = wrap(one.doc.splitlines()[0], _TOLD)
        if len(call) > _CALL:
            lines.append(call)
            call = ""
        lines += [f"{left:{_CALL}}  {right}" for left, right in zip_longest([call], told, fillvalue="")]
    return "\n".join(lines) + f"\n\n`%{next(iter(table.values())).magic} NAME --help` tells more of one."


def _guess(magic: str, name: str, table: Mapping[str, Subcommand]) -> str:
    """Return what somebody may have meant who typed a name that there is not."""
    if near := get_close_matches(name, table, n=1):
        return f" Did you mean %{magic} {near[0]}?"
    if magic == "memory" and (known := get_close_matches(name, _ELSEWHERE, n=1)):
        return f" Did you mean {_ELSEWHERE[known[0]]}?"
    return ""
