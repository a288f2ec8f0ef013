"""Runs the subcommand that a line of `%memory` or `%memeval` names, and lists them all."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from itertools import zip_longest
from textwrap import wrap
from typing import Any, Generic

from IPython.core.error import UsageError

from jupyter_memory.interface.commands import table
from jupyter_memory.interface.commands.command import Call, Command, F, Front, Halted, nearest_command, offered
from jupyter_memory.magics.parsing import LineParser

# Names that people try, and what to type instead.
_ELSEWHERE = {
    **dict.fromkeys(("search", "find", "ask", "query"), "%memsearch WORDS"),
    **dict.fromkeys(("add", "remember", "note"), "%memadd TEXT"),
    **dict.fromkeys(("eval", "bench"), "%memeval run"),
    "show": "%memory list",
}
# The same for names of what cannot be undone: they must be written just so, since no guess may end here.
_DESTROYING = {
    **dict.fromkeys(("delete", "remove", "rm"), "%memory forget ID"),
    "restore": "`jupyter-memory restore FILE` in a terminal, when no kernel uses the store",
}
# The help is read in windows 80 characters wide: a call that is longer than its column gets its own line.
_CALL_WIDTH, _SUMMARY_WIDTH = 31, 46


class Subcommands(Generic[F]):
    """The subcommands of one magic, by name."""

    def __init__(self, magic: str, commands: Mapping[str, Command[F]]) -> None:
        self.magic = magic
        self.commands = commands

    def run(self, front: F, source: str) -> Any:
        """Run the subcommand that a line of the magic names."""
        commands = self.commands
        name, _, rest = source.strip().partition(" ")
        if name.endswith(";"):
            name, rest = name.rstrip(";"), ";"
        if name in ("", "help", "?", "??", "-h", "--help"):
            raise Halted(self.overview())
        if name not in commands and name.rstrip("?") in commands:
            name, rest = name.rstrip("?"), "?"
        if name not in commands:
            raise UsageError(f"There is no %{self.magic} {name}.{self._guess(name)} There are: {', '.join(commands)}.")
        command = commands[name]
        line = _parser(self.magic, command).parse(rest)
        words = tuple(line.arguments)
        chosen = offered(command.below, "notebook").get(words[0], command) if words else command
        if chosen is not command:
            words = words[1:]
        if chosen.notebook_words is None and len(words) < sum(argument.required for argument in chosen.arguments):
            raise UsageError(chosen.missing or f"%{self.magic} {name} is followed by {chosen.words}.")
        if not chosen.takes(len(words)):
            takes = command.words or "nothing but options"
            raise UsageError(command.missing or f"%{self.magic} {name} takes {takes}; there is: {line.text}")
        result = chosen.run(front, Call(words, line.values, line.source.strip()))
        return None if line.silent else result

    def overview(self) -> str:
        """Return a line for each subcommand."""
        lines: list[str] = []
        for title, of_it in table.grouped(self.commands).items():
            lines += ["", title] if title else []
            for one in of_it:
                call = f"%{self.magic} {one.name} {one.words}".rstrip()
                summary = wrap(one.summary, _SUMMARY_WIDTH)
                if len(call) > _CALL_WIDTH:
                    lines.append(call)
                    call = ""
                pairs = zip_longest([call], summary, fillvalue="")
                lines += [f"{left:{_CALL_WIDTH}}  {right}" for left, right in pairs]
        return "\n".join(lines).lstrip("\n") + f"\n\n`%{self.magic} NAME --help` shows its help."

    def _guess(self, name: str) -> str:
        # No guess names a command that destroys something.
        if self.magic == "memory" and name in _DESTROYING:
            return f" That is {_DESTROYING[name]}."
        if self.magic == "memory" and name in _ELSEWHERE:
            return f" Did you mean {_ELSEWHERE[name]}?"
        if near := nearest_command(name, self.commands):
            return f" Did you mean %{self.magic} {near}?"
        known = get_close_matches(name, _ELSEWHERE, n=1) if self.magic == "memory" else []
        return f" Did you mean {_ELSEWHERE[known[0]]}?" if known else ""


@cache
def _parser(magic: str, command: Command[Any]) -> LineParser:
    return LineParser(f"{magic} {command.name}", command.help, command.options, command.words.rstrip("…"))


MEMORY: Subcommands[Front] = Subcommands("memory", offered(table.COMMANDS, "notebook"))
MEMORY_HELP = f"""Look after the memory. `%memsearch?` searches, `%memadd?` adds a note, `%memeval?` compares rankings.

{MEMORY.overview()}
`{{name}}` and `$name` are replaced by the values of variables, which %memsearch and %memadd leave as they are.
"""
