"""The command line."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click

from jupyter_memory.cli.commands import CONNECTING, MEASURING, SERVING
from jupyter_memory.cli.terminal import INTERRUPTED, Terminal
from jupyter_memory.errors import JupyterMemoryError, QueryError
from jupyter_memory.interface.commands import table
from jupyter_memory.interface.commands.command import (
    Call,
    Command,
    Front,
    Halted,
    SeveralErrors,
    WrongUsage,
    nearest_command,
    offered,
)
from jupyter_memory.interface.options import SHIELD, Option, is_option, refuse_unquoted_times
from jupyter_memory.interface.options import nearest as nearest_option
from jupyter_memory.text.unicode import marked


class _Whole(click.IntRange):
    name = "whole number"


# Builds the command of click for a row of a table of commands.
def _click_command(command: Command[Front]) -> click.Command:
    help_text = command.terminal_help or command.summary
    if command.below:
        return Below(command.name, help=help_text, rows=offered(command.below, "terminal"))
    options = (*command.options, *command.terminal_options)
    names = [f"word{place}" for place in range(len(command.arguments))]
    params: list[click.Parameter] = []
    for name, argument in zip(names, command.arguments, strict=True):
        metavar = argument.name
        if argument.kind == "word":
            metavar = (metavar if argument.required else f"[{metavar}]") + "..." * argument.many
        required = argument.required and argument.kind == "word"
        nargs = -1 if argument.takes_all else 1
        params.append(click.Argument([name], nargs=nargs, required=required, metavar=metavar))
    params += map(_option, options)

    def run(**values: Any) -> None:
        words: list[str] = []
        for name in names:
            given = values.pop(name)
            words += given if isinstance(given, tuple) else [given] if given is not None else []
        terminal = click.get_current_context().find_object(Terminal)
        assert terminal is not None
        try:
            command.run(terminal, Call(tuple(words), values))
        except WrongUsage as error:
            raise click.UsageError(str(error)) from None
        except Halted as halted:
            terminal.note(str(halted))
            raise click.exceptions.Exit(INTERRUPTED) from None

    if any(argument.kind == "query" for argument in command.arguments):
        return Query(command.name, callback=run, params=params, help=help_text, table=options)
    return Plain(command.name, callback=run, params=params, help=help_text, table=options, missing=command.missing)


def _option(option: Option) -> click.Option:
    if not option.metavar:
        return click.Option([*option.flags, option.name], is_flag=True, help=option.help)
    default: dict[str, Any] = {"default": option.default, "show_default": True} if option.default else {}
    kind: Any = None
    if option.choices:
        kind = click.Choice(option.choices, case_sensitive=False)
    elif option.whole:
        kind = _Whole(min=1)
    elif option.path:
        kind = click.Path(
            path_type=Path,
            exists=option.path == "folder",
            file_okay=option.path == "file",
            dir_okay=option.path == "folder",
        )
    return click.Option(
        [*option.flags, option.name],
        type=kind,
        metavar=option.metavar,
        multiple=option.many,
        help=option.help,
        **default,
    )


def _refuse_unknown(name: str, rows: Mapping[str, Command[Front]], ctx: click.Context) -> None:
    # The guess at what was meant names no command that destroys something.
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
            self.add_command(_click_command(row))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _refuse_unknown(args[0], self._rows, ctx)
        return super().resolve_command(ctx, args)


class Plain(click.Command):
    """A command whose words are its arguments."""

    def __init__(self, *arguments: Any, table: Sequence[Option], missing: str = "", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._missing = missing.replace("%memory ", "jupyter-memory ")
        self._table = (*table, Option(("-h", "--help"), ""))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A guess at a misspelt option names none that destroys.
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
        # What looks like an option and is none is a word.
        valued = {flag for option in self._table if option.metavar for flag in option.flags}
        shielded, end = list(args), args.index("--") if "--" in args else len(args)
        for place, word in enumerate(args[:end]):
            if not (place and args[place - 1] in valued) and self._is_word(ctx, word):
                shielded[place] = SHIELD + word
        return super().parse_args(ctx, shielded)

    def _is_word(self, ctx: click.Context, piece: str) -> bool:
        if not piece.startswith("-") or piece.startswith("--") or piece == "-" or is_option(piece, self._table):
            return False
        if any(f"-{piece.partition('=')[0]}" in option.flags for option in self._table):
            ctx.fail(f"There is no option {piece}. Did you mean -{piece}?")
        return True


_AS_IN_JSON = "jupyter_memory.as_in_json"


def commands() -> dict[str, Command[Front]]:
    """Return the commands of the terminal by name: those that notebooks share, and those of a terminal alone."""
    return {**table.commands_of("terminal"), **CONNECTING, **SERVING, **MEASURING}


class Commands(click.Group):
    """The group of all commands, made from their rows when they are asked for; `head` may stop reading."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [one.name for group in table.grouped(commands()).values() for one in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = commands().get(cmd_name)
        return None if row is None else _click_command(row)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # In full: click cuts off what each command does.
        groups = table.grouped(commands())
        width = max(len(row.name) for of_it in groups.values() for row in of_it)
        for title, of_it in groups.items():
            with formatter.section(title):
                formatter.write_dl([(row.name.ljust(width), row.terminal_help or row.summary) for row in of_it])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _refuse_unknown(args[0], commands(), ctx)
        # The shell has taken the quotes away: what was quoted is one word here.
        refuse_unquoted_times(args[1 : args.index("--") if "--" in args else None], datetime.now(UTC))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        # Where the reader of its output has stopped reading, it ends without an error.
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:  # closed from the start: `>&-`
                sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes once more at exit, and would complain there.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None
        return result


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--store", "file", metavar="FILE", help="the store; else JUPYTER_MEMORY_PATH, the settings, the default")
@click.option("--no-color", is_flag=True, help="no colours, as with the variable NO_COLOR")
@click.version_option(None, "-V", "--version", package_name="jupyter-memory", prog_name="jupyter-memory")
@click.pass_context
def cli(context: click.Context, file: str | None, no_color: bool) -> None:
    """A private memory for notebooks: search what you wrote, ran or saved, by meaning and by exact words."""
    context.obj = Terminal(file, colours=not no_color)
    context.call_on_close(context.obj.close)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 after a failure, 2 after wrong usage, 130 after Ctrl-C."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors=_AS_IN_JSON)
    try:
        code = cli.main(arguments, prog_name="jupyter-memory", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_:
        help_.show()
        return 2
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        click.echo(marked(shown.getvalue()), nl=False, err=True)
        return error.exit_code
    except click.exceptions.Abort as stopped:
        refused = not isinstance(stopped.__cause__, KeyboardInterrupt)
        click.echo("Nothing was done." if refused else "Interrupted.", err=True)
        return 1 if refused else INTERRUPTED
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except SeveralErrors as errors:
        return _failed(1, *errors.errors)
    except QueryError as error:
        # What was typed into the query itself, such as a time that cannot be read.
        return _failed(2, str(error))
    except (JupyterMemoryError, OSError) as error:
        return _failed(1, str(error))
    return code if isinstance(code, int) else 0


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # JSON writes a character beyond the first 65,536 as two halves.
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), error.end


codecs.register_error(_AS_IN_JSON, _escaped)


def _failed(code: int, *errors: str) -> int:
    for error in errors:
        click.echo("Error: " + marked(" ".join(error.split())), err=True)
    return code
