"""Reads the lines of magics: free text with options in between, and subcommands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache, partial
from itertools import zip_longest
from textwrap import wrap
from typing import Any, Generic

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from jupyter_memory.errors import guess
from jupyter_memory.interface.commands import table
from jupyter_memory.interface.commands.command import Call, Command, F, Front, Halted, offered
from jupyter_memory.interface.options import SHIELD, Option, is_option, nearest, refuse_unquoted_times

# "two words", --since="last week", don't: a quote opens only where a word or a value begins.
_PIECE = re.compile(r"""(?:--[\w-]+=)?(?:"[^"]*"|'[^']*')|\S+""")
_UNCLOSED = re.compile(r"""(?:--[\w-]+=)?["']""")
_WHOLE_QUOTED = re.compile(r"""(["'])(.*)\1$""", re.DOTALL)
_END = re.compile(r"(?<![\s;])\s*+;[\s;]*+$")
# A question mark behind the space that ``keep_questions`` puts before it.
_QUESTION_MARK = re.compile(r"(?<!\s)\s++(\?{1,2})$")
_MAGIC = r"%mem(?:search|add|fix|ory|eval)\s+\S"
_QUESTION = re.compile(rf"^(\s*+(?:[\w.,\s]++=\s*+)?{_MAGIC}.*?)(\?{{1,2}}\s*)$", re.DOTALL)
_SILENCED_ASSIGNMENT = re.compile(rf"^([\w.,\s]++=\s*+{_MAGIC}.*?)(?<!\s)\s*+;\s*+$", re.DOTALL)


class Word(str):
    """A word of a line with its position, and as it was typed."""

    typed: str
    start: int
    end: int

    def __new__(cls, typed: str, span: tuple[int, int], shield: str = "") -> Word:
        word = super().__new__(cls, shield + typed)
        word.typed, (word.start, word.end) = typed, span
        return word


@dataclass(frozen=True, slots=True)
class Line:
    """A parsed line: its free words, the values of its options, and whether it ended in ``;``."""

    source: str
    words: tuple[Word, ...]
    values: dict[str, Any]
    silent: bool

    @property
    def text(self) -> str:
        """Return the words as they were written, without the options and without quotes around the whole."""
        return unquote(self.words[0].typed) if len(self.words) == 1 else self._joined([one.typed for one in self.words])

    @property
    def query(self) -> str:
        """Return the words as a query, in which text in single or double quotes is a phrase in double quotes."""
        pieces = []
        for word in (one.typed for one in self.words):
            match = _WHOLE_QUOTED.match(word)
            if match is not None and '"' not in match[2]:
                pieces.append(f'"{match[2]}"')
            else:
                pieces.append(unquote(word) if match and match[1] == "'" else word)
        return self._joined(pieces)

    @property
    def arguments(self) -> list[str]:
        """Return the words one by one, without their quotes."""
        return [unquote(word.typed) for word in self.words]

    def _joined(self, shown: Sequence[str]) -> str:
        text = ""
        for i, piece in enumerate(shown):
            gap = self.source[self.words[i - 1].end : self.words[i].start] if i else ""
            # An option between two words becomes one space.
            text += (gap if not gap.strip() else " ") + piece
        return text


class LineParser:
    def __init__(self, name: str, doc: str, options: Sequence[Option], words: str) -> None:
        self._options = options
        self._parser = MagicArgumentParser(name, description=doc)  # type: ignore[no-untyped-call]
        # `forget --e` must not mean `forget --everything`.
        self._parser.allow_abbrev = not any(option.destroys for option in options)
        self._parser.add_argument("words", nargs="*", metavar=words)
        for option in options:
            if not option.metavar:
                self._parser.add_argument(*option.flags, action="store_true", help=option.help)
                continue
            self._parser.add_argument(
                *option.flags,
                action="append" if option.many else "store",
                type=partial(_value, option),
                metavar=option.metavar,
                dest=option.name,
                help=option.help,
            )

    @property
    def help(self) -> str:
        return str(self._parser.format_help())

    def parse(self, source: str) -> Line:
        """Parse a line; raise ``UsageError`` or ``QueryError`` for what cannot be read, ``Halted`` with asked help."""
        if source.strip() in ("-h", "--help", "?", "??"):
            raise Halted(self.help)
        source, silent = without_semicolon(source)
        source = _QUESTION_MARK.sub(r"\1", source)
        pieces = [Word(match[0], match.span()) for match in _PIECE.finditer(source)]
        for piece in pieces:
            opened = _UNCLOSED.match(piece)
            if opened and not _WHOLE_QUOTED.match(piece[opened.end() - 1 :]):
                raise UsageError(f"A quote is opened and not closed: {piece}. Close it, or leave it out.")

        before, after = pieces, []
        for i, piece in enumerate(pieces):
            if piece == "--" and not self._parser.parse_intermixed_args(list(map(self._shielded, pieces[:i]))).words:
                before, after = pieces[:i], pieces[i + 1 :]
                break
        refuse_unquoted_times(before, datetime.now(UTC))
        parsed = vars(self._parser.parse_intermixed_args([self._shielded(piece) for piece in before]))
        words = (*parsed.pop("words"), *after)
        return Line(source, words, parsed, silent)

    def _shielded(self, piece: Word) -> str:
        if not piece.startswith("-") or is_option(piece, self._options):
            return piece
        bare = piece.lstrip("-").partition("=")[0]
        flags = [flag for option in self._options for flag in option.flags]
        if piece != "--" and (piece.startswith("--") or f"--{bare}" in flags):
            near = nearest(f"--{bare}", self._options)
            meant = f" Did you mean {near}?" if near else ""
            raise UsageError(f'There is no option {piece}.{meant} To have it as a word, put it in quotes: "{piece}"')
        return Word(piece, (piece.start, piece.end), SHIELD)


def keep_questions(lines: list[str]) -> list[str]:
    """Put a space before a trailing ``?`` of our magics, so that only ``%memsearch?`` itself shows help.

    A ``;`` at the end of an assignment is removed: it would only replace the value by None.
    """
    if lines and lines[0].lstrip().startswith("%%"):
        return lines
    return [_SILENCED_ASSIGNMENT.sub(r"\1\n", _QUESTION.sub(r"\1 \2", line)) for line in lines]


def without_semicolon(source: str) -> tuple[str, bool]:
    """Return a line without the ``;`` that silences it, and whether there was one."""
    stripped = _END.sub("", source.strip())
    return stripped, stripped != source.strip()


def unquote(text: str) -> str:
    """Return a text without the one pair of quotes around it, if there is one."""
    match = _WHOLE_QUOTED.match(text)
    return match[2] if match else str(text)


# What argparse calls with each value of an option.
def _value(option: Option, text: str) -> Any:
    value = unquote(text.removeprefix(SHIELD))
    if option.whole:
        try:
            return int(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"a whole number is needed, not {value}") from None
    if not option.choices or value.lower() in option.choices:
        return value.lower() if option.choices else value
    known = f"Known: {', '.join(option.choices)}."
    raise argparse.ArgumentTypeError(f"there is no {value!r}.{guess(value.lower(), option.choices)} {known}")


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
        if self.magic == "memory" and name in _DESTROYING:
            return f" That is {_DESTROYING[name]}."
        if self.magic == "memory" and name in _ELSEWHERE:
            return f" Did you mean {_ELSEWHERE[name]}?"
        if near := table.nearest_command(name, self.commands):
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
