"""Builds click commands from the rows of a table of commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from jupyter_memory.cli.terminal import Terminal
from jupyter_memory.interface.commands.command import Argument, Call, Command, WrongUsage, offered
from jupyter_memory.interface.commands.command import nearest as nearest_command
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.options import SHIELD, Option, is_option
from jupyter_memory.interface.options import nearest as nearest_option


class Whole(click.IntRange):
    """A whole number, by the name that a person knows it by."""

    name = "whole number"


def click_command(command: Command[Front]) -> click.Command:
    """Return the command of click for a row: a group where it has commands below it."""
    help_text = command.terminal_help or command.summary
    if command.below:
        return Below(command.name, help=help_text, rows=offered(command.below, "terminal"))
    options = (*command.options, *command.terminal_options)
    names = [f"word{place}" for place in range(len(command.arguments))]
    params: list[click.Parameter] = [*map(_argument, names, command.arguments), *map(_option, options)]
    run = partial(_run, command.run, names)
    if any(argument.kind == "query" for argument in command.arguments):
        return Query(command.name, callback=run, params=params, help=help_text, table=options)
    return Plain(command.name, callback=run, params=params, help=help_text, table=options, missing=command.missing)


def _run(run: Callable[[Front, Call], object], names: Sequence[str], /, **values: Any) -> None:
    """Run the function of a command with the values that click has parsed."""
    words: list[str] = []
    for name in names:
        given = values.pop(name)
        words += given if isinstance(given, tuple) else [given] if given is not None else []
    context = click.get_current_context()
    terminal = context.find_object(Terminal)
    assert terminal is not None
    try:
        run(terminal, Call(tuple(words), values))
    except WrongUsage as error:
        raise click.UsageError(str(error)) from None


def _argument(name: str, argument: Argument) -> click.Argument:
    metavar = argument.name
    if argument.kind == "word":
        metavar = (metavar if argument.required else f"[{metavar}]") + "..." * argument.many
    required = argument.required and argument.kind == "word"
    return click.Argument([name], nargs=-1 if argument.takes_all else 1, required=required, metavar=metavar)


def _option(option: Option) -> click.Option:
    if not option.metavar:
        return click.Option([*option.flags, option.name], is_flag=True, help=option.help)
    default: dict[str, Any] = {"default": option.default, "show_default": True} if option.default else {}
    return click.Option(
        [*option.flags, option.name],
        type=_type(option),
        metavar=option.metavar,
        multiple=option.many,
        help=option.help,
        **default,
    )


def _type(option: Option) -> Any:
    if option.choices:
        return click.Choice(option.choices, case_sensitive=False)
    if option.whole:
        return Whole(min=1)
    if option.path == "folder":
        return click.Path(path_type=Path, exists=True, file_okay=False)
    if option.path == "file":
        return click.Path(path_type=Path, dir_okay=False)
    return None


def refuse_unknown(name: str, rows: Mapping[str, Command[Front]], ctx: click.Context) -> None:
    """End with wrong usage where no command has this name; the guess at what was meant names none that destroys."""
    if name not in rows and not name.startswith("-"):
        near = nearest_command(name, rows)
        guess = f"There are: {', '.join(rows)}." if near is None else f"Did you mean {near!r}?"
        ctx.fail(f"There is no command {name!r}. {guess}")


class Below(click.Group):
    """The commands that follow the name of another, as in ``model use``."""

    def __init__(self, *arguments: Any, rows: Mapping[str, Command[Front]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._rows = rows
        for row in rows.values():
            self.add_command(click_command(row))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; for one that is misspelt, name the nearest."""
        refuse_unknown(args[0], self._rows, ctx)
        return super().resolve_command(ctx, args)


class Plain(click.Command):
    """A command whose words are its arguments."""

    def __init__(self, *arguments: Any, table: Sequence[Option], missing: str = "", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._missing = missing.replace("%memory ", "jupyter-memory ")
        self._table = (*table, Option(("-h", "--help"), ""))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options and the words; a guess at a misspelt option names none that destroys."""
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            if not self._missing:
                raise
            # Of several arguments click names one, and not always the one that was left out.
            raise click.UsageError(self._missing, ctx=ctx) from None
        except click.NoSuchOption as error:
            near = nearest_option(error.option_name, self._table)
            raise click.NoSuchOption(error.option_name, possibilities=[near] if near else None, ctx=ctx) from None


class Query(Plain):
    """A command whose words are a query: a dash before one leaves it out, as in ``groupby -pandas``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options and the words; what looks like an option and is none is a word."""
        valued = {flag for option in self._table if option.metavar for flag in option.flags}
        shielded, end = list(args), args.index("--") if "--" in args else len(args)
        for place, word in enumerate(args[:end]):
            if not (place and args[place - 1] in valued) and self._is_word(ctx, word):
                shielded[place] = SHIELD + word
        return super().parse_args(ctx, shielded)

    def _is_word(self, ctx: click.Context, piece: str) -> bool:
        """Return whether a piece is a word left out; an option with one dash too few is refused."""
        if not piece.startswith("-") or piece.startswith("--") or piece == "-" or is_option(piece, self._table):
            return False
        if any(f"-{piece.partition('=')[0]}" in option.flags for option in self._table):
            ctx.fail(f"There is no option {piece}. Did you mean -{piece}?")
        return True
