"""The group of all commands: each is imported when it is asked for, and `head` may stop reading."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from jupyter_memory.cli.arguments import usage
from jupyter_memory.interface.options import refuse_unquoted_times

# Where each command stands; its function has the command's name, with an underscore where Python has that word.
COMMANDS = MappingProxyType(
    {
        "add": "keeping",
        "index": "keeping",
        "search": "finding",
        "list": "finding",
        "explain": "finding",
        "pin": "keeping",
        "unpin": "keeping",
        "forget": "keeping",
        "model": "models",
        "status": "caring",
        "backup": "caring",
        "restore": "caring",
        "doctor": "caring",
        "profile": "profiles",
        "eval": "measuring",
        "bench": "measuring",
    }
)


class Commands(click.Group):
    """The commands, imported one by one as they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order in which a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"jupyter_memory.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name if hasattr(module, cmd_name) else f"{cmd_name}_")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, whole: click cuts it off."""
        listed = [(name, self.get_command(ctx, name)) for name in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1_000)) for name, command in listed if command])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; for one that is misspelt, name the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, n=1)
            guess = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(COMMANDS)}."
            ctx.fail(f"There is no command {name!r}. {guess}")
        # The shell has taken the quotes away: what was quoted is one word here.
        with usage():
            refuse_unquoted_times(args[1 : args.index("--") if "--" in args else None], datetime.now(UTC))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader that stops reading is nobody left to be told."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:  # closed from the start: `>&-`
                sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes once more at exit, and would complain there.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None
        return result
