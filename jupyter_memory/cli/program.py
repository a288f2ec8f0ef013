"""The program `jupyter-memory`: its commands, its common options, and what each failure looks like."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO, TextIOWrapper
from typing import Any, TextIO

import click

from jupyter_memory.cli.click_commands import click_command, refuse_unknown
from jupyter_memory.cli.connecting import CONNECTING
from jupyter_memory.cli.measuring import MEASURING
from jupyter_memory.cli.serving import SERVING
from jupyter_memory.cli.terminal import INTERRUPTED, Terminal
from jupyter_memory.errors import JupyterMemoryError, QueryError
from jupyter_memory.interface.commands import table
from jupyter_memory.interface.commands.command import Command, SeveralErrors
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.options import refuse_unquoted_times
from jupyter_memory.text.unicode import marked

# In the order in which a person at a terminal meets them; other commands follow.
_ORDER = (
    "add", "index", "update", "search", "list", "open", "text", "explain", "related", "tag", "good", "bad", "fix",
    "pin", "unpin", "forget", "undo", "model", "status", "backup", "restore", "doctor", "connect", "mcp", "profile",
    "eval", "bench",
)  # fmt: skip

_AS_IN_JSON = "jupyter_memory.as_in_json"


def commands() -> dict[str, Command[Front]]:
    """Return the commands of the terminal by name: those that notebooks share, and those of a terminal alone."""
    rows = {**table.commands_of("terminal"), **CONNECTING, **SERVING, **MEASURING}
    return {name: rows[name] for name in sorted(rows, key=lambda name: (name not in _ORDER, _place(name)))}


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else 0


class Commands(click.Group):
    """The group of all commands, made from their rows when they are asked for; `head` may stop reading."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order in which a person meets them."""
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name."""
        row = commands().get(cmd_name)
        return None if row is None else click_command(row)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does in full: click cuts it off."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.terminal_help or row.summary) for name, row in commands().items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; for one that is misspelt, name the nearest."""
        refuse_unknown(args[0], commands(), ctx)
        # The shell has taken the quotes away: what was quoted is one word here.
        refuse_unquoted_times(args[1 : args.index("--") if "--" in args else None], datetime.now(UTC))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; where the reader of its output has stopped reading, end without an error."""
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
    _escape_what_it_lacks(sys.stdout)
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


def _escape_what_it_lacks(output: TextIO | None) -> None:
    """Let an output whose encoding lacks a character, such as code page 1252, write it as JSON does: ``\\u03bb``."""
    if isinstance(output, TextIOWrapper) and output.errors == "strict":
        output.reconfigure(errors=_AS_IN_JSON)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # JSON writes a character beyond the first 65,536 as two halves.
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), error.end


codecs.register_error(_AS_IN_JSON, _escaped)


def _failed(code: int, *errors: str) -> int:
    """Write errors, each in one line, and return the exit code."""
    for error in errors:
        click.echo("Error: " + marked(" ".join(error.split())), err=True)
    return code
