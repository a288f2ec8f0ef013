"""The command line."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click

from jupyter_memory.cli.commands import COMMANDS
from jupyter_memory.cli.terminal import INTERRUPTED, Terminal
from jupyter_memory.errors import JupyterMemoryError, QueryError
from jupyter_memory.interface.commands import table
from jupyter_memory.interface.commands.command import Call, Command, Front, Halted, SeveralErrors, WrongUsage, offered
from jupyter_memory.interface.options import SHIELD, Option, is_option, nearest, refuse_unquoted_times
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import as_tuple

_AS_IN_JSON = "jupyter_memory.as_in_json"


def _click_command(command: Command[Front]) -> click.Command:
    help_text = command.terminal_help or command.summary
    if command.below:
        return _Rows(command.name, help=help_text, rows=offered(command.below, "terminal"))
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
        words = [word for name in names for word in as_tuple(values.pop(name))]
        terminal = click.get_current_context().find_object(Terminal)
        assert terminal is not None
        call = Call(tuple(words), values)
        if values.get("quiet"):
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                try:
                    command.run(terminal, call)
                except (JupyterMemoryError, click.ClickException, OSError):
                    raise click.exceptions.Exit(2) from None
            raise click.exceptions.Exit(0 if terminal.has_found else 1)
        try:
            command.run(terminal, call)
        except WrongUsage as error:
            raise click.UsageError(str(error)) from None
        except Halted as halted:
            terminal.note(str(halted))
            raise click.exceptions.Exit(INTERRUPTED) from None

    if any(argument.kind == "query" for argument in command.arguments):
        return _Query(command.name, callback=run, params=params, help=help_text, table=options)
    return _Plain(command.name, callback=run, params=params, help=help_text, table=options, missing=command.missing)


def _option(option: Option) -> click.Option:
    if not option.metavar:
        return click.Option([*option.flags, option.name], is_flag=True, help=option.help)
    default: dict[str, Any] = {"default": option.default, "show_default": True} if option.default else {}
    kind: Any = None
    if option.choices:
        kind = click.Choice(option.choices, case_sensitive=False)
    elif option.whole:
        kind = click.IntRange(min=1)
        kind.name = "whole number"
    elif option.path:
        is_folder = option.path == "folder"
        kind = click.Path(path_type=Path, exists=is_folder, file_okay=not is_folder, dir_okay=is_folder)
    flags, many = [*option.flags, option.name], option.many
    return click.Option(flags, type=kind, metavar=option.metavar, multiple=many, help=option.help, **default)


# Commands, in groups, that are made from their rows when they are asked for.
class _Rows(click.Group):
    def __init__(self, *arguments: Any, rows: Mapping[str, Command[Front]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._rows = rows

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [one.name for group in table.grouped(self._rows).values() for one in group]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # In full: click cuts off what each command does.
        groups = table.grouped(self._rows)
        width = max(len(row.name) for of_it in groups.values() for row in of_it)
        for title, of_it in groups.items():
            with formatter.section(title or "Commands"):
                told = [
                    (row.name.ljust(width), (row.terminal_help or row.summary).partition("\n\n")[0]) for row in of_it
                ]
                formatter.write_dl(told)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self._rows.get(cmd_name)
        return None if row is None else _click_command(row)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._rows and not name.startswith("-"):
            near = table.nearest_command(name, self._rows)
            guess = f"There are: {', '.join(self._rows)}." if near is None else f"Did you mean {near!r}?"
            if name in offered(table.COMMANDS, "notebook"):
                guess = f"In a notebook, type %memory {name}."
            ctx.fail(f"There is no command {name!r}. {guess}")
        return super().resolve_command(ctx, args)


class _Plain(click.Command):
    def __init__(self, *arguments: Any, table: Sequence[Option], missing: str = "", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._missing = missing.replace("%memory ", "jupyter-memory ")
        self._table = (*table, Option(("-h", "--help"), ""))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            if not self._missing:
                raise
            # Of several arguments click names one, and not always the one that was left out.
            raise click.UsageError(self._missing, ctx=ctx) from None
        except click.NoSuchOption as error:
            near = nearest(error.option_name, self._table)
            raise click.NoSuchOption(error.option_name, possibilities=[near] if near else None, ctx=ctx) from None


# A command whose words are a query: a dash before one leaves it out, as in ``groupby -pandas``.
class _Query(_Plain):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {flag for option in self._table if option.metavar for flag in option.flags}
        shielded, end = list(args), args.index("--") if "--" in args else len(args)
        for place, word in enumerate(args[:end]):
            is_value = place and args[place - 1] in valued
            is_dashed = word.startswith("-") and not word.startswith("--") and word != "-"
            # What looks like an option and is none is a word.
            if is_dashed and not is_value and not is_option(word, self._table):
                if any(f"-{word.partition('=')[0]}" in option.flags for option in self._table):
                    ctx.fail(f"There is no option {word}. Did you mean -{word}?")
                shielded[place] = SHIELD + word
        return super().parse_args(ctx, shielded)


# All commands; `head` may stop reading them.
class _Commands(_Rows):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        first, second = (*args, "")[:2]
        below = {name.partition(" ")[2]: row for name, row in self._rows.items() if name.startswith(f"{first} ")}
        if second in below:
            args = [f"{first} {second}", *args[2:]]
        elif (near := table.nearest_command(second, below)) and not Path(second).exists():
            ctx.fail(f"There is no command '{first} {second}'. Did you mean '{first} {near}'?")
        found = super().resolve_command(ctx, args)
        # The shell has taken the quotes away: what was quoted is one word here.
        refuse_unquoted_times(args[1 : args.index("--") if "--" in args else None], datetime.now(UTC))
        return found

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


@click.group(
    cls=_Commands,
    rows=offered((*table.COMMANDS, *COMMANDS), "terminal"),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
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
